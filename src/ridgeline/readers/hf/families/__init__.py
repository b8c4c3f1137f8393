"""One reader per model type: `READERS[model_type](keys)` returns an `Architecture`."""

from __future__ import annotations

from collections.abc import Callable

from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf.families.dense_table import DENSE, MIXTURE
from ridgeline.readers.hf.families.standard import standard
from ridgeline.readers.hf.keys import Keys

Reader = Callable[[Keys], Architecture]

READERS: dict[str, Reader] = {
    **{name: standard(spec) for name, spec in {**DENSE, **MIXTURE}.items()},
}
