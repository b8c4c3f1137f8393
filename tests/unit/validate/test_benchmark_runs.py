"""Scheduler flags of public runs."""

import pytest

from ridgeline.validate.benchmark_runs import RunSettings, run_settings
from ridgeline.validate.truth_rows import read_rows

HEAD = "id,area,chip,metric,unit,value,scorable,concurrency,source\n"


def _settings(concurrency, source, **kwargs):
    (row,) = read_rows(
        [HEAD, f"a,serving_concurrency,B200,median_ttft,ms,1,N,{concurrency},{source}\n"], file="x"
    )
    return run_settings(row, **kwargs)


@pytest.mark.parametrize(
    ("concurrency", "engine", "generation", "groups", "expected"),
    [
        (8, "sglang", "blackwell", 1.0, RunSettings(poll_steps=10.0)),
        (16, "sglang", "blackwell_ultra", 1.0, RunSettings(poll_steps=30.0)),
        (16, "sglang", "hopper", 1.0, RunSettings()),
        (16, "sglang", "blackwell", 4.0, RunSettings()),
        (16, "trtllm", "hopper", 8.0, RunSettings(gather_steps=60.0)),
        (16, "trtllm", "hopper", 1.0, RunSettings()),
        (16, "vllm", "blackwell", 1.0, RunSettings()),
    ],
)
def test_flags_of_the_launch_scripts(concurrency, engine, generation, groups, expected):
    found = _settings(
        concurrency, "InferenceX run", engine=engine, generation=generation, groups=groups
    )
    assert found == expected


def test_what_was_assumed_is_said():
    assert RunSettings().flags == ()
    assert "30 steps" in RunSettings(poll_steps=30.0).flags[0]
    assert "60 steps" in RunSettings(gather_steps=60.0).flags[0]


def test_runs_of_others_keep_the_defaults():
    found = _settings(64, "a blog", engine="sglang", generation="blackwell", groups=1.0)
    assert found == RunSettings()
