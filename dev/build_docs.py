"""Run the commands of docs/ and write what they print under them.

A ```console block holds `$ ridgeline ...` lines, each with its output below; `| head -N` keeps the
first lines, and `# exit 3` states an exit code other than 0. A ```bash block holds commands alone.
They run in a folder that holds the files of docs/files, and those that the page prints: a block
under a line `name`: is that file.
"""

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from ridgeline.cli import main

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^```(console|bash)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^`([\w./-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"# exit (\d)")


def pages() -> list[Path]:
    """Return the pages written by hand."""
    return sorted(p for p in DOCS.rglob("*.md") if p.parent.name not in {"reference", "decisions"})


def commands(block: str) -> Iterator[str]:
    """Yield the ridgeline commands of a block, continuation lines joined."""
    for line in block.replace("\\\n", " ").splitlines():
        words = line.removeprefix("$ ").strip()
        if words.startswith(("ridgeline ", "bin/ridgeline ")):
            yield words


def run(command: str) -> tuple[int, str]:
    """Return the exit code and what `command` prints, in the current folder."""
    pipe, _, head = command.partition(" | head -")
    words = shlex.split(pipe, comments=True)[1:]
    if words[0] == "explore":  # a server: its words are checked, it is not started
        words.append("--help")
    code = 0
    with CliRunner().isolation() as (_out, _err, both):
        try:
            main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
        text = both.getvalue().decode()
    lines = text.rstrip().splitlines()
    return code, "\n".join(lines[: int(head.split()[0])] if head else lines)


def expected_exit(command: str) -> int:
    """Return the exit code that the page promises."""
    stated = _EXIT.search(command)
    return int(stated[1]) if stated else 0


def blocks(text: str) -> list[tuple[str, str]]:
    """Return (kind, body) of the blocks with commands."""
    return _BLOCK.findall(text)


def rendered(text: str, codes: list[tuple[str, int]]) -> str:
    """Return a page with the output of its console blocks written anew; note exit codes."""

    def block(found: re.Match[str]) -> str:
        if found[1] == "bash":
            return found[0]
        kept = [line for line in re.split(r"^(?=\$ )", found[2], flags=re.MULTILINE) if line]
        parts: list[str] = []
        for part in kept:
            typed = re.match(r"\$ (?:.*\\\n)*.*", part)
            command = next(commands(part), None)
            if typed is None or command is None:
                parts.append(part.rstrip())
            else:
                code, printed = run(command)
                codes.append((command, code))
                parts.append(f"{typed[0]}\n{printed}".rstrip())
        return "```console\n" + "\n".join(parts) + "\n```"

    return _BLOCK.sub(block, text)


def in_files_of(text: str, folder: Path) -> None:
    """Copy docs/files and the files that a page prints into `folder`, and go there."""
    shutil.copytree(DOCS / "files", folder, dirs_exist_ok=True)
    for name, body in _FILE.findall(text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body)
    os.chdir(folder)


def build() -> None:
    """Rewrite every page."""
    for page in pages():
        text = page.read_text()
        with tempfile.TemporaryDirectory() as work:
            in_files_of(text, Path(work))
            page.write_text(rendered(text, []))
            os.chdir(DOCS)


if __name__ == "__main__":
    build()
