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
