"""Record the figures of the golden studies anew; say in CHANGELOG.md why they moved."""

import json
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from golden.studies import measured  # noqa: E402 - the path comes first

(TESTS / "golden" / "recorded.json").write_text(json.dumps(measured(), indent=1) + "\n")
