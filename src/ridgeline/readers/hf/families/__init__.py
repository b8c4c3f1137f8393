"""One reader per model type: `READERS[model_type](keys)` returns an `Architecture`."""

from __future__ import annotations

from collections.abc import Callable

from ridgeline.model.architecture import Architecture
from ridgeline.readers.hf.families.deepseek_v4 import read_deepseek_v4
from ridgeline.readers.hf.families.dense_table import DENSE, MIXTURE
from ridgeline.readers.hf.families.gemma import GEMMA
from ridgeline.readers.hf.families.glm5_next import read_glm5_next
from ridgeline.readers.hf.families.hybrid import HYBRID
from ridgeline.readers.hf.families.latent import LATENT
from ridgeline.readers.hf.families.legacy import LEGACY
from ridgeline.readers.hf.families.linear import LINEAR
from ridgeline.readers.hf.families.mixtures import MIXTURES
from ridgeline.readers.hf.families.recent import RECENT
from ridgeline.readers.hf.families.remote import REMOTE
from ridgeline.readers.hf.families.standard import standard
from ridgeline.readers.hf.keys import Keys

Reader = Callable[[Keys], Architecture]

READERS: dict[str, Reader] = {
    **{name: standard(spec) for name, spec in {**DENSE, **MIXTURE}.items()},
    **LATENT,
    **HYBRID,
    **LINEAR,
    **LEGACY,
    **GEMMA,
    **MIXTURES,
    **RECENT,
    **REMOTE,
    "glm5_next_text": read_glm5_next,
    "deepseek_v4": read_deepseek_v4,
    "deepseek_ref": read_deepseek_v4,
}


def _alias(new: str, old: str) -> None:
    """Let `new` be read as `old`."""
    READERS[new] = READERS[old]


for _new, _old in (
    ("qwen2_vl_text", "qwen2"),
    ("qwen2_5_vl_text", "qwen2"),
    ("qwen3_vl_text", "qwen3"),
    ("qwen3_vl_moe_text", "qwen3_moe"),
    ("glm4v_moe_text", "glm4_moe"),
    ("exaone4_5_text", "exaone4"),
    ("granite_docling_text", "llama"),
    ("paddleocr_vl_text", "ernie4_5"),
    ("hunyuan_vl_text", "hunyuan_v1_dense"),
    ("voxtral_realtime_text", "mistral"),
    ("minimax_m3_text", "minimax_m3"),
    ("emu3_text_model", "llama"),
    ("qwen2_5_omni_text", "qwen2"),
    ("qwen3_omni_moe_text", "qwen3_moe"),
):
    _alias(_new, _old)
