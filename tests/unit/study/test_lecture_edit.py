"""Claims at other inputs, and marked answers."""

import pytest

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.study.lecture import all_claims
from ridgeline.study.lecture_claims.record import UNITS
from ridgeline.study.lecture_edit import DIMENSIONS, mark_answer, recompute

EDITABLE = [(c.id, i) for c in all_claims() for i, _ in enumerate(c.checks)]


def test_half_the_batch_takes_half_the_time():
    """C1-F2: 2·B·N_a / F; 0.822 ms at batch 4000."""
    whole, half = recompute("C1-F2"), recompute("c1-f2", inputs={"batch": 2000.0})
    assert whole.value.computed == pytest.approx(0.822, rel=1e-3)
    assert half.value.computed == pytest.approx(whole.value.computed / 2)
    assert (whole.changed, half.changed) == ((), ("batch",))
    assert whole.value.verdict == "agrees"
    assert half.value.verdict == "slip on air"


@pytest.mark.parametrize(("name", "index"), EDITABLE)
def test_every_value_is_computed_or_refused_at_other_inputs(name, index):
    """Each input of each value: double, a tenth, nothing, below nothing."""
    given = recompute(name, index).value.check.given
    for key, old in given.items():
        if not isinstance(old, int | float):
            continue
        for number in (old * 2, old / 10, 0.0, -float(old)):
            try:
                recompute(name, index, {key: number})
            except InputError as error:
                assert name in str(error) or key in str(error)  # noqa: PT017 - both are answers


@pytest.mark.parametrize(
    ("name", "index", "inputs", "words"),
    [
        ("C1-F2", 9, {}, "has 1 values, counted from 0: 9"),
        ("C1-F2", 0, {"colour": 1.0}, "inputs can be batch"),
        ("C1-F2", 0, {"batch": float("inf")}, "batch must be finite"),
        ("C7-F6", 0, {"rounds": 1e9}, "rounds must be a whole number from 0 to 16"),
        ("C7-F6", 0, {"rounds": 2.5}, "rounds must be a whole number"),
        ("C1-F2", 0, {"peak_flop_per_s": 0.0}, "no .*value at these inputs"),
    ],
)
def test_faults_are_sentences(name, index, inputs, words):
    with pytest.raises(InputError, match=words):
        recompute(name, index, inputs)


def test_an_unknown_claim_comes_with_the_nearest():
    with pytest.raises(UnknownNameError, match="C1-F2"):
        recompute("C1-F222")


@pytest.mark.parametrize(
    ("name", "answer", "mark"),
    [
        ("K2", "0.822 ms", "right"),
        ("K2", "822 us", "right"),
        ("K2", "8.22e-4 s", "right"),
        ("K2", "0.00082 seconds", "right"),
        ("K2", "0.88 ms", "close"),
        ("K2", "8.22 ms", "wrong"),
        ("K2", "-0.822 ms", "wrong"),
        ("K2", "0.822", "wrong unit"),
        ("K2", "0.822 GB", "wrong unit"),
        ("K2", "0.822 parsecs", "wrong unit"),
        ("K5", "2400", "right"),
        ("K5", "2,400 sequences", "right"),
        ("K5", "2400 tokens", "wrong unit"),
        ("K11", "100", "right"),
        ("K11", "100x", "right"),
        ("K11", "10000 %", "right"),
        ("K12", "1.667 kB/tok", "right"),
        ("K12", "1.667 kB", "wrong unit"),
        ("K9", "1.5", "right"),
    ],
)
def test_marks(name, answer, mark):
    assert mark_answer(name, 0, answer).mark == mark


def test_a_wrong_unit_is_explained():
    why = mark_answer("K2", 0, "0.822 GB").why
    assert why == "The answer is time (s, ms, min, h); '0.822 GB' is bytes."


@pytest.mark.parametrize("answer", ["", "fast", "ms", "1..2 ms", "nan", "1e999 s"])
def test_no_number_is_refused(answer):
    with pytest.raises(InputError, match="answer"):
        mark_answer("K2", 0, answer)


def test_what_the_lecture_states_is_right_where_it_is_true():
    """Cards and problems that agree; `~20 ms` needs no more digits than that."""
    for claim in all_claims():
        for index, check in enumerate(claim.checks):
            if claim.id[0] in "KP" and recompute(claim.id, index).value.verdict == "agrees":
                stated = check.stated.removeprefix("~").removeprefix("order ").split("..")[0]
                assert mark_answer(claim.id, index, f"{stated} {check.unit}").mark == "right"


def test_every_unit_in_print_has_one_dimension():
    units = [unit for those in DIMENSIONS.values() for unit in those]
    assert sorted(units) == sorted(UNITS)
