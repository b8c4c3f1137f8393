"""Whatever people read at the prompt fits 100 columns."""

import pytest
from click.testing import CliRunner

from ridgeline.cli import _root

COMMANDS = [
    "list models",
    "list devices",
    "list clusters",
    "list prices",
    "list formats",
    "show device b200",
    "show cluster gb200-nvl72",
    "show model gpt-oss-120b",
    "lecture",
    "lecture C1-N7 --why",
    "estimate qwen3-235b-a22b --on hgx-h200-8 --batch 1:64 --why",
    "estimate llama-3.1-8b --on mi300x --batch 8",
    "plan gpt-oss-120b --on hgx-h100-8 --isl 2k --osl 512",
    "pipelines deepseek-v3 --on gb200-nvl72 --pp 1:4",
    "racks",
    "cache llama-3.3-70b --on hgx-h100-8",
    "prices show deepseek-v3",
    "prices decode deepseek-chat",
    "prices day",
    "prices coverage",
    "prices cost claude-opus-4-5 --input 10000 --output 1000 --cached 8000",
    "validate",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_output_fits_the_screen(command):
    """An address is the only word that may be longer than a line."""
    result = CliRunner().invoke(_root, command.split())
    assert result.exit_code == 0, result.output
    wide = [x for x in result.output.splitlines() if len(x) > 100 and "https://" not in x]
    assert wide == []
