"""Rewrite the generated parts of README.md: its first command's output, verbs, errors."""

import re
import subprocess
import sys
from pathlib import Path

from ridgeline.cli import VERBS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
ERRORS = {
    "time per output token at fixed concurrency": ("serving tpot", "of InferenceX"),
    "throughput at fixed concurrency": ("serving throughput", "of InferenceX"),
    "offline throughput": ("offline max", "of TensorRT-LLM"),
    "steps with prompts, old eager engines among them": ("prefill step", "of vLLM"),
    "decode steps": ("decode step", "of vLLM"),
    "single-stream decode in llama.cpp": ("local decode", ""),
    "bf16 GEMM": ("gemm bf16", ""),
    "fp8 GEMM": ("gemm fp8", ""),
    "prefill attention": ("prefill attention", ""),
    "decode attention": ("decode attention", ""),
    "MLA decode": ("mla decode", ""),
    "grouped GEMM of experts": ("grouped gemm", ""),
    "collectives, old libraries among them": ("collective", ""),
    "expert exchange": ("expert exchange", "of DeepEP"),
}
"""What it is to a reader, to its family in docs/validation.md and its source."""


def replaced(text: str, name: str, body: str) -> str:
    """Return `text` with what stands between the markers of `name` replaced."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    return re.sub(pattern, lambda m: f"{m[1]}{body}\n{m[2]}", text, flags=re.DOTALL)


def errors() -> str:
    """Return the table of measured errors, from the generated page of all of them."""
    page = (ROOT / "docs/validation.md").read_text()
    lines = ["| what | against | median error |", "|---|---|---|"]
    for what, (family, source) in ERRORS.items():
        found = re.search(
            rf"^\| {family} \| Y \| ([\d,]+) \| (\d+) \| ([\d.]+ %)", page, flags=re.MULTILINE
        )
        if found is None:
            sys.exit(f"docs/validation.md has no family {family!r}.")
        rows, groups, error = found.groups()
        pairs = "one model and chip" if groups == "1" else f"{groups} pairs of model and chip"
        against = " ".join(x for x in (f"{rows} rows", source) if x)
        lines.append(f"| {what} | {against}, {pairs} | {error} |")
    return "\n".join(lines)


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
    text = replaced(text, "errors", errors())
    README.write_text(text)


if __name__ == "__main__":
    main()
