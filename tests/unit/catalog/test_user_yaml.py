"""A user's own YAML: one file adds an entry; every fault is named."""

import json

import pytest
import yaml

from ridgeline.catalog.clusters import named_cluster
from ridgeline.catalog.store import Catalog
from ridgeline.catalog.yaml_files import load_user_catalog, read_yaml
from ridgeline.errors import InputError
from ridgeline.model.params import count_parameters
from ridgeline.study.resolve import open_catalog, resolve_cluster, resolve_model

DEVICE = """
id: my-chip
name: My chip
vendor: Me
generation: mine
confidence: low
peak_flop_per_s:
  bf16: {value: 100 TFLOP/s, source: my notes, kind: assumed, note: a guess}
memory:
  capacity: {value: 32 GB, source: my notes, kind: assumed, note: a guess}
  bandwidth: {value: 1 TB/s, source: my notes, kind: assumed, note: a guess}
scale_up:
  size: 4
  bandwidth: {value: 100 GB/s, source: my notes, kind: assumed, note: a guess}
  latency: {value: 2 us, source: my notes, kind: assumed, note: a guess}
"""
CLUSTER = """
kind: cluster
id: my-box
name: My box
device: my-chip
num_devices: 4
source: my notes
usd_per_device_hour: {value: 1.5 USD/h, source: invoice of May, kind: measured}
"""
MODEL = """
kind: model
id: my-model
source: my notes
config:
  model_type: llama
  hidden_size: 64
  intermediate_size: 128
  num_hidden_layers: 2
  num_attention_heads: 4
  num_key_value_heads: 2
  vocab_size: 100
  tie_word_embeddings: false
"""


def _write(folder, **files):
    for name, text in files.items():
        path = folder / f"{name.replace('_', '-').replace('--', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _faults(folder):
    with pytest.raises(InputError) as caught:
        load_user_catalog([folder])
    return str(caught.value)


def test_one_file_each_adds_a_device_a_cluster_and_a_model(tmp_path):
    """A Llama of two layers: 86,848 weights by hand.

    Embedding and head 2·100·64 = 12,800. Per layer q and o 64·64, k and v 64·32: 12,288; MLP
    3·64·128 = 24,576; two norms 128; together 36,992, twice 73,984. Final norm 64.
    """
    folder = _write(tmp_path, devices__my_chip=DEVICE, my_box=CLUSTER, my_model=MODEL)
    catalog = open_catalog(folder)
    cluster = resolve_cluster("my-box", catalog=catalog)
    assert (cluster.num_devices, cluster.usd_per_device_hour) == (4, 1.5)
    assert "low confidence" in cluster.flags[0]
    assert cluster.tiers[0].size == 4
    assert count_parameters(resolve_model("my-model", catalog)).num_params == 86_848
    assert resolve_cluster("h100-sxm", catalog=catalog).device.vendor == "NVIDIA"


