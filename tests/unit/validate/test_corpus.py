"""The corpus verdicts on a small folder, and on the large one where it is at hand."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ridgeline.cli.validate_command import command
from ridgeline.errors import InputError
from ridgeline.model.params import count_parameters
from ridgeline.readers import read_config
from ridgeline.report.corpus import corpus_json
from ridgeline.validate.corpus import validate_corpus
from small_configs import small

COLUMNS = (
    "file", "model", "model_type", "meta_params", "oracle_corrected", "meta_nontext_params",
    "expected_behaviour", "published_total_B", "meta_active_incl_embed",
    "meta_active_excl_input_embed",
)  # fmt: skip


def corpus(folder: Path, rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> Path:
    with (folder / "INDEX.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        for i, (config, row) in enumerate(rows):
            (folder / f"{i}.json").write_text(json.dumps(config))
            writer.writerow({"file": f"{i}.json", "model": f"m{i}", **row})
    return folder


def truth(config: dict[str, Any]) -> int:
    return count_parameters(read_config(config, name="x")).num_params


def test_every_verdict(tmp_path: Path) -> None:
    llama = small("llama")
    unknown = {**llama, "model_type": "never_seen"}
    right = truth(llama)
    rows: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (llama, {"meta_params": right}),
        (llama, {"meta_params": 1, "oracle_corrected": right}),
        (llama, {"meta_params": right + 1}),
        (unknown, {"meta_params": right + 1}),
        ({"model_type": "bert"}, {"expected_behaviour": "must_refuse: encoder"}),
        (llama, {"expected_behaviour": "must_refuse: encoder"}),
        ({"model_type": "bert"}, {"meta_params": 5}),
        (llama, {"published_total_B": right / 1e9}),
        (llama, {"published_total_B": 2 * right / 1e9}),
    ]
    report = validate_corpus(corpus(tmp_path, rows))
    assert [r.status for r in report.rows] == [
        "exact", "exact", "silently_wrong", "flagged", "refused_right", "silently_wrong",
        "refused_wrong", "unverified", "silently_wrong",
    ]  # fmt: skip
    out = corpus_json(report)
    assert out["files"] == 9
    assert out["schema_version"] == 1
    assert out["silently_wrong"] == 3


def test_exit_code_says_whether_something_is_wrong(tmp_path: Path) -> None:
    llama = small("llama")
    folder = corpus(tmp_path, [(llama, {"meta_params": truth(llama)})])
    result = CliRunner().invoke(command, ["--corpus", str(folder), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.output)["exact"] == 1
    corpus(tmp_path, [(llama, {"meta_params": 7})])
    result = CliRunner().invoke(command, ["--corpus", str(folder)])
    assert result.exit_code == 1
    assert "silently_wrong" in result.output


def test_a_folder_without_index(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"INDEX\.csv"):
        validate_corpus(tmp_path)


def test_the_index_cannot_reach_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "INDEX.csv").write_text("file,meta_params\n../secret.json,5\n")
    (row,) = validate_corpus(tmp_path).rows
    assert row.status == "refused_wrong"


@pytest.mark.skipif("RIDGELINE_CORPUS" not in os.environ, reason="RIDGELINE_CORPUS is not set")
def test_the_large_corpus() -> None:
    """At least 97 % exact, nothing silently wrong, nothing refused that should be read."""
    report = validate_corpus(Path(os.environ["RIDGELINE_CORPUS"]))
    assert report.exact_share >= 0.97
    assert report.count("silently_wrong") == 0
    assert report.count("refused_wrong") == 0
