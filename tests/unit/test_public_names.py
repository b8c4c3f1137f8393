"""The public names are functions, whatever has been imported before."""

import subprocess
import sys

import ridgeline


def test_public_names_stay_functions():
    """A subpackage of the same name would take a function's place once it is imported."""
    code = (
        "import ridgeline, pkgutil\n"
        "rooms = {m.name for m in pkgutil.iter_modules(ridgeline.__path__)}\n"
        "assert not rooms & set(ridgeline.__all__), rooms\n"
        "for _ in range(2):\n"
        "    assert all(callable(getattr(ridgeline, n)) for n in ridgeline.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own words


def test_all_is_sorted_and_complete():
    assert sorted(ridgeline.__all__) == list(ridgeline.__all__)
