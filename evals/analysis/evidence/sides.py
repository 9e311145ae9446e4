"""Finds runs, baselines and their arms by the names that users give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from toolbelt.errors import NotFoundError, ToolbeltError, nearest
from toolbelt.evals.analysis.evidence.evidence import ArmName, Side
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.running.run_names import is_file_name
from toolbelt.evals.running.store import RunStore

_BASELINE = ".json"
_NUMBER = re.compile(r"#?([1-9][0-9]{0,5})")
_BETWEEN = re.compile(r"[\s·]+")
"""What may stand between model, toolset and variant: `mine · full`, or `mine full`, which is easier to type."""


@contextmanager
def open_side(name: str, store: Path) -> Iterator[Side]:
    """Open the run or baseline of that name; it is closed at the end of the `with` block.

    Args:
        name: A run's id, the beginning of one, `latest`, or the path of a baseline.
        store: The file of runs; not opened for a baseline.

    Raises:
        NotFoundError: there is no such run; the error lists the nearest names.
        InvalidFileError: the baseline is broken.
        ToolbeltError: several runs begin so.
    """
    if is_path(name):
        from toolbelt.evals.analysis.evidence.baseline_reader import read_baseline

        yield read_baseline(_existing(Path(name)))
        return
    with RunStore(store, must_exist=True) as opened:
        try:
            row = opened.get(name)
        except NotFoundError as error:
            hint = error.hint or "A baseline is named by its file, such as reports/baseline.json."
            raise NotFoundError(error.kind, name, error.known, hint) from None
        yield StoredRun(opened, row)


def is_path(name: str) -> bool:
    """Whether a side of that name is a file, not a run; see `toolbelt.evals.running.run_names.is_file_name`."""
    return is_file_name(name, (_BASELINE,))


def find_arm(arms: Sequence[ArmName], name: str) -> int:
    """The 0-based position of the arm with that name; see `find_arms`.

    Raises:
        NotFoundError: no arm has that name; the error lists the nearest names.
        ToolbeltError: several arms have it; the error lists them.
    """
    places = find_arms(arms, name)
    if len(places) > 1:
        shown = ", ".join(f"{arms[place].label!r} (#{place + 1})" for place in places[:10])
        more = f" and {len(places) - 10:,} more" if len(places) > 10 else ""
        raise ToolbeltError(f"{len(places)} arms have the name {name!r}; name one of them: {shown}{more}.")
    return places[0]


def choose_arms(arms: Sequence[ArmName], names: Sequence[str]) -> tuple[int, ...]:
    """The 0-based positions of the arms that go by any of the names, each once, in their own order.

    Args:
        arms: Of a side.
        names: As for `--arm`: each may be several, with commas between.

    Raises:
        NotFoundError: none goes by one of them.
        ToolbeltError: something was asked for, and no name is in it.
    """
    return tuple(sorted({place for name in split_arms(names) for place in find_arms(arms, name)}))


def split_arms(names: Sequence[str]) -> list[str]:
    """Names of arms as they were asked for, of which each may be several with commas between.

    Raises:
        ToolbeltError: something was asked for, and no name is in it.
    """
    parts = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if names and not parts:  # an empty variable of a CI must not come to "no arm at all", which nothing speaks against
        raise ToolbeltError("No arm is named where arms were asked for: name one, or leave it out for all.")
    return parts


def find_arms(arms: Sequence[ArmName], name: str) -> tuple[int, ...]:
    """The 0-based positions of the arms that go by a name, in order; at least one.

    The first of these that any arm goes by, upper and lower case alike: model, toolset and variant (`mine · full`,
    `mine full · shuffled`); toolset and variant (`full`, `full · shuffled`), whatever the model; the toolset, the
    model or the variant alone; the 1-based number (`#3`, or `3`).

    Raises:
        NotFoundError: none does, with the nearest names.
    """
    normal = _normal(name)
    if not name.lstrip().startswith("#"):
        for names in _WAYS:
            if places := tuple(place for place, arm in enumerate(arms) if normal in map(_normal, names(arm))):
                return places
    number = _NUMBER.fullmatch(name.strip())
    if number and int(number.group(1)) <= len(arms):
        return (int(number.group(1)) - 1,)
    known = dict.fromkeys(part for arm in arms for part in (arm.toolset_label, arm.model, arm.label) if part)
    labels = [arm.label for arm in arms]
    raise NotFoundError("arm", name, nearest(name, known) or labels, "" if arms else "There are no arms.")


_WAYS: tuple[Callable[[ArmName], tuple[str, ...]], ...] = (
    lambda arm: (arm.label,),
    lambda arm: (arm.toolset_label,),
    lambda arm: tuple(part for part in arm.key if part),
)
"""Names of an arm, the longest first."""


def is_toolset_name(arm: ArmName, name: str) -> bool:
    """Whether an arm goes by a name that says nothing of its model."""
    return _normal(name) in map(_normal, filter(None, (arm.toolset_label, arm.toolset, arm.variant)))


def _normal(name: str) -> str:
    return _BETWEEN.sub(" ", name).strip().casefold()


def _existing(path: Path) -> Path:
    """The file of a baseline, or an error that names those beside it."""
    if path.is_file():
        return path
    folder = path if path.is_dir() else path.parent
    beside = sorted(folder.glob(f"*{_BASELINE}"))[:100] if folder.is_dir() else []
    hint = "" if beside else "Save one with: toolbelt eval baseline save"
    raise NotFoundError("baseline", str(path), map(str, beside), hint)
