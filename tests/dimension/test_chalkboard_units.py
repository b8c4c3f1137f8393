"""Every chalkboard formula is called with units, and must come out in its own.

The registry is empty but for byte, flop, token, param, usd and second, so nothing converts by
accident. A batch counts tokens of one step, a context counts cached tokens per new token (a pure
number), and the factor 2 is FLOP per parameter and token. R then comes out in tokens: it is the
batch at which a dense model balances, which the board calls dimensionless.
"""

import inspect
from types import ModuleType

import pint
import pytest

from ridgeline.chalkboard import (
    budgets,
    fast_mode,
    memory,
    pipelines,
    prices,
    racks,
    reversible,
    roofline,
    tiers,
    traffic,
)

REGISTRY = pint.UnitRegistry(None)
for _name in ("byte", "flop", "token", "param", "usd", "second"):
    REGISTRY.define(f"{_name} = [{_name}]")

ENDINGS = (
    ("context_tokens", ""),
    ("step_tokens", ""),
    ("flop_per_s", "flop/second"),
    ("flop_per_byte", "flop/byte"),
    ("flop_per_param_token", "flop/param/token"),
    ("forward_flop", "flop/param/token"),
    ("backward_flop", "flop/param/token"),
    ("experts_per_token", ""),
    ("tokens_per_s_per_device", "token/second"),
    ("tokens_per_s_per_user", "token/second"),
    ("tokens_per_s", "token/second"),
    ("bytes_per_s", "byte/second"),
    ("bytes_per_token", "byte/token"),
    ("bytes_per_param", "byte/param"),
    ("usd_per_token", "usd/token"),
    ("usd_per_s", "usd/second"),
    ("s_per_token", "second/token"),
    ("dispatch_bytes", "byte/token"),
    ("combine_bytes", "byte/token"),
    ("bytes_per_element", "byte/token"),
    ("tokens_per_device", "token"),
    ("bytes", "byte"),
    ("params", "param"),
    ("tokens", "token"),
    ("micro_batch", "token"),
    ("batch", "token"),
    ("balance_ratio", "token"),
    ("attention_slope", "flop/token"),
    ("key_dim", "param"),
    ("value_dim", "param"),
    ("_s", "second"),
)

EXPECTED = {
    roofline: {
        "compute_time": "second",
        "weight_time": "second",
        "kv_time": "second",
        "step_time": "second",
        "token_cost": "usd/token",
        "cost_floor": "usd/token",
        "balance_ratio": "token",
        "ridge_intensity": "flop/byte",
        "critical_batch": "token",
        "balance_context": "",
        "critical_batch_at_context": "token",
        "mfu_at_context": "",
        "drain_time": "second",
        "sparse_context": "",
        "sparsity": "",
        "kv_reads_per_write": "",
        "active_equivalent_exponent": "",
    },
    traffic: {
        "worst_latency": "second",
        "mean_latency": "second",
        "system_rate": "token/second",
        "request_rate": "1/second",
        "sequences_in_flight": "",
        "memory_sweeps": "",
    },
    fast_mode: dict.fromkeys(
        ("batch_ratio", "fast_kv_share", "slow_kv_fraction", "speed_ceiling", "slow_saving"), ""
    ),
    racks: {
        "experts_per_device": "",
        "all_to_all_messages": "",
        "crossing_share": "",
        "all_to_all_slowdown": "",
        "all_to_all_bytes_per_token": "byte/token",
        "all_to_all_time": "second",
        "switch_hops": "",
        "largest_model": "param",
        "bandwidth_ratio": "",
        "domain_capacity": "byte",
        "growth": "",
    },
    pipelines: {
        "scale_up_over_scale_out": "",
        "least_layers_per_stage": "",
        "global_batch": "token",
        "pipeline_latency": "second",
        "one_at_a_time_idle_share": "",
        "training_bubble": "",
        "micro_batches_for_bubble": "",
        "relative_training_steps": "",
        "weights_per_device": "byte",
    },
    memory: {
        "system_memory": "byte",
        "kv_per_device": "byte",
        "kv_per_device_full_pipeline": "byte",
        "memory_per_device": "byte",
        "least_micro_batches": "",
        "decode_idle_share": "",
        "stage_weight_time": "second",
        "latency_with_hops": "second",
        "longest_context": "",
        "largest_batch": "token",
        "device_count": "",
    },
    budgets: {
        "training_flop": "flop",
        "equivalent_flop": "flop",
        "token_ratio_at_equal_cost": "",
        "served_tokens": "token",
        "chinchilla_tokens": "token",
        "over_training": "",
        "derated_tokens": "token",
        "power_law_penalty": "",
        "cost_ratio_at_least_sum": "",
    },
    prices: {
        "token_time_at_context": "second/token",
        "tier_limit_context": "",
        "kv_bytes_from_price_step": "byte/token",
        "kv_bytes_from_intensity": "byte/token",
        "kv_bytes_at_finite_batch": "byte/token",
        "kv_bytes_from_heads": "byte/token",
        "latent_kv_bytes": "byte/token",
        "sparse_kv_bytes_read": "byte/token",
        "pass_time_per_token": "second/token",
        "output_input_ratio": "token",
        "decode_over_prefill_mfu": "",
        "attention_flop_slope": "flop/token",
        "flop_per_token": "flop/token",
        "attention_crossover": "",
        "input_over_output_rate": "",
        "batch_from_price_ratio": "token",
        "context_from_price_ratio": "",
        "price_rise": "",
        "price_multiple": "",
    },
    tiers: {
        "rebuild_cost": "usd/token",
        "retrieve_cost": "usd/token",
        "hold_cost": "usd/token",
        "hold_time_at_equal_cost": "second",
        "rebuild_break_even": "second",
        "retrieval_over_hold": "second",
        "break_even_reads": "",
        "implied_hold_price": "usd/token/second",
    },
    reversible: {
        "stored_activations": "",
        "reversible_activations": "",
        "checkpointed_activations": "",
        "activation_bytes": "byte",
        "recompute_overhead": "",
    },
}
PLAIN = {
    "moe_layer", "traffic_matrix",  # arrays, whole counts
    "expert_coverage",  # a power of a count
    "loss", "tokens_for_loss", "lifetime_flop", "cheapest_params", "tokens_at_optimum",  # fits
    "feistel_forward", "feistel_inverse", "random_mixers", "inversion_error",  # experiments
    "constant_difference_share", "avalanche", "perturbation_growth",
}  # fmt: skip


