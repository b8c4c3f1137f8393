"""Rewrite the generated parts of README.md: the output of its first command and the verbs."""

import re
import subprocess
import sys
from pathlib import Path

from ridgeline.cli import VERBS

README = Path(__file__).parents[1] / "README.md"


def replaced(text: str, name: str, body: str) -> str:
    """Return `text` with what stands between the markers of `name` replaced."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    return re.sub(pattern, lambda m: f"{m[1]}{body}\n{m[2]}", text, flags=re.DOTALL)


def main() -> None:
    """Run the first command of the README and list the verbs."""
    text = README.read_text()
    command = re.search(r"^\$ bin/ridgeline (.+)$", text, flags=re.MULTILINE)
    if command is None:
        sys.exit("README.md has no `$ bin/ridgeline ...` line.")
    done = subprocess.run(
        [sys.executable, "-m", "ridgeline", *command[1].split()],
        capture_output=True,
        text=True,
        check=True,
    )
    output = done.stdout.split("\nnotes:")[0].rstrip()
    text = replaced(text, "output", f"```\n{output}\n```")
    rows = [f"| `{verb}` | {help_text} |" for verb, help_text in VERBS.items()]
    text = replaced(text, "verbs", "\n".join(["| command | question |", "|---|---|", *rows]))
    README.write_text(text)


if __name__ == "__main__":
    main()
