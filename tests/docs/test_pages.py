"""Every command and Python block of docs/ runs, and the pages show what it prints."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _dev(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"dev/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs = _dev("build_docs")
PAGES = docs.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_commands_run_and_print_what_the_page_shows(page, tmp_path, monkeypatch):
    text = page.read_text()
    monkeypatch.chdir(tmp_path)
    docs.in_files_of(text, tmp_path)
    for kind, body in docs.blocks(text):
        for command in docs.commands(body) if kind == "bash" else ():
            code, printed = docs.run(command)
            assert code == docs.expected_exit(command), f"{command}: {printed}"
    codes = []
    assert docs.rendered(text, codes) == text, f"run `python dev/build_docs.py`: {page.name}"
    assert [(c, code) for c, code in codes if code != docs.expected_exit(c)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_python_blocks_run(page):
    space = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(block, page.name, "exec"), space)  # noqa: S102 - the page is ours


def test_links_lead_somewhere():
    links = [
        (page, target)
        for page in ROOT.glob("docs/**/*.md")
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text())
    ]
    assert links
    broken = [f"{page.name}: {to}" for page, to in links if not (page.parent / to).exists()]
    assert broken == []


def test_commands_are_found():
    """The rule that finds commands finds some on every how-to page."""
    howto = [p for p in PAGES if p.parent.name in {"howto", "tutorial"}]
    assert len(howto) >= 8
    for page in howto:
        found = [c for _, body in docs.blocks(page.read_text()) for c in docs.commands(body)]
        assert found, page.name


def test_reference_is_current(tmp_path):
    """The generated pages are what the generator, alone in a process, writes today."""
    script = str(ROOT / "dev/build_reference.py")
    subprocess.run([sys.executable, script, str(tmp_path)], check=True)  # noqa: S603 - our own
    pages = sorted(p.name for p in tmp_path.iterdir())
    assert pages == sorted(p.name for p in (ROOT / "docs/reference").iterdir())
    for name in pages:
        committed = (ROOT / "docs/reference" / name).read_text()
        assert committed == (tmp_path / name).read_text(), f"run dev/build_reference.py: {name}"


def test_help_holds_no_escape():
    """Click's marks for kept line breaks do not reach the reader."""
    assert "\\b" not in (ROOT / "docs/reference/cli.md").read_text()
