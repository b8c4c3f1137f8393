"""Tables as text, Markdown and CSV."""

import csv
import io

from ridgeline.report.table import Column, render_table

COLUMNS = (
    Column(key="name", label="name", align="left", wrap=True),
    Column(key="value_s", label="value"),
)
ROWS = [{"name": "short", "value_s": 0.0123456}, {"name": "a,b|c", "value_s": None}]


def test_text_aligns_numbers_right():
    """Widths follow the longest cell; floats have three digits; missing values are a dash."""
    assert render_table(COLUMNS, ROWS).splitlines() == [
        "name    value",
        "-----  ------",
        "short  0.0123",
        "a,b|c       -",
    ]


def test_text_wraps_to_the_width():
    """A column marked wrap gives way until the table fits."""
    text = render_table(COLUMNS, [{"name": "word " * 40, "value_s": 1.0}], width=60)
    assert max(len(line) for line in text.splitlines()) <= 60


def test_csv_keeps_full_precision_and_quotes():
    """CSV is read back to the same values."""
    lines = list(csv.DictReader(io.StringIO(render_table(COLUMNS, ROWS, style="csv"))))
    assert float(lines[0]["value_s"]) == 0.0123456
    assert lines[1] == {"name": "a,b|c", "value_s": ""}


def test_markdown_has_one_cell_per_column():
    """A pipe inside a cell does not open another one."""
    lines = render_table(COLUMNS, ROWS, style="markdown").splitlines()
    assert {line.count("|") for line in lines} == {3}
