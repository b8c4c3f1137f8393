"""Routing files: every form gives the same log; every bad file says what is wrong."""

import json

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.readers.routing import read_routing

COUNTS = [[3, 1, 0, 2], [1, 1, 5, 4]]


def _write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_every_form_reads_the_same_counts(tmp_path):
    np.save(tmp_path / "a.npy", np.array(COUNTS))
    np.savez(tmp_path / "a.npz", counts=np.array(COUNTS))
    long = "Layer,Expert,Count\n" + "".join(
        f"{n},{e},{c}\n" for n, row in enumerate(COUNTS) for e, c in enumerate(row)
    )
    paths = [
        tmp_path / "a.npy",
        tmp_path / "a.npz",
        _write(tmp_path, "matrix.csv", "3,1,0,2\n1,1,5,4e0\n"),
        _write(tmp_path, "long.csv", long),
        _write(tmp_path, "bare.json", json.dumps(COUNTS)),
        _write(tmp_path, "keys.json", json.dumps({"counts": COUNTS})),
        _write(tmp_path, "sglang.json", json.dumps({"logical_count": [COUNTS, COUNTS]})),
    ]
    for path in paths:
        log = read_routing(path, num_ranks=2)
        factor = 2.0 if "sglang" in path.name else 1.0
        assert (log.load == factor * np.array(COUNTS)).all(), path.name
        assert log.flags == ()


def test_counts_by_source_sum_to_counts(tmp_path):
    by_source = np.arange(1, 13).reshape(2, 2, 3)
    np.save(tmp_path / "a.npy", by_source)
    text = "layer,expert,count,source_rank\n" + "".join(
        f"{n},{e},{by_source[n, s, e]},{s}\n" for n in (0, 1) for s in (0, 1) for e in (0, 1, 2)
    )
    for path in (tmp_path / "a.npy", _write(tmp_path, "a.csv", text)):
        log = read_routing(path, num_ranks=2)
        assert (log.by_source == by_source).all()
        assert (log.load == by_source.sum(axis=1)).all()


def test_routes_count_experts_and_spread_unknown_sources(tmp_path):
    np.savez(tmp_path / "a.npz", routes=np.array([[[0, 2]], [[2, 1]], [[2, 3]], [[0, 1]]]))
    log = read_routing(tmp_path / "a.npz", num_ranks=2)
    assert log.load.tolist() == [[2, 2, 3, 1]]
    assert log.route_source.tolist() == [0, 0, 1, 1]
    assert "sources of tokens not given" in log.flags[0]


def test_silent_layers_and_missing_cells_are_said(tmp_path):
    log = read_routing(_write(tmp_path, "a.csv", "layer,expert,count\n3,0,0\n5,1,2\n"), num_ranks=1)
    assert log.layer_names == (5,)
    assert log.load.tolist() == [[0, 2]]
    assert log.flags == ("2 cells the file does not name are read as 0",
                         "layers without tokens left out: 3")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "", "empty"),
        ("a.csv", "\n\n", "no rows"),
        ("a.csv", "1,2\n3\n", "row 2 must have 2 columns"),
        ("a.csv", "1,2\n3,x\n", "line|row"),
        ("a.csv", "1,-2\n", "expert 1 has -2"),
        ("a.csv", "1,nan\n", "expert 1 has nan"),
        ("a.csv", "1,inf\n", "expert 1 has inf"),
        ("a.csv", "0,0\n", "layer 0"),
        ("a.csv", "a,b,c\n1,2,3\n", "header must name"),
        ("a.csv", "layer,expert,count\n", "no rows"),
        ("a.csv", "layer,expert,count\n0,0\n", "line 2"),
        ("a.csv", "layer,expert,count\n0,0,1\n0,0,1\n", "twice"),
        ("a.csv", "layer,expert,count\n0,1.5,1\n", "whole numbers"),
        ("a.csv", "layer,expert,count\n0,99999999999,1\n", "whole numbers"),
        ("a.csv", "layer,expert,count\nnan,0,1\n", "whole numbers"),
        ("a.json", "{", "cannot be read"),
        ("a.json", "[" * 5000, "nested too deeply|cannot be read"),
        ("a.json", "3", "matrix or an object"),
        ("a.json", "[[1,2],[3]]", "rectangular"),
        ("a.json", "[]", "axes"),
        ("a.json", '[["a"]]', "numbers only"),
        ("a.json", "[[NaN, 1]]", "expert 0 has nan"),
        ("a.json", '{"other": 1}', "names none"),
        ("a.json", '{"counts_by_source": [[[1, -1]], [[1, 1]]]}', "at least 0"),
        ("a.json", '{"routes": [[[0, 0]]]}', "named twice"),
        ("a.json", '{"routes": [[[0, -1]]]}', "whole and at least 0"),
        ("a.json", '{"routes": [[[0.5, 1]]]}', "whole and at least 0"),
        ("a.json", '{"routes": [[[0, 9]]], "num_experts": 4}', "below 4"),
        ("a.json", '{"routes": [[[0, 1]]], "num_experts": "many"}', "num_experts"),
        ("a.json", '{"routes": [[[0, 1]]], "route_source": [0, 1]}', "one rank"),
        ("a.json", '{"counts": [[1, 2]], "layers": [1, 2, 3]}', None),
        ("a.npy", "not numpy", "cannot be read"),
        ("a.npz", "not zip", "cannot be read"),
        ("a.txt", "1,2", "must be a CSV"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, name, text, words):
    path = _write(tmp_path, name, text)
    if words is None:
        assert read_routing(path, num_ranks=2).layer_names == (0,)
        return
    with pytest.raises(InputError, match=words) as stop:
        read_routing(path, num_ranks=2)
    assert str(stop.value).count(path.name) == 1


def test_pickles_binary_folders_and_absent_files_are_refused(tmp_path):
    np.save(tmp_path / "p.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "one.npy", np.arange(3))
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00\x01")
    for name, words in [("p.npy", "cannot be read"), ("one.npy", "2 or 3 axes"),
                        ("b.csv", "UTF-8"), ("none.csv", "cannot be read"),
                        ("", "not a file")]:  # fmt: skip
        with pytest.raises(InputError, match=words):
            read_routing(tmp_path / name, num_ranks=1)
