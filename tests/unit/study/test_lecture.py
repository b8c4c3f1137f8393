"""Every claim is there, and a wrong formula cannot keep its verdict."""

from dataclasses import replace

import numpy as np
import pytest

from ridgeline.chalkboard import roofline
from ridgeline.errors import UnknownNameError
from ridgeline.study.lecture import all_claims, answer, lecture
from ridgeline.study.lecture_claims.facts import H100
from ridgeline.study.lecture_claims.record import UNITS, check, claim, stated_bounds, verdict
from ridgeline.study.lecture_figures import lecture_figures
from ridgeline.study.lecture_work import work

# How many formulas, numbers and pictures each chapter has.
ROWS = {
    1: (13, 20, 9), 2: (8, 8, 5), 3: (8, 8, 6), 4: (8, 9, 6),
    5: (9, 13, 6), 6: (17, 21, 7), 7: (6, 6, 5),
}  # fmt: skip
IDS = [
    f"C{chapter}-{letter}{number}"
    for chapter, counts in ROWS.items()
    for letter, count in zip("FNQ", counts, strict=True)
    for number in range(1, count + 1)
] + [
    f"{letter}{n}"
    for letter, count in (("K", 27), ("P", 17), ("E", 12))
    for n in range(1, count + 1)
]
CHECKS = [
    pytest.param(one, i, id=f"{one.id}-{i}")
    for one in all_claims()
    for i, right in enumerate(one.checks)
    if verdict(right.stated, right.computed()) != "slip on air"
]


def test_every_claim_once_and_in_order():
    assert [one.id for one in all_claims()] == IDS


def test_what_cannot_be_computed_says_why():
    for one in all_claims():
        assert bool(one.checks) != bool(one.reason), one.id


def test_verdicts_hold():
    """Slips are exactly those known; everything else agrees, rounds, or names its assumption."""
    slips = {one.claim.id for one in lecture() if one.verdict == "slip on air"}
    assert slips == {"C5-N4", "C6-N1", "C6-N17", "E1", "E3", "E4", "E7", "E8", "E10", "E11"}
    rounded = {one.claim.id for one in lecture() if one.verdict == "rounds"}
    assert rounded == {
        "C1-N11", "C4-N2", "C5-N6", "C5-N7", "C6-N15", "E2", "E5", "K6", "K10", "P2",
    }  # fmt: skip


@pytest.mark.parametrize(("one", "i"), CHECKS)
def test_a_wrong_formula_flips_the_verdict(one, i):
    """Double a value (or miss a range a thousandfold): the claim no longer stands."""
    right = one.checks[i]
    value = right.computed() * UNITS[right.unit]
    wide = ".." in right.stated or "order" in right.stated
    wrong_value = value * (1000 if wide else 2) if value else 1.0
    wrong = replace(right, function=lambda **_: wrong_value)
    checks = (*one.checks[:i], wrong, *one.checks[i + 1 :])
    assert answer(replace(one, checks=checks)).verdict == "slip on air"


def test_flop_per_byte_in_place_of_the_ratio_is_caught():
    """R is 295 on H100 in BF16 and in FP8; FLOP per byte is 295 and 591."""
    (found,) = lecture("C1-N4")
    by_label = {value.check.label: value for value in found.values}
    assert round(by_label["H100 BF16"].computed) == 295
    assert round(by_label["H100 FP8"].computed) == 295

    def intensity(*, peak_flop_per_s, bytes_per_param, bandwidth_bytes_per_s):
        del bytes_per_param
        return peak_flop_per_s / bandwidth_bytes_per_s

    checks = tuple(
        replace(one, function=intensity) if one.label == "H100 FP8" else one
        for one in found.claim.checks
    )
    wrong = answer(replace(found.claim, checks=checks))
    assert {v.check.label: round(v.computed) for v in wrong.values}["H100 FP8"] == 591
    assert wrong.verdict == "slip on air"


