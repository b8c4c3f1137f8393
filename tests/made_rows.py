"""Rows of measurements made by hand."""

from ridgeline.validate.truth_rows import TruthRow


def made_row(metric: str, *, chip: str = "H100 SXM", **said: str) -> TruthRow:
    """Return a row of one microsecond-to-second kernel; `said` are its own fields and its cells."""
    own = {name: said.pop(name) for name in ("id", "area", "model", "engine") if name in said}
    return TruthRow(
        **{"file": "f", "id": "1", "area": "kernel", "model": "", "engine": "", **own},
        chip=chip,
        phase="",
        metric=metric,
        unit="us",
        value=1e6,
        scorable="Y",
        cells=said,
    )
