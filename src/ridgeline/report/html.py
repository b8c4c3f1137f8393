"""One self-contained HTML page out of what a command prints: no script, no address is fetched."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ridgeline.report.table import Collected, format_cell

_FULL = 80
"""A printed line longer than this was probably wrapped."""
MARK = re.compile(r"\x00(\d+)\x00")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --line: #d4d7db; --soft: #f3f4f6; --dim: #5b626b }
@media (prefers-color-scheme: dark) { :root { --line: #3b4047; --soft: #1f2328; --dim: #a3abb5 } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 0 .3rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
p { margin: .5rem 0 } .dim { color: var(--dim) }
code, pre { font: .85em/1.45 ui-monospace, monospace }
pre { background: var(--soft); overflow-x: auto; padding: .7rem }
.wide { overflow-x: auto; margin: .5rem 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem }
caption { text-align: left; font-weight: 600; padding: .3rem 0 }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left;
  vertical-align: top }
th { white-space: nowrap } .n { text-align: right; white-space: nowrap }
figure { background: #fff; margin: 1rem 0; overflow-x: auto; padding: .5rem }
figure svg, figure img { height: auto; max-width: 100%; min-width: 40rem }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a report says."""

    title: str
    question: str
    command: str
    text: str
    """As printed, with a mark in place of every collected table."""
    tables: Sequence[Collected]
    asked: Collected
    sources: Sequence[tuple[str, Collected]]
    """Figures with their sources, by caption."""
    charts: Sequence[Path]
    made: str
    """Versions and day."""


def page_html(page: Page) -> str:
    """Return the whole document."""
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{escape(page.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f'<h1>{escape(page.title)}</h1>\n<p class="dim">{escape(page.question)}</p>',
        *body_parts(page.text, page.tables),
    ]
    parts += [f"<figure>{_chart(path)}</figure>" for path in page.charts]
    parts += ["<h2>Asked</h2>", table_html(page.asked)]
    if page.sources:
        parts.append("<h2>Figures and their sources</h2>")
        parts += [table_html(table, caption) for caption, table in page.sources]
    parts += [
        f"<h2>Reproduce</h2>\n<pre>{escape(page.command)}</pre>",
        f'<p class="dim">{escape(page.made)}</p>\n</body>\n</html>\n',
    ]
    return "\n".join(parts)


def body_parts(text: str, tables: Sequence[Collected]) -> Iterator[str]:
    """Yield paragraphs, lists, blocks and tables in the order in which they were printed."""
    lines: list[str] = []
    for line in text.splitlines():
        found = MARK.search(line)
        if found is None:
            lines.append(line)
            continue
        caption = ""
        if lines and lines[-1].strip() and not lines[-1].startswith((" ", "- ")):
            caption = lines.pop().rstrip(":")
        yield from _prose(lines)
        lines = []
        yield table_html(tables[int(found[1])], caption)
    yield from _prose(lines)


def _prose(lines: Iterable[str]) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        if not block.strip():
            continue
        head, _, rest = block.strip("\n").partition("\n")
        items = re.split(r"\n?^- ", rest, flags=re.MULTILINE)[1:]
        if head in {"notes:", "notes"} and items:
            listed = "".join(f"<li>{escape(' '.join(item.split()))}</li>" for item in items)
            yield f"<h2>Notes</h2>\n<ul>{listed}</ul>"
        elif re.search(r"\S {2,}\S|^ {4}|\\$|^\s*[-#$]", block, flags=re.MULTILINE):
            yield f"<pre>{escape(block.strip(chr(10)))}</pre>"
        else:
            yield f"<p>{'<br>'.join(escape(line) for line in _sentences(block))}</p>"


def _sentences(block: str) -> Iterator[str]:
    """Yield lines as they were before they were wrapped to the width of a terminal."""
    sentence = ""
    for line in block.strip("\n").splitlines():
        wrapped = line.startswith(" ") or len(sentence.rsplit("\n", 1)[-1]) > _FULL
        if sentence and (not wrapped or line.startswith("Note: ")):
            yield " ".join(sentence.split())
            sentence = ""
        sentence += f"\n{line}"
    yield " ".join(sentence.split())


def table_html(table: Collected, caption: str = "") -> str:
    """Return one table; numbers as the text table prints them."""
    sides = ["" if c.align == "left" else ' class="n"' for c in table.columns]
    head = "".join(
        f'<th scope="col"{side}>{escape(c.label)}</th>'
        for c, side in zip(table.columns, sides, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{side}>{escape(format_cell(row.get(c.key), c.digits))}</td>"
            for c, side in zip(table.columns, sides, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="wide"><table>{title}\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _chart(path: Path) -> str:
    if path.suffix == ".svg":
        drawn = path.read_text(encoding="utf-8")
        drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
        return drawn[drawn.index("<svg") :]
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(path.stem)}" src="data:image/png;base64,{data}">'
