"""The README's promises: its commands exist, its Python runs, its links lead somewhere."""

import re
from pathlib import Path

from click.testing import CliRunner

from ridgeline.cli import VERBS, _root

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_every_verb_is_listed():
    """The table of commands is the command line's own."""
    listed = set(re.findall(r"^\| `(\w+)` \|", README, flags=re.MULTILINE))
    assert listed >= set(VERBS)


def test_commands_run():
    """Every `bin/ridgeline ...` line of the README exits with 0."""
    commands = re.findall(r"^\$ bin/ridgeline (.+)$", README, flags=re.MULTILINE)
    assert commands
    for command in commands:
        result = CliRunner().invoke(_root, command.split())
        assert result.exit_code == 0, f"{command}: {result.output}"


def test_python_block_runs(capsys):
    """The ten-line example runs as it stands."""
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - the README is ours
    assert capsys.readouterr().out


def test_links_lead_somewhere():
    """Relative links point at files of the repository."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_errors_are_those_of_the_page_of_all_errors():
    """Every family with a median in the README has the same one in docs/validation.md."""
    page = (ROOT / "docs/validation.md").read_text()
    block = README.split("<!-- errors -->")[1].split("<!-- /errors -->")[0]
    rows = re.findall(r"^\| .+ \| ([\d,]+) rows.* \| ([\d.]+ %) \|$", block, flags=re.MULTILINE)
    assert len(rows) > 10
    for count, error in rows:
        line = rf"^\| .+ \| Y \| {count} \| \d+ \| {re.escape(error)} "
        assert re.search(line, page, flags=re.MULTILINE), (count, error)
