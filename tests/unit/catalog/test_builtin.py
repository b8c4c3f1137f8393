"""The built-in catalogue: everything loads, every figure has a source, known figures hold."""

import importlib.util
from pathlib import Path

import pytest

from ridgeline.catalog import Catalog
from ridgeline.catalog.clusters import named_cluster
from ridgeline.catalog.figures import figures
from ridgeline.catalog.store import DATA, KINDS, builtin_sources

CATALOG = Catalog()
ROOT = Path(__file__).parents[3]


def _build_catalog():
    spec = importlib.util.spec_from_file_location("build_catalog", ROOT / "dev/build_catalog.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shipped_json_and_schemas_are_what_the_yaml_says():
    """Rebuild every generated file in memory: checks all entries with the schema on the way."""
    stale = [p.name for p, text in _build_catalog().products().items() if p.read_text() != text]
    assert stale == []


def test_counts():
    """64 chips of the hardware list and two more; presets, models and prices in number."""
    assert len(CATALOG.entries("devices")) >= 66
    assert len(CATALOG.entries("clusters")) >= 80
    assert len(CATALOG.entries("models")) >= 90
    assert sum(len(e["prices"]) for e in CATALOG.entries("rental").values()) >= 130


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_has_a_source_that_is_known(kind):
    known = builtin_sources()
    for name, entry in CATALOG.entries(kind).items():
        found = list(figures(entry)) if kind != "models" else [("source", entry)]
        for path, figure in found:
            source = figure["source"]
            assert source in known or source.startswith("https://"), (name, path, source)
        assert all(key in known for key in entry.get("checked_by", [])), name


def test_datasheet_figures_are_checked_by_a_second_table():
    for name, entry in CATALOG.entries("devices").items():
        kinds = {f["kind"] for path, f in figures(entry) if path.startswith("peak")}
        assert "datasheet" not in kinds or entry["checked_by"], name


def test_names_are_not_ambiguous():
    """An alias of one entry is neither the id nor an alias of another."""
    for kind in KINDS:
        seen: dict[str, str] = {}
        for name, entry in CATALOG.entries(kind).items():
            for other in {name, *entry.get("aliases", [])}:
                assert seen.setdefault(other.lower(), name) == name, (kind, other)


def test_every_device_cluster_and_price_becomes_a_record():
    for name in CATALOG.entries("devices"):
        assert CATALOG.device(name).peak_flop_per_s
        assert named_cluster(CATALOG, name).num_devices == 1
    for name, entry in CATALOG.entries("clusters").items():
        cluster = named_cluster(CATALOG, name)
        assert cluster.num_devices == entry["num_devices"]
        assert not cluster.tiers or cluster.tiers[-1].size == cluster.num_devices
    for name in CATALOG.entries("rental"):
        assert CATALOG.find("devices", name) is not None, name


# Balance ratio R of the lecture's table C1-N4, from dense peaks: R = (peak/2)·bytes/bandwidth.
RATIOS = [
    ("a100-sxm-80", "bf16", 2, 153),
    ("h100-sxm", "bf16", 2, 295),
    ("h200-sxm", "bf16", 2, 206),
    ("gb200", "fp4", 0.5, 312),
    ("gb300", "fp8", 1, 312),
    ("gb300", "fp4", 0.5, 469),
    ("vr200", "fp4", 0.5, 398),
    ("mi300x", "bf16", 2, 247),
    ("tpu-v5e", "bf16", 2, 241),
    ("tpu-v5p", "bf16", 2, 166),
    ("tpu-v6e", "bf16", 2, 560),
    ("tpu-v7", "bf16", 2, 313),
]


@pytest.mark.parametrize(("name", "fmt", "width", "ratio"), RATIOS)
def test_balance_ratios_of_the_lecture(name, fmt, width, ratio):
    """H100: 989.4e12 / 2 · 2 / 3.35e12 = 295."""
    device = CATALOG.device(name)
    found = device.peak_flop_per_s[fmt] / 2 * width / device.memory.bandwidth_bytes_per_s
    assert found == pytest.approx(ratio, rel=0.005)


# C1-N10 in ms, read with GB; the catalogue keeps GiB where the vendor means it (last column).
DRAINS = [
    ("a100-sxm-80", 39, 2**30 / 1e9),
    ("h100-sxm", 23.9, 1),
    ("h200-sxm", 29.4, 1),
    ("gb300", 36, 1),
    ("mi300x", 36, 1),
    ("mi355x", 36, 1),
    ("vr200", 13.1, 1),
    ("tpu-v5e", 19.5, 2**30 / 1e9),
    ("tpu-v6e", 19.5, 2**30 / 1e9),
    ("tpu-v5p", 34, 2**30 / 1e9),
    ("tpu-v7", 26, 2**30 / 1e9),
]


@pytest.mark.parametrize(("name", "drain_ms", "unit"), DRAINS)
def test_drain_times_of_the_lecture(name, drain_ms, unit):
    """H100: 80e9 / 3.35e12 = 23.9 ms."""
    memory = CATALOG.device(name).memory
    drain_s = memory.capacity_bytes / memory.bandwidth_bytes_per_s
    assert drain_s * 1e3 == pytest.approx(drain_ms * unit, rel=0.013)


def test_traps():
    """Sparse, both-direction, accumulate-in-fp16 and per-pair figures stay out."""
    peak = {n: CATALOG.device(n).peak_flop_per_s for n in CATALOG.entries("devices")}
    assert peak["h100-sxm"]["fp8"] == 1978.9e12
    assert peak["rtx-4090"]["bf16"] == 165.2e12
    assert peak["a10g"]["bf16"] == 70e12
    assert peak["gb300"]["int8"] < peak["gb300"]["fp8"] / 10
    assert peak["mi355x"]["fp6"] == peak["mi355x"]["fp4"]
    assert "fp8" not in peak["mi250x"]
    link = {n: named_cluster(CATALOG, n).tiers[0] for n in ("hgx-h100-8", "mi300x-8")}
    assert link["hgx-h100-8"].bandwidth_bytes_per_s == 450e9
    assert link["hgx-h100-8"].in_network_reduction
    assert link["mi300x-8"].topology == "mesh"
    assert not named_cluster(CATALOG, "hgx-a100-8").tiers[0].in_network_reduction
    assert CATALOG.device("gb200").memory.capacity_bytes == 186e9
    assert CATALOG.device("tpu-v5e").memory.capacity_bytes == 16 * 2**30
    assert CATALOG.device("m3-ultra").host_memory is None


def test_low_confidence_is_a_flag_on_every_use():
    assert "low confidence" in named_cluster(CATALOG, "vr-nvl72").flags[0]
    assert "rumour" in named_cluster(CATALOG, "rubin-ultra").flags[0]
    assert named_cluster(CATALOG, "hgx-h100-8").flags == ()


def test_data_folder_has_no_stray_entries():
    for kind in KINDS:
        files = {p.stem for p in (DATA / kind).glob("*.yaml")}
        assert files == set(CATALOG.entries(kind))


def test_what_fits_is_decided_by_visible_bytes_where_they_are_known():
    """An H100 of 80 GB shows 81,559 MiB, a seventh of the cache of a 70B model more."""
    h100 = CATALOG.device("h100-sxm").memory
    assert h100.usable_bytes == 81559 * 2**20
    assert h100.capacity_bytes == 80e9
    a100 = CATALOG.device("a100-sxm-80").memory
    assert a100.usable_bytes == a100.capacity_bytes == 80 * 2**30
    for entry in CATALOG.entries("devices"):
        memory = CATALOG.device(entry).memory
        assert 0.9 < memory.usable_bytes / memory.capacity_bytes < 1.08, entry