def test_the_user_folder_is_read(tmp_path, monkeypatch):
    _write(tmp_path / "ridgeline" / "catalog", devices__my_chip=DEVICE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert open_catalog().device("my-chip").vendor == "Me"


def test_a_user_entry_wins_over_the_built_in_one(tmp_path):
    text = DEVICE.replace("my-chip", "h100-sxm")
    catalog = load_user_catalog([_write(tmp_path, devices__h100_sxm=text)])
    assert catalog.device("h100").vendor == "Me"
    assert catalog.origin("devices", "h100-sxm").endswith("h100-sxm.yaml")


BAD = [
    ("capacity: {value: 32 GB,", "capacity: 32 GB #", "memory.capacity", "a bare value is refused"),
    ("value: 1 TB/s,", "value: 1 TB,", "memory.bandwidth", "units"),
    ("value: 1 TB/s,", "value: -1 TB/s,", "memory.bandwidth", "above 0"),
    ("value: 1 TB/s,", "value: 9e99 TB/s,", "memory.bandwidth", "at most"),
    ("value: 1 TB/s,", "value: nan TB/s,", "memory.bandwidth", "number"),
    ("kind: assumed, note: a guess}\nmemory", "kind: assumed}\nmemory", "bf16", "needs a note"),
    ("source: my notes, kind: assumed, note: a guess}\nscale", "kind: assumed}\nscale",
     "memory.bandwidth.source", "required"),
    ("vendor: Me", "vendr: Me", "vendr", "not permitted"),
    ("confidence: low", "confidence: sure", "confidence", "'high'"),
    ("size: 4", "size: -4", "scale_up.size", "greater than or equal to 2"),
    ("size: 4", "size: '4'", "scale_up.size", "valid integer"),
    ("id: my-chip", "id: other-chip", "id", "the file's name"),
    ("  bf16:", "  bf17:", "bf17", "'bf16'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "field", "rule"), BAD)
def test_bad_entries_are_refused_with_file_field_and_rule(tmp_path, old, new, field, rule):
    assert old in DEVICE
    words = _faults(_write(tmp_path, devices__my_chip=DEVICE.replace(old, new)))
    assert "my-chip.yaml" in words
    assert field in words
    assert rule in words


def test_every_fault_of_every_file_is_listed(tmp_path):
    first = DEVICE.replace("vendor: Me", "vendor: ''").replace("size: 4", "size: 0")
    words = _faults(_write(tmp_path, devices__my_chip=first, my_box="kind: cluster\n"))
    assert "vendor" in words
    assert "scale_up.size" in words
    assert "my-box.yaml: num_devices: Field required" in words


def test_references_are_checked(tmp_path):
    words = _faults(_write(tmp_path, my_box=CLUSTER))
    assert "my-box.yaml: device: must be in the catalogue: 'my-chip'" in words


HOSTILE = {
    "object": "id: !!python/object/apply:os.system ['true']\n",
    "bomb": "a: &a [x, x]\nb: &b [*a, *a]\n",
    "twice": "id: a\nid: b\n",
    "number_key": "1: a\n",
    "list": "- a\n- b\n",
    "binary": "id: \x00\n",
    "deep": "a: " + "[" * 3000,
    "huge_int": "a: " + "9" * 10000,
    "empty": "",
    "unclosed": "a: {b: [",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_yaml_is_refused(tmp_path, name):
    path = tmp_path / "devices" / "x.yaml"
    path.parent.mkdir()
    path.write_text(HOSTILE[name])
    with pytest.raises(InputError, match=r"x\.yaml"):
        load_user_catalog([tmp_path])


def test_size_is_bounded(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: " + "x" * 5_000_000)
    with pytest.raises(InputError, match="at most 500,000 bytes"):
        read_yaml(path)


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(InputError, match="must be a folder"):
        open_catalog(tmp_path / "nowhere")


def test_tiers_of_a_cluster_of_ones_own(tmp_path):
    """Two boards of 2 joined by a slower tier: sizes 2 and 4."""
    tier = yaml.safe_load(DEVICE)["scale_up"] | {"name": "board", "size": 2}
    outer = tier | {
        "name": "cable",
        "size": 4,
        "bandwidth": {**tier["bandwidth"], "value": "10 GB/s"},
    }
    entry = yaml.safe_load(CLUSTER) | {"tiers": [tier, outer]}
    files = {"my_box": json.dumps(entry), "devices__my_chip": DEVICE}
    catalog = load_user_catalog([_write(tmp_path, **files)])
    tiers = named_cluster(catalog, "my-box").tiers
    assert [(t.name, t.size, t.bandwidth_bytes_per_s) for t in tiers] == [
        ("board", 2, 100e9),
        ("cable", 4, 10e9),
    ]
    assert isinstance(catalog, Catalog)
    entry["tiers"][1]["size"] = 3
    files["my_box"] = json.dumps(entry)
    assert "each a multiple" in _faults(_write(tmp_path, **files))
