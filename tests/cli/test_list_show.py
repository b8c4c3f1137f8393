"""`ridgeline list` and `ridgeline show` as a user meets them."""

import json

import pytest

from ridgeline.cli import main


def _run(capsys, *words):
    try:
        main(list(words))
    except SystemExit as stop:
        return stop.code, capsys.readouterr()
    return 0, capsys.readouterr()


@pytest.mark.parametrize("kind", ["devices", "clusters", "models", "prices", "formats"])
def test_list(capsys, kind):
    code, out = _run(capsys, "list", kind)
    assert code == 0
    lines = out.out.splitlines()
    assert len(lines) > 25
    assert max(len(line) for line in lines) <= 100


@pytest.mark.parametrize("style", ["--json", "--csv", "--markdown"])
def test_list_for_machines(capsys, style):
    code, out = _run(capsys, "list", "devices", "h100", style)
    assert code == 0
    if style == "--json":
        data = json.loads(out.out)
        assert data["schema_version"] == "1"
        assert {e["id"] for e in data["entries"]} == {"h100-sxm", "h100-pcie", "h100-nvl"}
        assert data["entries"][-1]["bandwidth_bytes_per_s"] == 3.35e12
    else:
        assert "h100-sxm" in out.out


def test_show_prints_the_source_of_each_figure(capsys):
    code, out = _run(capsys, "show", "device", "H100")
    assert code == 0
    for words in ("3.35 TB/s", "nvidia-h100-sxm", "assumed", "https://", "295"):
        assert words in out.out


def test_show_cluster_price_and_model(capsys):
    code, out = _run(capsys, "show", "cluster", "hgx-h100-8x18", "--json")
    assert (code, len(json.loads(out.out)["tiers"])) == (0, 2)
    code, out = _run(capsys, "show", "price", "h100")
    assert code == 0
    assert "Verda" in out.out
    code, out = _run(capsys, "show", "model", "deepseek-v3", "--json")
    assert (code, json.loads(out.out)["num_params"]) == (0, 671_026_404_352)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "device", "h100-sxmm"), 2),
        (("show", "model", "llama-9"), 2),
        (("show", "cluster", "hgx-h100-8x0"), 2),
        (("list", "chips"), 2),
        (("show", "device", "h100", "--catalog", "no-such-folder"), 2),
    ],
)
def test_mistakes_end_with_a_sentence(capsys, words, code):
    found, out = _run(capsys, *words)
    assert found == code
    assert "Traceback" not in out.err
    assert len(out.err) > 20