def quantity(value: float, unit: str):
    return REGISTRY.Quantity(value, unit) if unit else value


def unit_of(name: str) -> str:
    return next((unit for ending, unit in ENDINGS if name.endswith(ending)), "")


def public(module: ModuleType) -> set[str]:
    return {
        name
        for name, thing in vars(module).items()
        if inspect.isfunction(thing)
        and thing.__module__ == module.__name__
        and not name.startswith("_")
    }


CASES = [(module, name, unit) for module, names in EXPECTED.items() for name, unit in names.items()]


@pytest.mark.parametrize(("module", "name", "unit"), CASES, ids=[case[1] for case in CASES])
def test_comes_out_in_its_unit(module, name, unit, monkeypatch):
    per_param = REGISTRY.Quantity(2.0, "flop/param/token")
    monkeypatch.setattr(roofline, "FLOP_PER_PARAM", per_param)
    monkeypatch.setattr(budgets, "TRAINING_FLOP_PER_PARAM", 3 * per_param)
    monkeypatch.setattr(
        budgets, "CHINCHILLA_TOKENS_PER_PARAM", REGISTRY.Quantity(20.0, "token/param")
    )
    function = getattr(module, name)
    given = {
        argument: quantity(0.3 + 0.5 * i, unit_of(argument))
        for i, argument in enumerate(inspect.signature(function).parameters)
    }
    result = function(**given)
    expected = quantity(1.0, unit)
    got = getattr(result, "dimensionality", {})
    assert dict(got) == dict(getattr(expected, "dimensionality", {}))


def test_a_wrong_formula_does_not_pass():
    """FLOP per byte in place of R leaves the critical batch in the wrong unit."""
    wrong = roofline.critical_batch(
        balance_ratio=roofline.ridge_intensity(
            peak_flop_per_s=REGISTRY.Quantity(1.0, "flop/second"),
            bandwidth_bytes_per_s=REGISTRY.Quantity(1.0, "byte/second"),
        ),
        total_params=REGISTRY.Quantity(1.0, "param"),
        active_params=REGISTRY.Quantity(1.0, "param"),
    )
    assert dict(wrong.dimensionality) != {"[token]": 1}
    with pytest.raises(pint.DimensionalityError):
        roofline.step_time(
            compute_s=REGISTRY.Quantity(1.0, "second"),
            weights_s=REGISTRY.Quantity(1.0, "byte"),
            kv_s=REGISTRY.Quantity(1.0, "byte"),
        )


@pytest.mark.parametrize("module", EXPECTED, ids=lambda module: module.__name__.rsplit(".")[-1])
def test_no_formula_is_left_out(module):
    assert public(module) - PLAIN == set(EXPECTED[module])
