"""Rows made with known figures give them back; rows that decide nothing are refused with reason."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ridgeline.catalog.calibration import curve_entry, curve_of, read_calibration
from ridgeline.catalog.schema import CurveEntry
from ridgeline.cli import main
from ridgeline.cost.efficiency import Curve
from ridgeline.cost.efficiency_records import CALIBRATED
from ridgeline.cost.own_curves import (
    FIGURES,
    Calibration,
    OwnCurve,
    OwnEngine,
    OwnLink,
    with_curves,
    with_engine,
)
from ridgeline.errors import InputError
from ridgeline.report.calibrate import calibrate_text, calibration_yaml
from ridgeline.study.deploy import deploy
from ridgeline.study.estimate import estimate
from ridgeline.study.explain_changes import answer
from ridgeline.study.explain_run import Run
from ridgeline.validate.calibrate import calibrate, calibration_of
from ridgeline.validate.predict_collectives import predict_collectives
from ridgeline.validate.predict_kernels import kernel_batches
from ridgeline.validate.prediction import calibrated_by
from ridgeline.validate.robust_fit import robust_fit
from ridgeline.validate.truth_rows import read_own_rows

TRUE = replace(
    CALIBRATED.records["gemm", "bf16", "ampere"],
    launch_s=7e-6, compute_share=0.6, bandwidth_share=0.7,
)  # fmt: skip
"""As shipped but for the figures that people know."""


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, rows[0].keys())
        out.writeheader()
        out.writerows(rows)
    return path


def gemm_rows(m: tuple[int, ...]) -> list[dict[str, object]]:
    return [
        {"metric": "gemm_latency", "unit": "us", "value": 1.0, "w_dtype": "bf16", "M": a, "N": n,
         "K": k}
        for a in m for n, k in ((4096, 4096), (14336, 4096), (4096, 14336), (1024, 4096))
    ]  # fmt: skip


def measured(path: Path, rows: list[dict[str, object]], calibration: Calibration) -> Path:
    """Write rows with the values that a calibration predicts."""
    read = read_own_rows(write(path, rows), "a100-sxm-80")
    efficiency = with_curves(CALIBRATED, calibration)
    for batch in kernel_batches(read)[0]:
        for row, seconds in zip(batch.rows, batch.seconds(efficiency), strict=True):
            rows[int(row.id.rpartition(":")[2])]["value"] = seconds * 1e6
    return write(path, rows)


def own(kind: str, curve: Curve, form: str = "bf16") -> Calibration:
    record = OwnCurve(kind=kind, form=form, device="a100-sxm-80", curve=curve)
    return Calibration(curves=(record,))


def test_gemm_figures_are_recovered(tmp_path: Path) -> None:
    """48 rows from 1 to 8192 tokens decide launch and both shares."""
    rows = gemm_rows((1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384))
    path = measured(tmp_path / "mine.csv", rows, own("gemm", TRUE))
    result = calibrate([path], device="a100-sxm-80")
    (record,) = result.records
    assert record.figures["launch_s"] == pytest.approx(7e-6, rel=0.05)
    assert record.figures["compute_share"] == pytest.approx(0.6, rel=0.02)
    assert record.figures["bandwidth_share"] == pytest.approx(0.7, rel=0.02)
    assert record.error_held_out < 0.02 < record.error_shipped


def test_attention_figures_are_recovered(tmp_path: Path) -> None:
    shipped = CALIBRATED.records["attention_decode", "bf16", "ampere"]
    truth = replace(shipped, launch_s=15e-6, bandwidth_share=0.55)
    rows: list[dict[str, object]] = [
        {"metric": "attention_decode_latency", "unit": "us", "value": 1.0, "heads": 32,
         "kv_heads": 8, "head_dim": 128, "batch": b, "kv_len": n}
        for b in (1, 4, 16, 64, 256) for n in (256, 1024, 4096, 16384)
    ]  # fmt: skip
    path = measured(tmp_path / "mine.csv", rows, own("attention_decode", truth))
    (record,) = calibrate([path], device="a100-sxm-80").records
    assert record.what == "attention decode bf16"
    assert record.figures["launch_s"] == pytest.approx(15e-6, rel=0.05)
    assert record.figures["bandwidth_share"] == pytest.approx(0.55, rel=0.02)


def test_disturbed_rows_do_not_move_figures(tmp_path: Path) -> None:
    """Every tenth row took three times as long: another program ran."""
    rows = gemm_rows((1, 4, 16, 64, 256, 512, 1024, 2048, 4096, 8192))
    path = measured(tmp_path / "mine.csv", rows, own("gemm", TRUE))
    for row in rows[::10]:
        row["value"] = 3 * float(str(row["value"]))
    (record,) = calibrate([write(path, rows)], device="a100-sxm-80").records
    assert record.figures["compute_share"] == pytest.approx(0.6, rel=0.1)
    assert record.figures["bandwidth_share"] == pytest.approx(0.7, rel=0.1)


def test_large_products_decide_the_compute_share_alone(tmp_path: Path) -> None:
    """Where every row is bound by arithmetic, launch and bandwidth stay as shipped."""
    rows = gemm_rows((8192, 16384, 32768))
    path = measured(tmp_path / "mine.csv", rows, own("gemm", TRUE))
    (record,) = calibrate([path], device="a100-sxm-80").records
    assert "compute_share" in record.figures
    assert {"launch_s", "bandwidth_share"} <= set(record.kept)


@pytest.mark.parametrize("count", [1, 3])
def test_too_few_rows_are_refused(tmp_path: Path, count: int) -> None:
    path = measured(tmp_path / "mine.csv", gemm_rows((64,))[:count], own("gemm", TRUE))
    with pytest.raises(InputError, match="at least 4 rows are needed"):
        calibrate([path], device="a100-sxm-80")


def test_no_gain_is_refused(tmp_path: Path) -> None:
    """Rows that are as shipped leave nothing to fit."""
    path = measured(tmp_path / "mine.csv", gemm_rows((1, 64, 1024, 8192)), Calibration())
    with pytest.raises(InputError, match="no better than as shipped"):
        calibrate([path], device="a100-sxm-80")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("metric,unit\ngemm_latency,us\n", "needs the columns value"),
        ("metric,unit,value,M,N,K\ngemm_latency,us,1,1,1,1\n", "name no chip"),
        ("metric,unit,value,chip\ngemm_latency,parsec,3,H100 SXM\n", "unit must be us"),
        ("metric,unit,value,chip\nwhatever,us,3,A100-SXM-80GB\n", "is not modelled"),
    ],
)
def test_refused_tables(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        calibrate([path])


def test_link_ratios_are_recovered(tmp_path: Path) -> None:
    link = OwnLink(kind="all_reduce", device="h100-sxm", latency_ratio=2.0, bandwidth_ratio=0.7)
    rows: list[dict[str, object]] = [
        {"metric": "all_reduce_latency", "unit": "us", "value": 1.0, "n_chips": 8, "bytes": 2**n}
        for n in range(12, 31)
    ]
    path = write(tmp_path / "mine.csv", rows)
    with calibrated_by(Calibration(links=(link,))):
        answers = predict_collectives(read_own_rows(path, "h100-sxm"))
    for i, row in enumerate(rows):
        row["value"] = answers[f"mine:{i}"].value
    (record,) = calibrate([write(path, rows)], device="h100-sxm").records
    assert record.figures["latency_ratio"] == pytest.approx(2.0, rel=0.1)
    assert record.figures["bandwidth_ratio"] == pytest.approx(0.7, rel=0.1)


def serving_files(folder: Path, concurrencies: tuple[int, ...]) -> list[Path]:
    """Write results of vllm bench serve whose engine takes 40 µs per layer, 30 µs per sequence."""
    own_engine = OwnEngine(engine="vllm", device="h100-sxm", layer_s=40e-6, sequence_s=30e-6)
    base = deploy("llama-3.1-8b", on="h100-sxm", degrees={"tp": 1}, engine="vllm")
    engine = with_engine(base.engine, Calibration(engines=(own_engine,)), "h100-sxm")
    paths: list[Path] = []
    for c in concurrencies:
        run = Run(
            kind="decode", isl=1000, osl=200, concurrency=c, tpot_s=1, ttft_s=None,
            requests_per_s=1, output_tokens_per_s=1, decoding=c,
        )  # fmt: skip
        found = answer(replace(base, engine=engine), run)
        data = {
            "model_id": "meta-llama/Llama-3.1-8B-Instruct", "backend": "vllm", "completed": c,
            "max_concurrency": c, "total_input_tokens": 1000 * c, "total_output_tokens": 200 * c,
            "request_throughput": found.requests_per_s, "mean_tpot_ms": found.tpot_s * 1e3,
            "output_throughput": found.output_tokens_per_s,
        }  # fmt: skip
        paths.append(folder / f"c{c}.json")
        paths[-1].write_text(json.dumps(data))
    return paths


def test_engine_times_are_recovered(tmp_path: Path) -> None:
    files = serving_files(tmp_path, (1, 2, 8, 32, 64, 128, 256, 512))
    (record,) = calibrate(files, facts={"on": "h100-sxm", "degrees": {"tp": 1}}).records
    assert record.figures["layer_s"] == pytest.approx(40e-6, rel=0.1)
    assert record.figures["sequence_s"] == pytest.approx(30e-6, rel=0.1)
    assert record.error_held_out < record.error_shipped


def test_file_holds_what_was_fitted(tmp_path: Path) -> None:
    """Written, read back and used: the estimate moves as the curves say."""
    rows = gemm_rows((1, 4, 16, 64, 128, 256, 1024, 2048, 4096, 8192))
    path = measured(tmp_path / "mine.csv", rows, own("gemm", replace(TRUE, bandwidth_share=0.4)))
    result = calibrate([path], device="a100-sxm-80")
    out = tmp_path / "mine.yaml"
    out.write_text(calibration_yaml(result))
    found, kept = read_calibration(out), calibration_of(result)
    assert found.curves[0].curve.bandwidth_share == pytest.approx(
        kept.curves[0].curve.bandwidth_share, rel=1e-5
    )
    question = {"on": "a100-sxm-80", "batch": 1, "context": 16}
    before = estimate("llama-3.1-8b", **question)
    after = estimate("llama-3.1-8b", **question, calibration=out)
    assert after.rows["step_s"][0] > 1.5 * before.rows["step_s"][0]
    assert any("gemm from own measurements (mine.yaml)" in f for f in after.flags)
    assert max(len(line) for line in calibrate_text(result, None).splitlines()) <= 100


def test_command_writes_a_file_that_others_read(tmp_path: Path, capsys) -> None:
    rows = gemm_rows((1, 4, 16, 64, 128, 256, 1024, 2048, 4096, 8192))
    path = measured(tmp_path / "mine.csv", rows, own("gemm", TRUE))
    out = tmp_path / "mine.yaml"
    main_ok(["calibrate", str(path), "--device", "a100-sxm-80", "--out", str(out), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["records"][0]["error_held_out"] < document["records"][0]["error_shipped"]
    main_ok(["plan", "llama-3.1-8b", "--on", "a100-sxm-80", "--isl", "512", "--osl", "64",
             "--calibration", str(out), "--json"])  # fmt: skip
    flags = json.loads(capsys.readouterr().out)["flags"]
    assert any("mine.yaml" in f for f in flags)
    page = tmp_path / "page.html"
    main_ok(["calibrate", str(path), "--device", "a100-sxm-80", "--report", str(page)])
    assert "bandwidth share" in page.read_text()


def main_ok(arguments: list[str]) -> None:
    try:
        main(arguments)
    except SystemExit as stop:
        assert not stop.code  # noqa: PT017 - exit 0 or none


def test_ideal_takes_no_calibration(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="goes with --efficiency calibrated"):
        deploy("llama-3.1-8b", on="h100-sxm", efficiency="ideal", calibration=tmp_path / "x.yaml")


def test_fit_stays_within_bounds() -> None:
    """Time 1/x measured at x = 3, bounded to 2."""
    found = robust_fit(
        lambda f: np.log(np.full(9, 1 / 3)) - np.log(1 / f["x"]), {"x": 1.0}, {"x": (0.5, 2.0)}
    )
    assert found is not None
    assert found.figures["x"] == pytest.approx(2.0)


@pytest.mark.skipif("RIDGELINE_TRUTH" not in os.environ, reason="needs a folder of measurements")
@pytest.mark.parametrize(
    ("file", "what", "most"),
    [("kernel_llmservingsim", "gemm bf16", 0.08), ("kernel_vidur", "gemm bf16", 0.06)],
)
def test_real_rows_are_predicted_better_when_left_out(file: str, what: str, most: float) -> None:
    folder = Path(os.environ["RIDGELINE_TRUTH"])
    path = next(folder.glob(f"{file}.csv*"))
    found = [r for r in calibrate([path]).records if r.what == what]
    assert found
    for record in found:
        assert record.error_held_out < min(most, record.error_shipped)


def test_an_entry_holds_every_figure_of_a_curve():
    """Times in µs; what an entry may say is what a curve has."""
    figures = dict.fromkeys(FIGURES, 0.5)
    curve = Curve(**figures, spread=0.1)
    entry = curve_entry(OwnCurve(kind="gemm", form="bf16", device="d", curve=curve))
    assert set(entry) - {"family", "format"} <= set(CurveEntry.model_fields)
    assert entry["ramp_us"] == pytest.approx(0.5e6)
    back = curve_of(entry, "d").curve
    assert {n: getattr(back, n) for n in FIGURES} == pytest.approx(figures)
