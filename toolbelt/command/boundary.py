"""The one place where what goes wrong becomes a message and an exit code (rule E9)."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Sequence

import click

from toolbelt.command.completion import VARIABLE
from toolbelt.command.environment import read_dotenv
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError, suggestion

OK = 0
USAGE = 2
INFRASTRUCTURE = 3
BUG = 70
INTERRUPTED = 130


def run_command(arguments: Sequence[str], load_root: Callable[[], click.Command]) -> int:
    """Run a command line and return its exit code; nothing is raised.

    Args:
        arguments: Without the program's name.
        load_root: Imports the root command; called once the environment is read.
    """
    _open_missing_streams()
    _make_streams_forgiving()
    if VARIABLE in os.environ:  # a Tab: what is wrong is said when the line is run
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  as above
    try:
        code = _invoke(arguments, load_root)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # click turns the former into the latter
        return _reader_left()
    except click.ClickException as error:
        _show_usage_error(error)
        return error.exit_code
    except ToolbeltError as error:
        _show_error(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _report("interrupted")
        return INTERRUPTED
    except OSError as error:
        return _system_refused(error)
    except Exception as error:  # noqa: BLE001  the last boundary: a bug of ours must not look like a user's mistake
        return _report_bug(error)
    return code


def _invoke(arguments: Sequence[str], load_root: Callable[[], click.Command]) -> int:
    if ignored := read_dotenv(os.environ):
        what = "ignored in .env, which gives keys of its own and no setting or address"
        _report(f"{what}: {', '.join(ignored)}; type the flag, or export the variable", "note")
    result = load_root().main(args=list(arguments), prog_name="toolbelt", standalone_mode=False)
    return result if isinstance(result, int) else OK


def _open_missing_streams() -> None:
    """A caller may have closed any of them (`toolbelt … >&-`), and Python has `None` for it then."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  pathlib is slow to load


def _make_streams_forgiving() -> None:
    """A terminal or file that cannot show a character gets its code, not a crash; a full disk is noticed."""
    if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stdout.buffer, io.RawIOBase):
        # PYTHONUNBUFFERED: a raw stream drops without a word what a full disk does not take.
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(sys.stdout.buffer), encoding=sys.stdout.encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _show_usage_error(error: click.ClickException) -> None:
    from toolbelt.render.screen import wrap_message
    from toolbelt.text import visible_lines

    shown = io.StringIO()
    error.show(file=shown)
    with contextlib.suppress(OSError):
        sys.stderr.write(wrap_message(visible_lines(shown.getvalue())))  # it may repeat what was typed, or pasted
        sys.stderr.flush()


def _show_error(error: ToolbeltError) -> None:
    from toolbelt.render.screen import print_findings
    from toolbelt.text import plural, visible

    if isinstance(error, InvalidFileError):
        with contextlib.suppress(OSError):
            print_findings(error.findings)
        _report(f"{plural(len(error.findings), 'finding')}; nothing was done.")
    else:
        _report(visible(f"{error}{_where_to_look(error)}"))


def _where_to_look(error: ToolbeltError) -> str:
    """The command that lists what there is, where the message names nothing near."""
    if not isinstance(error, NotFoundError) or suggestion(error.name, error.known):
        return ""
    of_catalog = dict.fromkeys(("plugin", "tool", "plugin or tool"), "toolbelt catalog list")
    of_project = {"toolkit": "toolbelt toolkit list", "agent": "toolbelt config show"}
    of_loadouts = {"loadout": "toolbelt loadout list", "catalog": "toolbelt catalog list --shipped"}
    lists = {**of_catalog, **of_project, **of_loadouts}
    return f" See: {lists[error.kind]}" if error.kind in lists else ""


def _report(message: str, label: str = "Error") -> None:
    from toolbelt.render.screen import wrap_message

    with contextlib.suppress(OSError):
        sys.stderr.write(f"{wrap_message(f'{label}: {message}')}\n")
        sys.stderr.flush()


def _reader_left() -> int:
    # `toolbelt … | head`: whoever read has seen enough. Keep the interpreter from flushing into nothing at exit.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _system_refused(error: OSError) -> int:
    place = f" ({ascii(error.filename)[:200]})" if error.filename else ""
    _report(f"the system refused: {error.strerror or error}{place}")
    if error.errno == errno.ENAMETOOLONG:
        return USAGE
    if error.errno == errno.ENOSPC:
        _reader_left()
    return INFRASTRUCTURE


def _report_bug(error: Exception) -> int:
    import tempfile
    import traceback
    from datetime import UTC, datetime

    text = "".join(traceback.format_exception(error))
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    place = "no log file could be written"
    with contextlib.suppress(OSError):
        handle, path = tempfile.mkstemp(prefix=f"toolbelt-{stamp}-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"toolbelt {' '.join(sys.argv[1:])}\n\n{text}")
        place = f"the traceback is in {path}"
    summary = str(error).splitlines()[0] if str(error) else ""
    _report(f"this is a bug in toolbelt: {type(error).__name__}: {ascii(summary)[:200]}; {place}. Please report it.")
    return BUG
