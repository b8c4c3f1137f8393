"""config.json (and the index) of a Hugging Face model, fetched only when the user asks.

The user asks by writing `hub:ORG/NAME`. No weights are downloaded and no code is run.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from ridgeline.errors import InputError
from ridgeline.readers.safetensors import INDEX

PREFIX = "hub:"
_ID = re.compile(r"[A-Za-z0-9][\w.\-]{0,95}/[A-Za-z0-9][\w.\-]{0,95}(@[\w.\-/]{1,100})?")


def fetch_directory(text: str) -> Path:
    """Return the local directory with the config.json of `hub:ORG/NAME` or `hub:ORG/NAME@REV`.

    Raises:
        InputError: not such an id, huggingface_hub is not installed, or the hub cannot be reached.
    """
    model = text.removeprefix(PREFIX)
    if _ID.fullmatch(model) is None:
        raise InputError(
            f"A hub id is written hub:ORG/NAME or hub:ORG/NAME@REVISION: {text[:100]!r}."
        )
    name, _, revision = model.partition("@")
    try:
        hub: Any = importlib.import_module("huggingface_hub")
    except ImportError:
        raise InputError(
            "Reading from the hub needs huggingface_hub: `pip install 'ridgeline[hub]'`, or give "
            "the path of a downloaded config.json."
        ) from None
    try:
        path = Path(hub.hf_hub_download(name, "config.json", revision=revision or None))
    except Exception as error:  # noqa: BLE001  huggingface_hub raises errors of many libraries
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise InputError(
            f"{name}: config.json cannot be fetched: {reason[0][:160]} Check the id, the network "
            "and, for gated models, `hf auth login`."
        ) from None
    try:
        hub.hf_hub_download(name, INDEX, revision=revision or None)
    except Exception:  # noqa: BLE001  small models have no index; nothing depends on it
        return path.parent
    return path.parent
