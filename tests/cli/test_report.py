"""`--report FILE.html`: every verb, one self-contained file that holds what was printed."""

import datetime as dt
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from ridgeline.cli import VERBS, _root
from ridgeline.report.html import body_parts
from small_configs import small

FILES = Path(__file__).parents[2] / "docs/files"
ASKED = {
    "cache": "cache llama-3.3-70b --on hgx-h100-8 --hold 5m,1h",
    "calibrate": None,  # below: its rows are made by a test of its own
    "estimate": "estimate llama-3.1-8b --on h100-sxm --batch 1,8",
    "experts": f"experts {FILES / 'routing.csv'} --ranks 8 --redundant 8",
    "explain": f"explain {FILES / 'results.json'} --on h100-sxm",
    "lecture": "lecture C1-Q2",
    "list": "list devices h100",
    "measure": None,  # half a minute; shares every line with the others
    "pipelines": "pipelines deepseek-v3 --on gb200-nvl72 --pp 1:2",
    "plan": "plan llama-3.1-8b --on hgx-h100-8 --isl 1k --osl 128",
    "prices": "prices cost openai/gpt-6.1-sol --input 10k --output 1k --date 2026-11-30",
    "racks": "racks",
    "show": "show device h100-sxm",
    "validate": "validate",
}
MORE = (
    "prices list gpt-6 --date 2026-11-30",
    "prices show openai/gpt-6.1-sol --date 2026-11-30",
    "prices decode google/gemini-3.1-pro-preview --date 2026-11-30 --draws 20000",
    "prices day",
    "prices margin deepseek/deepseek-v4-pro --serve deepseek-v3 --on hgx-h200-8 --utilisation 0.5",
    "prices breakeven llama-3.3-70b --on hgx-h100-8 --utilisation 0.4",
    "prices modes llama-3.3-70b --on hgx-h100-8 --utilisation 0.5",
    "plan llama-3.1-8b --on hgx-h100-8 --isl 1k --osl 128 --emit vllm",
    "estimate llama-3.1-8b --on h100-sxm --batch 8 --sweep memory_bandwidth=0.5x,1x",
    "show model llama-3.1-8b",
    "lecture C1-N7",
)
VOID = {"meta", "br", "img", "link", "path", "use", "rect", "circle"}


class _Reader(HTMLParser):
    """Text and tags of a page; a tag that is not closed is an error."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.words, self.links = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [v for k, v in attrs if k in {"src", "href", "xlink:href", "action"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [v for k, v in attrs if k in {"src", "href", "xlink:href"}]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(page):
    reader = _Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_every_verb_is_asked():
    assert set(ASKED) == set(VERBS) - {"explore"}


@pytest.mark.parametrize("words", [w for w in (*ASKED.values(), *MORE) if w])
def test_page_holds_what_was_printed(words, tmp_path):
    file = tmp_path / "out.html"
    result = CliRunner().invoke(_root, [*words.split(), "--report", str(file)])
    assert result.exit_code in {0, 1} if "validate" in words else result.exit_code == 0
    assert "\0" not in result.output
    assert result.stderr == f"wrote {file}\n"
    page = file.read_text()
    assert len(page) < 2_000_000
    reader = read(page)
    assert "script" not in reader.tags
    assert not [x for x in reader.links if not x.startswith(("#", "data:"))]
    assert "url(http" not in page
    said = re.sub(r"\s+", "", "".join(reader.words))
    numbers = re.findall(r"\d[\d,]*\.?\d*", result.stdout)
    assert [n for n in numbers if n not in said] == []
    assert "ridgeline" + words.split()[0] in said


@pytest.mark.parametrize("words", ["estimate", "plan", "racks", "pipelines", "cache", "experts"])
def test_charts_are_inside(words, tmp_path):
    file = tmp_path / "out.html"
    result = CliRunner().invoke(_root, [*ASKED[words].split(), "--report", str(file)])
    assert result.exit_code == 0
    assert "svg" in read(file.read_text()).tags


@pytest.mark.parametrize(
    "words",
    [
        "estimate llama-3.1-8b --on h100-sxm --batch 1,8 --dtype fp8 --why",
        ASKED["cache"],
        "prices breakeven llama-3.3-70b --on hgx-h100-8 --utilisation 0.4",
        MORE[4],
    ],
)
def test_command_asks_the_same_again(words, tmp_path):
    """The words under `Reproduce` print the same answer."""
    file = tmp_path / "out.html"
    first = CliRunner().invoke(_root, [*words.split(), "--report", str(file)])
    again = re.search(r"<pre>ridgeline (.*?)</pre>", file.read_text())[1]
    repeated = CliRunner().invoke(_root, again.split())
    assert repeated.exit_code == 0, repeated.output
    assert repeated.stdout == first.stdout


def test_prices_of_today_stay_those_of_today(tmp_path):
    """A default day is written into the command, so that it asks for the same day later."""
    file = tmp_path / "out.html"
    CliRunner().invoke(_root, ["prices", "list", "gpt-6", "--report", str(file)])
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    assert f"<pre>ridgeline prices list gpt-6 --date {today}</pre>" in file.read_text()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--report", "out.pdf"], "--report must end in .html, .htm: 'out.pdf'."),
        (["--report", "no/where.html"], "--report: the folder 'no' does not exist."),
        (["--report", "out.html", "--json"], "ask for --json in a second run"),
    ],
)
def test_refused_before_anything_runs(more, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(_root, [*ASKED["estimate"].split(), *more])
    assert sentence in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_markup_in_names_stays_text(tmp_path):
    """A model file's name cannot put markup into the page."""
    model = tmp_path / "<b>x.json"
    model.write_text(json.dumps(small("llama")))
    file = tmp_path / "out.html"
    words = ["estimate", str(model), "--on", "h100-sxm", "--batch", "1", "--report", str(file)]
    assert CliRunner().invoke(_root, words).exit_code == 0
    assert "b" not in read(file.read_text()).tags


def test_every_note_has_a_line_of_its_own():
    """A note after a line as wide as the terminal is no continuation of it."""
    (words,) = body_parts(f"{'long ' * 18}line.\nNote: one.\nNote: two.", [])
    assert words.count("<br>Note: ") == 2
