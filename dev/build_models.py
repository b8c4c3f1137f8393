"""Restate config.json files as catalogue models: shape facts in our own form, source named.

    python dev/build_models.py --corpus DIR

DIR holds config files and an INDEX.csv that says where each came from and how many parameters
it has. Only files whose count is exact are taken, and none that are class defaults.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import Any

import yaml

from ridgeline.catalog.architecture_io import dump_architecture, load_architecture
from ridgeline.catalog.store import DATA
from ridgeline.errors import RidgelineError
from ridgeline.model.params import count_parameters
from ridgeline.readers import read_model

ALIASES = yaml.safe_load((Path(__file__).parent / "model_aliases.yaml").read_text())
MAX_FILE_BYTES = 60_000


def slug(hub: str) -> str:
    """Return the catalogue id of a hub name: its last part in lower case."""
    return re.sub(r"[^a-z0-9.]+", "-", hub.rsplit("/", 1)[-1].lower()).strip("-")


def entry(row: dict[str, str], path: Path) -> dict[str, Any] | None:
    """Return the catalogue entry of one file, None where the count is not exact."""
    known = row["oracle_corrected"] or row["meta_params"]
    if row["provenance_kind"] == "D_class_default" or row["expected_behaviour"] or not known:
        return None
    try:
        arch = read_model(path, name=row["model"])
    except RidgelineError as error:
        print(f"not read: {path.name}: {error}")
        return None
    if not known.isdigit() or count_parameters(arch).num_params != int(known):
        print(f"not exact: {path.name}")
        return None
    plain = dump_architecture(arch)
    if load_architecture(plain) != arch:
        raise SystemExit(f"{path.name}: the dump does not load back")
    url = row["published_source_url"] or f"https://huggingface.co/{row['model']}"
    how = {"A_verbatim": "as published", "B_vendored": "as kept in another project"}
    words = how.get(row["provenance_kind"], "shape keys from published tables")
    published = f"{row['published_total_B']} B ({row['published_how']})"
    found: dict[str, Any] = {
        "id": slug(row["model"]),
        "hub": row["model"],
        "source": url,
        "as_of": "2026-11",
        "published_params": published,
        "note": f"config.json {words}",
        "architecture": plain,
    }
    names = [a for a, target in ALIASES.items() if target == found["id"]]
    return {**found, "aliases": names} if names else found


def main() -> None:
    """Write data/models/*.yaml anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    corpus = parser.parse_args().corpus
    with (corpus / "INDEX.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    folder = DATA / "models"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.yaml"):
        old.unlink()
    written: set[str] = set()
    for row in rows:
        found = entry(row, corpus / row["file"])
        if found is None:
            continue
        text = yaml.safe_dump(found, sort_keys=False, default_flow_style=None, width=100)
        if len(text) > MAX_FILE_BYTES or found["id"] in written:
            print(f"left out: {row['file']}: {len(text)} bytes")
            continue
        (folder / f"{found['id']}.yaml").write_text(text)
        written.add(found["id"])
    missing = sorted(set(ALIASES.values()) - written)
    print(f"{len(written)} models; aliases without a model: {missing}")


if __name__ == "__main__":
    main()
