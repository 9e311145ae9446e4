"""`toolbelt view`."""

from __future__ import annotations

import contextlib
import html
import os
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cli.options import store_option
from toolbelt.evals.running.store import RunStore
from toolbelt.render.screen import notify, print_json, progress
from toolbelt.stores.files import state_folder
from toolbelt.text import plural


@click.command(
    epilog=examples(
        "toolbelt view",
        "toolbelt view --store other/runs.db --port 8000 --no-open",
        "toolbelt view --bundle site",
    )
)
@option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    envvar="TOOLBELT_VIEW_PORT",
    help="Of 127.0.0.1, where the page is served.  [default: any that is free]",
)
@option(
    "--no-open",
    is_flag=True,
    envvar="TOOLBELT_VIEW_NO_OPEN",
    help="Print the address, and leave it to you to open it.",
)
@option(
    "--bundle",
    metavar="FOLDER",
    envvar="TOOLBELT_VIEW_BUNDLE",
    help="Write the same pages as files into FOLDER, to share: they need no server. Nothing is served.",
)
@option("--force", is_flag=True, help="With --bundle: write into a FOLDER that holds something.")
@store_option
@json_option
def view(port: int, no_open: bool, bundle: str | None, force: bool, store: str, as_json: bool) -> None:
    """Open a page over all runs of the store: accuracy and tokens over time, any two runs compared, any report.

    It is served to this machine alone until Ctrl-C, and changes nothing. The address holds a token that is new
    each time: whoever has it can read the runs meanwhile.
    """
    path = Path(store)
    with RunStore(path, must_exist=True):
        pass  # a missing or foreign file is an error now, not on the page
    if bundle is not None:
        _write_bundle(path, Path(bundle), force=force, as_json=as_json)
        return
    # starlette and uvicorn
    from toolbelt.evals.browsing.app import is_working, serve_view

    with contextlib.ExitStack() as stack:

        def start(url: str) -> None:
            if as_json:
                print_json({"url": url, "store": store})
                sys.stdout.flush()
            else:
                click.echo(url)
            notify(f"the runs of {store} are shown at this address until Ctrl-C", "toolbelt")
            if not no_open and not webbrowser.open(stack.enter_context(_redirect_file(url))):
                notify("no browser could be opened; open the address above", "toolbelt")

        code = serve_view(path, port, started=start, log=lambda line: notify(line, "toolbelt"))
    if is_working():  # a thread within numpy or matplotlib while the interpreter is torn down may crash the process
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    click.get_current_context().exit(code)


def _write_bundle(store: Path, folder: Path, *, force: bool, as_json: bool) -> None:
    from toolbelt.evals.browsing.bundle import write_bundle
    from toolbelt.evals.browsing.documents import Documents

    if folder.exists() and not folder.is_dir():
        raise ToolbeltError(f"{folder} is no folder.")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise ToolbeltError(f"{folder} is not empty. To write into it all the same: --force")
    pages, problems = write_bundle(Documents(store), folder, progress)
    for problem in problems:
        notify(problem, "warning")
    if as_json:
        print_json({"index": str(folder / "index.html"), "pages": pages, "problems": problems})
    else:
        notify(f"wrote {folder / 'index.html'} and {plural(pages, 'page')} beside it")


@contextlib.contextmanager
def _redirect_file(url: str) -> Iterator[str]:
    """The address of a file of mode 0600 that leads to `url`: a browser's arguments can be read by every user."""
    folder = state_folder(os.environ)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="view-", dir=folder) as private:
        file = Path(private) / "open.html"
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={html.escape(url)}">'
            f'<title>toolbelt view</title><a href="{html.escape(url)}">Open the page</a>\n',
            encoding="utf-8",
        )
        yield file.absolute().as_uri()
