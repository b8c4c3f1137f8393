"""Choose the measurements that ship, and record errors and bands.

python dev/record_validation.py DIR [--subset]

DIR holds CSV files of published measurements. With --subset the packaged rows are chosen anew.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections import defaultdict
from pathlib import Path

from ridgeline.validate import recorded as record
from ridgeline.validate.predict import predict
from ridgeline.validate.prediction import NotPredicted
from ridgeline.validate.truth import PACKAGED, packaged_rows, score_rows
from ridgeline.validate.truth_rows import TruthRow, read_directory

PER_GROUP = 12
"""Most rows of one family and source that ship."""
COLUMNS = [
    "file",
    "id",
    "area",
    "model",
    "chip",
    "n_chips",
    "tp",
    "pp",
    "dp",
    "ep",
    "layout",
    "w_dtype",
    "compute_dtype",
    "kv_dtype",
    "engine",
    "phase",
    "batch",
    "concurrency",
    "input_len",
    "output_len",
    "context_len",
    "metric",
    "unit",
    "value",
    "scorable",
    "source",
    "op",
    "M",
    "N",
    "K",
    "bytes",
    "heads",
    "kv_heads",
    "head_dim",
    "kv_len",
    "seq_len",
    "local_experts",
    "workers",
    "devices_per_node",
    "n_decode",
    "kv_decode",
    "prefill_chunk",
    "kv_prefill",
    "tokens",
    "hidden",
    "topk",
    "eff_input_len",
    "eff_output_len",
    "disagg",
    "spec",
    "depth",
    "setup",
]


def choose(rows: tuple[TruthRow, ...]) -> list[TruthRow]:
    """Return evenly spread rows of every family and source."""
    rows = tuple(r for r in rows if r.scorable == "Y")
    answers = predict(rows)
    groups: dict[tuple[str, str], list[TruthRow]] = defaultdict(list)
    for row in rows:
        answer = answers[row.id]
        if not isinstance(answer, NotPredicted) and answer.value == answer.value:
            groups[answer.family, row.file].append(row)
    chosen: list[TruthRow] = []
    for _, items in sorted(groups.items()):
        items.sort(key=lambda r: (r.chip, r.model, r.id))
        step = max(1, -(-len(items) // PER_GROUP))
        chosen += items[::step]
    return chosen


def text_of(rows: list[TruthRow]) -> str:
    """Return the packaged file."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    own = ("file", "id", "area", "model", "chip", "engine", "phase", "metric", "unit", "scorable")
    for row in rows:
        cells = {**row.cells, **{k: getattr(row, k) for k in own}, "value": repr(row.value)}
        # Of the set-up only words that predictors read are kept short.
        cells["setup"] = cells.get("setup", "")[:120]
        writer.writerow([cells.get(c, "") for c in COLUMNS])
    return out.getvalue()


def main() -> None:
    """Write the packaged rows and the record."""
    directory = Path(sys.argv[1])
    rows = read_directory(directory)
    if "--subset" in sys.argv:
        data = gzip.compress(text_of(choose(rows)).encode(), mtime=0)
        PACKAGED.write_bytes(data)
    full = score_rows(rows, "open").report
    small = score_rows(packaged_rows(), "packaged").report
    record.PATH.write_text(json.dumps(record.to_record(full, small), indent=1) + "\n")


if __name__ == "__main__":
    main()
