"""`ridgeline pipelines` from the command line."""

import json

from click.testing import CliRunner

from ridgeline.cli import _root


def run(*words: str):
    return CliRunner().invoke(_root, ["pipelines", "llama-3.1-8b", "--on", "hgx-h100-8", *words])


def test_text_json_and_plot(tmp_path):
    picture = tmp_path / "stages.png"
    result = run("--pp", "1:4", "--batch", "16", "--plot", str(picture))
    assert result.exit_code == 0, result.output
    assert "decode loop of 4 stages" in result.output
    assert picture.stat().st_size > 10_000
    document = json.loads(run("--pp", "1,2", "--json").output)
    assert document["schema_version"]
    assert [row["stages"] for row in document["rows"]] == [1, 2]
    assert run("--pp", "100").exit_code != 0