@pytest.mark.parametrize(
    ("stated", "bounds"),
    [
        ("2400", (2399.5, 2400.5)),
        ("2.4e3", (2350, 2450)),
        ("~20", (19.5, 20.5)),
        ("0.022", (0.0215, 0.0225)),
        ("3..5", (3, 5)),
        ("order 1000", (999.5, 1000.5)),
        ("0", (0, 0)),
    ],
)
def test_digits_set_the_tolerance(stated, bounds):
    assert stated_bounds(stated) == pytest.approx(bounds)


@pytest.mark.parametrize(
    ("stated", "computed", "expected"),
    [
        ("2400", 2400.4, "agrees"),
        ("2400", 2600.0, "rounds"),
        ("2400", 2700.0, "slip on air"),
        ("2400", 1200.0, "slip on air"),
        ("~20", 24.0, "rounds"),
        ("~20", 30.0, "slip on air"),
        ("order 1000", 2400.0, "rounds"),
        ("order 1000", 5441.0, "slip on air"),
        ("3..5", 5.0, "agrees"),
        ("3..5", 5.3, "rounds"),
        ("3..5", 6.0, "slip on air"),
        ("0", 0.0, "agrees"),
        ("0", 1e-9, "slip on air"),
        ("5", -5.0, "slip on air"),
        ("5", float("nan"), "slip on air"),
        ("5", float("inf"), "slip on air"),
    ],
)
def test_verdict(stated, computed, expected):
    assert verdict(stated, computed) == expected


def test_an_assumption_decides_only_when_the_numbers_are_right():
    right = check("b", "2", roofline.sparsity, total_params=2.0, active_params=1.0)
    wrong = check("b", "5", roofline.sparsity, total_params=2.0, active_params=1.0)
    assert answer(claim("P1", "x", right, chapter=1)).verdict == "agrees"
    assert answer(claim("P1", "x", right, chapter=1, assumes="a")).verdict.startswith("depends")
    assert answer(claim("P1", "x", wrong, chapter=1, assumes="a")).verdict == "slip on air"
    assert answer(claim("P1", "x", chapter=1, reason="words")).verdict == "statement"


def test_the_deciding_value_stands_for_the_claim():
    (found,) = lecture("C6-N17")
    assert found.deciding is not None
    assert found.deciding.verdict == found.verdict == "slip on air"
    assert found.deciding.computed == pytest.approx(22.2, abs=0.1)


def test_selection():
    assert {one.claim.chapter for one in lecture("4")} == {4}
    assert [one.claim.id for one in lecture("c4")] == [one.claim.id for one in lecture("4")]
    assert len(lecture("cards")) == 27
    assert len(lecture("slips")) == 12
    assert [one.claim.id for one in lecture("c1-n7")] == ["C1-N7"]
    with pytest.raises(UnknownNameError, match="C1-N2"):
        lecture("C1-N21")


def test_arithmetic_carries_units():
    one = check(
        "x", "1.16 ms", roofline.weight_time,
        total_params=671e9, bytes_per_param=1.0, bandwidth_bytes_per_s=576e12,
    )  # fmt: skip
    done = work(one)
    assert done.equation == "t = w·N_t / W"
    assert done.substituted == "t = (1 B/param)·(671 Gparam) / (576 TB/s)"


def test_every_formula_used_shows_its_equation():
    """A chalkboard function without a formula in its docstring would show none."""
    without = {
        work(one).function
        for claim_ in all_claims()
        for one in claim_.checks
        if one.function.__module__.startswith("ridgeline.chalkboard") and not work(one).equation
    }
    assert not without


def test_devices_are_the_published_ones():
    """NVIDIA prints 1,979 and 3,958 TFLOP/s with sparsity, half of it dense; 3.35 TB/s; 80 GB."""
    assert H100.peak == {"bf16": 989e12, "fp8": 1979e12}
    assert (H100.bandwidth, H100.capacity) == (3.35e12, 80e9)


def test_pictures_have_units_and_finite_curves():
    pictures = lecture_figures()
    assert {"C1-Q1", "C1-Q2", "C1-Q3", "C1-Q4", "C1-Q5"} <= {one.id for one in pictures}
    for one in pictures:
        assert one.x
        assert one.y
        for line in one.lines:
            assert line.x.shape == line.y.shape, (one.id, line.label)
            assert np.isfinite(line.y).all(), (one.id, line.label)
