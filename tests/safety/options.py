"""Print the options of every `toolbelt` command, as JSON; run with the Python of the environment to look at."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

_OF_PARAMETERS = (
    *("name", "param_type_name", "opts", "secondary_opts", "envvar", "required", "default", "multiple", "nargs"),
    *("hidden", "is_flag", "flag_value", "count", "is_eager"),
)
_OF_TYPES = ("name", "choices", "case_sensitive", "min", "max", "min_open", "max_open", "clamp", "exists")


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Sequence):
        return [_plain(one) for one in value]
    return "<callable>" if callable(value) else re.sub(r" at 0x[0-9a-f]+", "", str(value))


def _parameter(parameter: click.Parameter) -> dict[str, Any]:
    kind = {key: _plain(getattr(parameter.type, key)) for key in _OF_TYPES if hasattr(parameter.type, key)}
    return {"type": kind} | {key: _plain(getattr(parameter, key, None)) for key in _OF_PARAMETERS}


def describe(command: click.Command, path: Sequence[str], parent: click.Context | None = None) -> dict[str, Any]:
    """What a command takes, and all commands below it, by their names."""
    context = click.Context(command, info_name=path[-1], parent=parent)
    about: dict[str, Any] = {"hidden": command.hidden, "deprecated": bool(command.deprecated)}
    about["parameters"] = [_parameter(one) for one in command.get_params(context)]
    found = {" ".join(path): about}
    if isinstance(command, click.Group):
        about["commands"] = command.list_commands(context)
        for name in about["commands"]:
            if (inner := command.get_command(context, name)) is not None:
                found |= describe(inner, [*path, name], context)
    return found


def _tell(self: click.Command, *_args: Any, **_settings: Any) -> NoReturn:
    click.echo(json.dumps(describe(self, ["toolbelt"]), indent=1))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    click.Command.main = _tell  # type: ignore[method-assign]  # so the root command is found, wherever it is
    sys.argv = ["toolbelt"]
    from toolbelt.cli import main

    main()
