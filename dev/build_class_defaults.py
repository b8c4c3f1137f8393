"""Write the shape defaults of transformers' configuration classes as data.

Usage: python dev/build_class_defaults.py > src/ridgeline/readers/hf/class_defaults.json

Keeps only keys that a reader names in its source, of classes that decode text or wrap one that
does, with the spellings (`attribute_map`) that lead to a kept key.
"""

import dataclasses
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

from transformers import PretrainedConfig
from transformers.models.auto import modeling_auto as auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

READERS = Path(__file__).parents[1] / "src" / "ridgeline" / "readers" / "hf"
ROOTS = (
    auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
)
MAX_ITEMS = 64


def keys_in_source() -> set[str]:
    """Return every word in quotes in the readers: a superset of the keys they ask for."""
    text = "\n".join(p.read_text("utf-8") for p in READERS.rglob("*.py"))
    return set(re.findall(r'"(\w+)"', text)) | set(re.findall(r"`(\w+)`", text))


def plain(value: Any) -> Any:
    """Return `value` if it is a short JSON value, else None."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple) and len(value) <= MAX_ITEMS:
        return [plain(x) for x in value]
    return None


def entry(kind: str, wanted: set[str]) -> dict[str, Any]:
    """Return defaults, spellings and sections of one class."""
    cls = CONFIG_MAPPING[kind]
    base = {f.name for f in dataclasses.fields(PretrainedConfig)} - {"tie_word_embeddings"}
    spellings = {k: v for k, v in getattr(cls, "attribute_map", {}).items() if k in wanted}
    wanted = wanted | set(spellings.values())
    defaults: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.name in base or field.name not in wanted:
            continue
        value = field.default
        if value is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        defaults[field.name] = None if value is dataclasses.MISSING else plain(value)
    found: dict[str, Any] = {"defaults": defaults}
    if spellings:
        found["spellings"] = spellings
    parts = {
        key: sub.model_type
        for key, sub in getattr(cls, "sub_configs", {}).items()
        if isinstance(sub, type) and getattr(sub, "model_type", "")
    }
    if parts:
        found["sections"] = parts
    return found


def main() -> None:
    """Print one class per line, so that a new release shows as a readable difference."""
    wanted, todo = keys_in_source(), [name for names in ROOTS for name in names]
    entries: dict[str, Any] = {}
    while todo:
        kind = todo.pop()
        if kind in entries:
            continue
        try:
            entries[kind] = entry(kind, wanted)
        except KeyError:
            continue
        todo += entries[kind].get("sections", {}).values()
    lines = [
        f"{json.dumps(kind)}:{json.dumps(entries[kind], separators=(',', ':'))}"
        for kind in sorted(entries)
    ]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
