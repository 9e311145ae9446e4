"""What a run recommends, as entries to paste into `toolbelt.yaml`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.number_format import format_margin
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow
from toolbelt.evals.analysis.matrix.note_text import describe_matrix_notes
from toolbelt.evals.analysis.matrix.pick_text import describe_pick, format_whole_percent
from toolbelt.evals.running.top_up import times_epochs
from toolbelt.evals.toolsets.spec import FULL
from toolbelt.models.project_models import ProjectModel, project_model_data
from toolbelt.patterns import fold
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.sources import format_yaml
from toolbelt.stores.config import Config, read_config
from toolbelt.text import UNSAFE, plural, visible

_WIDTH = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
UNSURE = "  # as measured, not sure"
"""The comment after a recommendation that is not sure."""


def recommendation(matrix: Matrix, *, evidence: bool = True) -> str:
    """The `models` of a `toolbelt.yaml`: each with the toolset chosen, and what it was chosen by as a comment.

    A choice that is not sure says so on its line. A model without a choice is a comment; without any choice all is.
    If the project already has an entry for a model, the new entry repeats all of it, so that it can replace the old
    one: the reader refuses two entries of one name.

    Args:
        matrix: With its picks and the project's own entries.
        evidence: Whether to add the reasons as comments; otherwise only the entries of chosen toolsets are given.

    Returns:
        YAML with a line break at its end; empty if there is no entry and no evidence is wanted.
    """
    lines = list(_entries(matrix, evidence=evidence))
    is_any = any(row.pick.choice is not None for row in matrix.rows)
    if not evidence and not is_any:
        return ""
    head = [*(_comment(sentence, "") for sentence in (_head(matrix, is_any=is_any) if evidence else ()))]
    return "\n".join([*head, "models:" if is_any else "# models:", *lines, ""])


def yaml_text(text: str) -> str:
    """A text as YAML has it on one line, quoted where it must be, unreadable characters spelled out."""
    is_text = _SURROGATE.search(text) is None
    style = None if is_text and UNSAFE.search(text) is None else '"'
    return _dumped(text, text, style).removesuffix("\n...")


def _dumped(value: object, text: str, style: str | None = None) -> str:
    """A value as YAML, without the line break at its end; unreadable characters of its text are spelled out."""
    is_text = _SURROGATE.search(text) is None  # half a character cannot be handed to the faster one
    plain = is_text and UNSAFE.search(text) is None
    shown = format_yaml(value, pure=not is_text, allow_unicode=plain, default_style=style, width=2**31 - 1)
    return shown.removesuffix("\n")


def _head(matrix: Matrix, *, is_any: bool) -> Iterator[str]:
    day = f" of {matrix.created[:10]}" if matrix.created else ""
    cases = plural(matrix.cases, "case") + times_epochs(matrix.epochs, matrix.arm_epochs)
    yield f"Run {matrix.run}{day}: dataset {matrix.dataset}, catalog {matrix.catalog}, {cases} for each toolset."
    is_unsure = any(row.pick.choice is not None and not row.pick.sure for row in matrix.rows)
    yield (
        f"A model is given the smallest toolset that is surely not worse than its best by more than "
        f"{format_margin(matrix.margin)} points, with a chance below 5% of being wrong"
        f"{'; where none is, the best as measured' if is_unsure else ''}."
    )
    yield from describe_matrix_notes(matrix)
    if is_any:
        there = (
            "where a model has an entry there, its `toolset` alone"
            if matrix.own_models is None
            else "what is said to stand in the place of an entry replaces it, and says all that it said"
            if any(_own(matrix, row) for row in matrix.rows if row.pick.choice is not None)
            else ""
        )
        yield f"Where toolbelt.yaml has `models:` already, add what is below that line to it{there and f'; {there}'}."


def _entries(matrix: Matrix, *, evidence: bool) -> Iterator[str]:
    taken: dict[str, str] = {}
    for row in matrix.rows:
        pick = row.pick
        # Of two spellings of a name, the first that has something chosen.
        earlier = taken.setdefault(fold(row.model), row.model) if pick.choice is not None else row.model
        is_entry = pick.choice is not None and earlier == row.model
        if evidence:
            sentences = describe_pick(pick) if is_entry else tuple(_why_no_choice(row, earlier))
            yield from (_comment(sentence, "  ") for sentence in sentences)
            if is_entry and (figures := _figures(row)):
                yield _comment(figures, "  ")
        if is_entry:
            yield from _entry(row, _own(matrix, row))


def _own(matrix: Matrix, row: ModelRow) -> ProjectModel | None:
    """What the project says of a model; it takes names for the same as `ModelTable.find_own` does."""
    return ModelTable(own=matrix.own_models or ()).find_project_model(row.model)


def _entry(row: ModelRow, own: ProjectModel | None) -> Iterator[str]:
    """The lines of a model: all that the project says of it, and its toolset."""
    pick = row.pick
    data: dict[str, Any] = {} if own is None else project_model_data(own)
    if own is not None:
        again = ", which says so already" if own.toolset == pick.toolset else ""
        yield _comment(f"In place of the entry of that name in toolbelt.yaml{again}:", "  ")
        if data.get("tool_calling") is False:
            del data["tool_calling"]
            yield _comment("Without its `tool_calling: false`, as what calls no tools can be given none.", "  ")
    if own is None and row.asked_as:
        data = {"name": row.asked_as, "label": row.model}
    yield f"  - name: {yaml_text(data.pop('name', row.model))}"
    data.pop("toolset", None)
    if "prices" in data:
        data["prices"] = {key: price for key, price in data["prices"].items() if price is not None}
    if data:
        yield textwrap.indent(_dumped(data, _texts(data)), "    ")
    yield f"    toolset: {yaml_text(pick.toolset)}{'' if pick.sure else UNSURE}"


def _texts(data: Mapping[str, Any]) -> str:
    return "".join(value for value in data.values() if isinstance(value, str))


def _why_no_choice(row: ModelRow, earlier: str) -> Iterator[str]:
    """The reasons why nothing is recommended for a model."""
    if earlier != row.model:
        yield f"{row.model}: left out, as a project takes it for {earlier}."
        return
    first, *others = describe_pick(row.pick) or ("nothing is known.",)
    yield f"{row.model}: {first}"
    yield from others


def _figures(row: ModelRow) -> str:
    """What the choice sends, against everything there is: over a trial, or, where that never was asked, at first."""
    cells = [cell for cell in row.cells if cell is not None]
    chosen = next(cell for cell in cells if cell.arm == row.pick.choice)
    full = next((cell for cell in cells if cell.toolset == str(FULL) and cell is not chosen), None)
    sent, first = chosen.definition_tokens_total, chosen.definition_tokens
    if sent is None:
        return ""
    against = ""
    fits = f"; {format_whole_percent(chosen.share)} of its window at first" if chosen.share is not None else ""
    if full is not None and full.definition_tokens_total:
        many = full.definition_tokens_total
        against = f", {format_whole_percent(sent / many)} of full's {many:,.0f}"
    elif full is not None and full.definition_tokens and first is not None:
        many = full.definition_tokens
        against = (
            f"; {first:,.0f} at the first request, {format_whole_percent(first / many)} of the {many:,.0f} of full"
        )
        against += ", of which no trial was scored"
    return f"Definitions: {sent:,.0f} tokens a trial{against}{fits}."


def _comment(sentence: str, indent: str) -> str:
    lead = f"{indent}# "
    return textwrap.fill(
        visible(sentence),
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=lead,
        break_long_words=False,
        break_on_hyphens=False,
    )


def written_models(config: Config) -> tuple[ProjectModel, ...]:
    """The entries under `models`, also those that are a name and nothing else."""
    named = {own.name for own in config.own_models}
    return (*config.own_models, *(ProjectModel(name) for name in config.models if name not in named))


def models_at(path: str | None) -> tuple[ProjectModel, ...] | None:
    """The same of a file that was used once; `None` if there was none, it is gone, or something is wrong with it.

    Args:
        path: Absolute, of a `toolbelt.yaml`.
    """
    if path is None or not Path(path).is_file():
        return None
    try:
        return written_models(read_config(Path(path).parent, path))
    except (ToolbeltError, OSError):
        return None
