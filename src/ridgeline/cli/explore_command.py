"""`ridgeline explore`."""

from __future__ import annotations

import click


@click.command(name="explore")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8400,
    show_default=True,
    help="0: any free one.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the page.")
def command(host: str, port: int, no_browser: bool) -> None:
    """Explore in a browser: every question as a page, and as REST under /api/v1.

    The server listens on this machine only unless --host says otherwise, and reads no files.

    \b
    ridgeline explore
    ridgeline explore --port 9000 --no-browser
    """  # noqa: D301 - click wants the \b character itself
    from ridgeline.web.server import serve  # noqa: PLC0415 - nothing heavy before --help

    serve(host=host, port=port, open_browser=not no_browser, tell=click.echo)
