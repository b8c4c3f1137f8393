"""Price questions: dates, hours, disagreement, traces, the published day."""

import datetime as dt
from pathlib import Path

import pytest

from ridgeline.errors import InputError, UnknownNameError
from ridgeline.study import prices
from ridgeline.study.service_day import service_day

NOV = dt.date(2026, 11, 30)


def test_lists_that_state_peak_and_off_peak_are_shown_not_averaged():
    """DeepSeek V4 Pro input: one list states 1.32 (peak), the other 0.66 (off-peak)."""
    sheet = prices.show("deepseek/deepseek-v4-pro", on=NOV)
    found = {d.kind: dict(d.prices) for d in sheet.disagreements}
    assert found["input"]["litellm"] == 1.32
    assert found["input"]["genai-prices"] == 0.66
    assert any("--hour" in f for f in sheet.flags)


@pytest.mark.parametrize(("hour", "usd"), [(8, 1.32), (5, 0.66), (12, 0.66)])
def test_at_an_hour_of_a_working_day_the_two_lists_agree(hour: int, usd: float):
    sheet = prices.show("deepseek/deepseek-v4-pro", on=NOV, hour=hour)
    by_list = {r.list_name: r.input_usd_per_mtok for r in sheet.rows if r.provider == "deepseek"}
    assert by_list["litellm"] == by_list["genai-prices"] == usd


def test_on_a_saturday_they_do_not():
    """2026-11-28: off-peak all day in the list that knows weekdays."""
    sheet = prices.show("deepseek/deepseek-v4-pro", on=dt.date(2026, 11, 28), hour=8)
    by_list = {r.list_name: r.input_usd_per_mtok for r in sheet.rows if r.provider == "deepseek"}
    assert (by_list["litellm"], by_list["genai-prices"]) == (0.66, 1.32)


def test_announced_changes_take_effect_on_their_day():
    """Gemini 4 Argon doubles on 2026-12-01."""
    before = prices.show("google/gemini-4-argon", on=NOV)
    assert {r.starts for r in before.announced} == {dt.date(2026, 12, 1)}
    for day, usd in ((NOV, 2.0), (dt.date(2026, 12, 1), 4.0)):
        rows = prices.show("google/gemini-4-argon", on=day).rows
        listed = {r.list_name: r.input_usd_per_mtok for r in rows if r.tier == "standard"}
        assert listed["genai-prices"] == usd


def test_long_context_reprices_the_whole_prompt():
    """300k in, 2k out of Gemini 3.1 Pro: 300e3·4 + 2e3·18 = 1.236 USD."""
    quotes = prices.cost(
        "google/gemini-3.1-pro-preview", on=NOV, hour=None, input_tokens=300_000, output_tokens=2000
    )
    assert {q.row.list_name for q in quotes} >= {"litellm", "genai-prices"}
    for quote in quotes:
        if quote.row.list_name != "llm-prices":
            assert quote.bill.total_usd == pytest.approx(1.236)


def test_trace(tmp_path: Path):
    """(100k, 1k) at 2/12 and (300k, 1k) at 4/18 USD: 0.2 + 0.012 + 1.2 + 0.018 = 1.43."""
    trace = tmp_path / "t.csv"
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\na,100000,1000\nb,300000,1000\n")
    quotes = prices.trace_cost("google/gemini-3.1-pro-preview", trace, on=NOV, hour=None)
    one = next(q for q in quotes if q.list_name == "litellm")
    assert one.total_usd == pytest.approx(1.43)
    assert (one.num_requests, one.num_long) == (2, 1)
    lines = tmp_path / "t.jsonl"
    lines.write_text('{"input_length": 100000, "output_length": 1000}\n')
    (first, *_) = prices.trace_cost("google/gemini-3.1-pro-preview", lines, on=NOV, hour=None)
    assert first.total_usd == pytest.approx(0.212)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("a.csv", "x,y\n1,2\n", "needs one of the columns"),
        ("a.csv", "", "no requests"),
        ("a.jsonl", "{bad\n", "line 1 is not JSON"),
        ("a.jsonl", '{"input_length": -1, "output_length": 1}\n', "must be from 0"),
        ("a.csv.gz", "plain", "not a text trace"),
    ],
)
def test_bad_traces(tmp_path: Path, name: str, text: str, rule: str):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=rule):
        prices.trace_cost("openai/gpt-6.1-sol", path, on=NOV, hour=None)


def test_unknown_names_and_bad_values():
    with pytest.raises(UnknownNameError, match=r"openai/gpt-6\.1-sol"):
        prices.show("gpt-6.1-sool", on=NOV)
    with pytest.raises(InputError, match="hour must be from 0 to 23"):
        prices.show("openai/gpt-6.1-sol", on=NOV, hour=24)
    with pytest.raises(InputError, match="No fast price"):
        prices.cost(
            "deepseek/deepseek-v4-pro", on=NOV, hour=None, input_tokens=1, output_tokens=1,
            tier="fast",
        )  # fmt: skip


def test_published_day():
    day = service_day("deepseek-2025-02-28")
    assert day.account.cost_usd == day.entry["published"]["cost_usd"]
    assert day.account.income_usd == pytest.approx(562_027, rel=2.5e-3)
    with pytest.raises(UnknownNameError):
        service_day("monday")
