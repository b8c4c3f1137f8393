"""`ridgeline experts` as a user meets it."""

import json

import numpy as np
import pytest

from ridgeline.cli import main


@pytest.fixture
def routing(tmp_path):
    path = tmp_path / "routing.npy"
    np.save(path, np.random.default_rng(0).multinomial(5000, np.full(32, 1 / 32), 4))
    return path


def run(capsys, *argv):
    code = 0
    try:
        main(["experts", *map(str, argv)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out = capsys.readouterr()
    return code, out.out, out.err


def test_text_fits_100_columns_and_says_before_after_bound(capsys, routing):
    code, out, _ = run(
        capsys, routing, "--ranks", 16, "--ranks-per-node", 4, "--nodes-per-rack", 2,
        "--redundant", 16, "--hidden-size", 7168, "--tokens", 625,
    )  # fmt: skip
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    for words in ("before", "bound", "bytes leaving the rack, per token"):
        assert words in out


def test_json_has_the_maps_and_numbers_agree(capsys, routing):
    """8 experts per token, half the messages cross 2 racks: 8 / 2 x 4 layers x 21,504 B."""
    code, out, _ = run(
        capsys, routing, "--ranks", 16, "--ranks-per-node", 4, "--nodes-per-rack", 2,
        "--redundant", 16, "--hidden-size", 7168, "--tokens", 625, "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert found["schema_version"] == "1"
    assert found["message_bytes"] == 7168 * 3
    total = sum(row["cross_rack_bytes_after"] for row in found["layers"])
    assert total == pytest.approx(4 * 7168 * 3 * 4)
    assert found["imbalance_bound"] <= found["imbalance_after"] <= found["imbalance_before"]
    table = np.array(found["physical_to_logical"])
    assert table.shape == (4, 48)
    assert (np.array(found["copies"]).sum(axis=1) == 48).all()
    slot = found["logical_to_physical"][0][5][0]
    assert table[0, slot] == 5


def test_csv_has_a_row_per_layer(capsys, routing):
    code, out, _ = run(capsys, routing, "--ranks", 4, "--csv")
    assert code == 0
    assert len(out.splitlines()) == 5
    assert out.startswith("layer,tokens,imbalance_before,imbalance_after,imbalance_bound")


def test_plot_and_placement_are_written(capsys, routing, tmp_path):
    code, _, _ = run(
        capsys, routing, "--ranks", 4, "--plot", tmp_path / "heat.png",
        "--placement", tmp_path / "place.json",
    )  # fmt: skip
    assert code == 0
    assert (tmp_path / "heat.png").stat().st_size > 10_000
    table = json.loads((tmp_path / "place.json").read_text())["physical_to_logical_map"]
    assert np.shape(table) == (4, 32)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--ranks", "5"], "Use 3 redundant experts"),
        (["--ranks", "0"], "at least 1"),
        (["--ranks", "4", "--ranks-per-node", "3"], "must divide 4 ranks"),
        (["--ranks", "4", "--ranks-per-node", "0"], "at least 1"),
        (["--ranks", "4", "--redundant", "-4"], "at least 0"),
        (["--ranks", "4", "--groups", "5"], "groups must divide"),
        (["--ranks", "4", "--groups", "0"], "groups must divide"),
        (["--ranks", "4", "--hidden-size", "0"], "above 0"),
        (["--ranks", "4", "--hidden-size", "64", "--tokens", "nan"], "above 0"),
        (["--ranks", "4", "--hidden-size", "64", "--dispatch-format", "fp99"], "fp99"),
        (["--ranks", "4", "--plot", "heat.bmp"], ".png"),
        (["--ranks", "4", "--placement", "place.txt"], ".json"),
        (["--ranks", "4", "--seed", "-1"], "seed"),
    ],
)
def test_bad_input_exits_2_without_a_traceback(capsys, routing, argv, words):
    code, out, err = run(capsys, routing, *argv)
    assert code == 2
    assert out == ""
    assert words in err
    assert "Traceback" not in err
