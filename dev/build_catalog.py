"""Check the catalogue's YAML and write what ships: one JSON file per kind, and JSON Schemas.

python dev/build_catalog.py            write
python dev/build_catalog.py --check    exit 1 where the written files differ
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ridgeline.catalog.schema import ENTRIES, SourceInfo
from ridgeline.catalog.store import DATA, KINDS
from ridgeline.catalog.yaml_files import entry_faults, read_yaml

SCHEMAS = DATA.parent / "schema"


def entries(kind: str) -> dict[str, Any]:
    """Return the checked entries of a kind; exit with every fault otherwise."""
    found: dict[str, Any] = {}
    faults: list[str] = []
    for path in sorted((DATA / kind).glob("*.yaml")):
        data = read_yaml(path)
        faults += entry_faults(kind, data, str(path))  # pyright: ignore[reportArgumentType]
        found[path.stem] = data
    if faults:
        sys.exit("\n".join(faults))
    return found


def products() -> dict[Path, str]:
    """Return the text of every generated file."""
    files: dict[Path, str] = {}
    for kind in KINDS:
        files[DATA / f"{kind}.json"] = json.dumps(entries(kind), separators=(",", ":"))
        schema = ENTRIES[kind].model_json_schema()
        files[SCHEMAS / f"{kind}.schema.json"] = json.dumps(schema, indent=1, sort_keys=True)
    sources = read_yaml(DATA / "sources.yaml")
    for info in sources.values():
        SourceInfo.model_validate(info)
    files[DATA / "sources.json"] = json.dumps(sources, separators=(",", ":"))
    return {path: text + "\n" for path, text in files.items()}


def main() -> None:
    """Write the files, or compare them."""
    check = "--check" in sys.argv
    stale: list[str] = []
    for path, text in products().items():
        if check and (not path.exists() or path.read_text() != text):
            stale.append(path.name)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if stale:
        sys.exit(f"Stale: {', '.join(stale)}. Run python dev/build_catalog.py.")


if __name__ == "__main__":
    main()
