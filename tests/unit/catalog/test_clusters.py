"""Names of clusters, cuts of boards, multiples of units."""

import pytest

from ridgeline.catalog import Catalog
from ridgeline.catalog.clusters import named_cluster
from ridgeline.catalog.hardware import torus_dimensions
from ridgeline.errors import InputError, UnknownNameError

CATALOG = Catalog()


def _sizes(text, devices=None):
    cluster = named_cluster(CATALOG, text, devices)
    return [(t.name, t.size) for t in cluster.tiers]


def test_eighteen_boards_are_joined_by_the_scale_out_tier():
    """18 boards of 8 = 144 devices, however it is said."""
    expected = [("scale_up", 8), ("scale_out", 144)]
    assert _sizes("hgx-h100-8x18") == expected
    assert _sizes("hgx-h100-8", 144) == expected
    assert _sizes("h100-sxm", 144) == expected
    assert _sizes("144xH100") == expected
    assert _sizes("gb200-nvl72x2") == [("scale_up", 72), ("scale_out", 144)]


def test_the_id_of_a_cluster_can_be_typed_again():
    for text, devices in (("hgx-h100-8", 144), ("h100", 4), ("tpu-v5e-4x4", None)):
        cluster = named_cluster(CATALOG, text, devices)
        assert named_cluster(CATALOG, cluster.id).num_devices == cluster.num_devices


def test_one_device_has_no_network():
    assert _sizes("h100-sxm") == []
    assert _sizes("hgx-h100-8", 1) == []


def test_half_a_mesh_has_fewer_links():
    """MI300X: 448 GB/s over 7 peers is 64 GB/s each; 4 devices keep 3 peers, 192 GB/s."""
    tier = named_cluster(CATALOG, "mi300x-8", 4).tiers[0]
    assert (tier.size, tier.bandwidth_bytes_per_s) == (4, pytest.approx(192e9))
    switch = named_cluster(CATALOG, "hgx-h100-8", 4).tiers[0]
    assert switch.bandwidth_bytes_per_s == 450e9


def test_torus_slices():
    tier = named_cluster(CATALOG, "tpu-v5p-4x4x8").tiers[0]
    assert (tier.topology, tier.size, tier.dimensions) == ("torus", 128, (4, 4, 8))
    assert named_cluster(CATALOG, "tpu-v5p-64").tiers[0].dimensions == (4, 4, 4)
    assert named_cluster(CATALOG, "tpu-v5e", 32).tiers[0].dimensions == (4, 8)
    assert torus_dimensions(7, 2) == (1, 7)
    with pytest.raises(InputError, match="3 dimensions"):
        named_cluster(CATALOG, "tpu-v5p-4x4")
    with pytest.raises(InputError, match="at most 256"):
        named_cluster(CATALOG, "tpu-v5e-32x32")


def test_two_dimensional_slice_is_not_a_multiple_of_a_preset():
    """`tpu-v5e-4x4` is one slice of 16, not four slices of `tpu-v5e-4`."""
    assert len(named_cluster(CATALOG, "tpu-v5e-4x4").tiers) == 1


def test_devices_without_nvlink_talk_over_pcie():
    tier = named_cluster(CATALOG, "rtx-4090-2").tiers[0]
    assert (tier.name, tier.bandwidth_bytes_per_s) == ("pcie", 31.5e9)
    assert "PCIe" in named_cluster(CATALOG, "rtx-4090", 4).flags[0]


def test_prices_come_with_their_basis():
    cluster = named_cluster(CATALOG, "hgx-h100-8")
    assert cluster.usd_per_device_hour == pytest.approx(2.97)
    assert "Verda" in cluster.price_basis
    assert named_cluster(CATALOG, "m3-ultra").usd_per_device_hour is None


@pytest.mark.parametrize("devices", [0, -8, 12, 10**9])
def test_impossible_numbers_of_devices_are_refused(devices):
    with pytest.raises(InputError, match="Devices must be"):
        named_cluster(CATALOG, "hgx-h100-8", devices)


def test_the_remedy_names_the_nearest_whole_numbers():
    with pytest.raises(InputError, match="Use 8 or 16"):
        named_cluster(CATALOG, "hgx-h100-8", 12)


def test_the_number_is_given_once():
    with pytest.raises(InputError, match="once"):
        named_cluster(CATALOG, "hgx-h100-8x18", 8)


def test_no_scale_out_network_is_said():
    with pytest.raises(InputError, match="no scale-out network"):
        named_cluster(CATALOG, "rtx-4090-8", 16)


def test_unknown_names_give_the_nearest():
    with pytest.raises(UnknownNameError, match="Nearest: h100-sxm") as caught:
        named_cluster(CATALOG, "h100-sxmm")
    assert caught.value.nearest[0] == "h100-sxm"
    for text in ("", "x", "8x", "9" * 400 + "xh100", "hgx-h100-8x" + "9" * 50, "h100\0"):
        with pytest.raises(UnknownNameError):
            named_cluster(CATALOG, text)
