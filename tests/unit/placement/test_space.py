"""Layouts stand on whole hosts."""

import pytest

from ridgeline.placement.space import enumerate_layouts
from ridgeline.study.deploy import deploy


@pytest.mark.parametrize(
    ("on", "devices", "host"), [("gb200-nvl72", 72, 4), ("hgx-h100-8", 48, 8), ("hgx-h100-8", 6, 6)]
)
def test_no_stage_or_replica_straddles_two_hosts(on, devices, host):
    """Degrees such as ep 5 or 27 leave a host partly in one replica and partly in another."""
    arch = deploy("deepseek-v3", on=on, devices=devices).architecture
    space = enumerate_layouts(arch, num_devices=devices, scale_up=min(8, devices), host=host)
    for sizes in (space.tp * space.dp, space.num_devices):
        assert all(size % host == 0 or host % size == 0 for size in sizes.tolist())
    assert len(space) >= 20
    assert devices in space.num_devices
