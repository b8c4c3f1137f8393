"""A maximum over shapes is predicted as one."""

import pytest

from ridgeline.cost.best_gemms import BEST_GEMM
from ridgeline.cost.efficiency_records import CALIBRATED
from ridgeline.cost.roofline import operation_time
from ridgeline.model.work import Operation
from ridgeline.study.resolve import open_catalog


def square(size: float) -> Operation:
    """Return a bf16 GEMM of equal sides."""
    return Operation(
        name="gemm",
        family="gemm",
        component="kernel",
        compute_format="bf16",
        flop=2 * size**3,
        weight_bytes=2 * size**2,
        activation_bytes=4 * size**2,
        shape={"m": size, "n": size, "k": size},
        storage_format="bf16",
    )


def rate(device_name: str, efficiency=BEST_GEMM) -> float:
    """Return TFLOP/s of a GEMM of 8192³."""
    device, operation = open_catalog(None).device(device_name), square(8192.0)
    curve = efficiency.curve(operation, device)
    return operation.flop / operation_time(operation, device, curve).time_s / 1e12


@pytest.mark.parametrize("name", ["a100-sxm-80", "h100-sxm", "b200-sxm", "l40s"])
def test_the_best_shape_beats_the_typical_one(name):
    assert rate(name) > rate(name, CALIBRATED)


def test_the_best_shape_by_hand():
    assert rate("h100-sxm") == pytest.approx(0.842 * 989.4, rel=1e-3)
    # 300 W instead of 400: the clock gives way by the cube root.
    assert rate("a100-pcie-80") == pytest.approx(0.909 * 312 * 0.75 ** (1 / 3), rel=1e-3)


def test_a_vendors_own_figure_goes_first():
    assert rate("mi300x") == pytest.approx(708, rel=1e-3)
    assert rate("mi325x") == pytest.approx(843, rel=1e-3)
    assert rate("rtx-4090") == pytest.approx(179.2, rel=1e-3)


def test_gaming_cards_reach_their_rated_peak():
    device, operation = open_catalog(None).device("rtx-4090"), square(8192.0)
    assert CALIBRATED.curve(operation, device).compute_share == 1.0
    assert rate("rtx-4090", CALIBRATED) == pytest.approx(165.2, rel=0.08)
