"""Every citation key in a docstring stands in the bibliography."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEY = re.compile(r"\b([a-z]{3,}(?:19|20)\d\d[a-z0-9]*)\b")


def test_source_keys_exist():
    """A `Source:` line may name a bibliography key, a lecture claim or an address."""
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text()))
    missing = {
        f"{path.relative_to(ROOT)}: {key}"
        for path in (ROOT / "src").rglob("*.py")
        for line in path.read_text().splitlines()
        if "Source:" in line
        for key in KEY.findall(line.split("Source:")[1])
        if key not in known
    }
    assert known
    assert not missing
