"""The page that ships is the page that is written: same sources, same bytes."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "src" / "ridgeline" / "web"
APP, STATIC = WEB / "app", WEB / "static"
BUILT = json.loads((STATIC / "build.json").read_text())


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digest_of_sources() -> str:
    """As build.mjs has it: lines "name sha256", sorted, hashed."""
    paths = [APP / name for name in ("package.json", "package-lock.json", "build.mjs")]
    paths += [path for path in (APP / "src").rglob("*") if path.is_file()]
    lines = [f"{p.relative_to(APP).as_posix()} {sha256(p.read_bytes())}\n" for p in paths]
    return sha256("".join(sorted(lines)).encode())


def test_built_from_these_sources():
    assert BUILT["sources"] == digest_of_sources(), "run bin/web and commit static/"


def test_files_are_those_built():
    present = {p.name: sha256(p.read_bytes()) for p in STATIC.iterdir() if p.name != "build.json"}
    assert present == BUILT["files"]


def test_rebuild_gives_the_same_bytes(tmp_path: Path):
    node = shutil.which("node")
    if node is None or not (APP / "node_modules" / "esbuild").is_dir():
        pytest.skip("needs node and app/node_modules: run bin/web")
    out = tmp_path / "static"
    subprocess.run(  # noqa: S603 - our own build
        [node, "build.mjs", str(out)], cwd=APP, check=True, capture_output=True
    )
    rebuilt = {path.name: path.read_bytes() for path in out.iterdir()}
    assert rebuilt == {path.name: path.read_bytes() for path in STATIC.iterdir()}


def test_page_names_no_other_site():
    """Links of libraries to their documentation are text; nothing is loaded but from here."""
    page = (STATIC / "index.html").read_text()
    assert "http" not in page
    assert 'src="/app.js"' in page
    style = (STATIC / "app.css").read_text()
    assert "url(" not in style
    assert "@import" not in style


def test_every_library_has_its_licence():
    text = (STATIC / "LICENSES.txt").read_text()
    for name in ("echarts", "htm", "preact", "tslib", "zrender"):
        assert f"\n{name} " in text
    assert "Apache License" in text
    assert "Permission is hereby granted" in text
