"""Options that commands share; each has its twin in the environment."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import click

from toolbelt.command.completion import OPTIONS
from toolbelt.command.environment import FLAGS_WITHOUT_VARIABLE, PREFIX
from toolbelt.errors import nearest

Command = TypeVar("Command", bound=Callable[..., Any])


class Choice(click.Choice[str]):
    """One of several words; a wrong one is answered with the nearest, too."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """As click words it, and which one may have been meant."""
        close = nearest(str(value), self.choices, 1)
        return super().get_invalid_choice_message(value, ctx) + "".join(f" Did you mean {name!r}?" for name in close)


def option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    """`click.option` with `TOOLBELT_<NAME>` as its environment variable, shown in the help; consent has none."""
    longest = max((name for name in names if name.startswith("--")), key=len)
    if longest in OPTIONS and not settings.get("is_flag"):
        settings = {"shell_complete": OPTIONS[longest], **settings}
    if longest in FLAGS_WITHOUT_VARIABLE:
        return click.option(*names, **settings)
    variable = PREFIX + longest.split("/")[0].strip("-").replace("-", "_").upper()
    return click.option(*names, **{"envvar": variable, "show_envvar": True, **settings})


def gathered(
    parameter: str, make: Callable[..., Any], options: Sequence[Callable[[Command], Command]]
) -> Callable[[Command], Command]:
    """Options that a command gets as one value.

    Args:
        parameter: The command's parameter for the value.
        make: Makes the value; its parameters have the names of the options'. One with a default may have no option.
        options: In the order of the help.
    """
    names = inspect.signature(make).parameters

    def add_all(command: Command) -> Command:
        @functools.wraps(command)
        def run(**values: Any) -> Any:
            value = make(**{name: values.pop(name) for name in names if name in values})
            return command(**{parameter: value}, **values)

        decorated = cast("Command", run)
        for add in reversed(options):
            decorated = add(decorated)
        return decorated

    return add_all


catalog_option = option(
    "--catalog",
    "-c",
    metavar="C",
    help="A shipped catalog, a dataset folder, a file, or Python code to import, as file.py or module:attribute.  "
    "[default: toolbelt.yaml's, else assistant]",
)
config_option = option("--config", metavar="FILE", help="A toolbelt.yaml.  [default: the nearest from here upward]")
tokenizer_option = option(
    "--tokenizer", metavar="T", help="o200k_base, cl100k_base or estimate.  [default: o200k_base]"
)
json_option = option("--json", "as_json", is_flag=True, help="Print one JSON document.", envvar="TOOLBELT_JSON")
