"""What may not be imported for a fast answer."""

import subprocess
import sys

import pytest


def _modules(statement):
    code = f"import sys\n{statement}\nprint('MODULES', *sys.modules)"
    out = subprocess.run(  # noqa: S603 - our own interpreter, our own words
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(out.stdout.rsplit("MODULES", 1)[1].split())


@pytest.mark.parametrize("verb", ["", "list", "show", "explore"])
def test_help_imports_nothing_heavy(verb):
    words = f"['{verb}', '--help']" if verb else "['--help']"
    run = f"from ridgeline.cli import main\ntry: main({words})\nexcept SystemExit: pass"
    heavy = {"numpy", "yaml", "rich", "pydantic", "matplotlib", "pandas", "fastapi", "uvicorn"}
    assert not heavy & _modules(run)


def test_the_built_in_catalogue_needs_neither_yaml_nor_pydantic():
    run = "from ridgeline.catalog import Catalog\nCatalog().device('h100')"
    assert not {"yaml", "pydantic"} & _modules(run)
