"""`ridgeline racks` at the prompt."""

import json

import pytest

from ridgeline.cli import main


def _run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main(["racks", *words])
    out = capsys.readouterr()
    return stop.value.code, out.out, out.err


def test_json_has_a_schema_and_the_cliff(capsys):
    main(["racks", "--racks", "1:2", "--ratio", "8", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema_version"] == "1"
    assert [row["racks"] for row in answer["cliff"]] == [1, 2]
    assert answer["cliff"][1]["slowdown_chalk"] == pytest.approx(4)


def test_a_skewed_load_is_read_from_a_file(capsys, tmp_path):
    path = tmp_path / "load.csv"
    path.write_text(",".join(["33"] + ["1"] * 255) + "\n")
    words = ["--devices-per-rack", "64", "--racks", "1", "--ratio", "8", "--load", str(path)]
    main(["racks", *words, "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["imbalance"] == pytest.approx(8)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "llama-3.3-70b"), "mixture of experts"),
        (("--ratio", "0"), "positive"),
        (("--racks", "0"), "at least 1"),
        (("--on", "nowhere"), "No "),
    ],
)
def test_wrong_words_exit_2_with_a_sentence(capsys, words, said):
    code, out, err = _run(capsys, *words)
    assert code == 2
    assert said in err
    assert not out
