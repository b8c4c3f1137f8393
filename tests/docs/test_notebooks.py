"""The notebooks run, and show what the code of today shows."""

import ast
import json
from pathlib import Path

import matplotlib as mpl
import pytest

from ridgeline.report.notebook import result_html

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def test_there_are_three():
    assert [p.stem for p in NOTEBOOKS] == ["estimate", "plan", "prices"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_run_and_show_the_stored_tables(path):
    mpl.use("agg")
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    space, shown = {}, 0
    for cell in cells:
        assert cell["execution_count"], "run dev/build_notebooks.py"
        *body, last = _statements("".join(cell["source"]))
        for statement in body:
            exec(statement, space)  # noqa: S102 - the notebook is ours
        value = eval(last, space) if last.co_name == "<value>" else exec(last, space)  # noqa: S102, S307
        stored = [
            o["data"]["text/html"] for o in cell["outputs"] if "text/html" in o.get("data", {})
        ]
        if stored:
            shown += 1
            assert "".join(stored[0]) == result_html(value), "run dev/build_notebooks.py"
    assert shown >= 2


def _statements(source):
    """Compile a cell statement by statement; the last one, if it has a value, as `<value>`."""
    tree = ast.parse(source).body
    for node in tree[:-1]:
        yield compile(ast.Module([node], []), "<cell>", "exec")
    last = tree[-1]
    if isinstance(last, ast.Expr):
        code = compile(ast.Expression(last.value), "<cell>", "eval")
        yield code.replace(co_name="<value>")
    else:
        yield compile(ast.Module([last], []), "<cell>", "exec")
