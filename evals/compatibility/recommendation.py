"""What a run recommends, as entries to paste into `toolbelt.yaml`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from toolbelt.characters import UNSAFE
from toolbelt.console.text import plural, visible
from toolbelt.evals.comparison.wording import format_margin
from toolbelt.evals.compatibility.matrix import Cell, Matrix, Row
from toolbelt.patterns import fold

_WIDTH = 100
_FULL = "full"
_SURROGATE = re.compile("[\ud800-\udfff]")
UNSURE = "  # as measured, not sure"
"""Behind what is recommended without being sure."""


def recommendation(matrix: Matrix, *, evidence: bool = True) -> str:
    """The `models` of a `toolbelt.yaml`: each with the toolset chosen, and what it was chosen by as a comment.

    A choice that is not sure says so on its line. A model without a choice is a comment; without any choice all is.

    Args:
        matrix: With its picks.
        evidence: Whether to say why; without, the entries alone are given, and only those that are chosen.

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
    import yaml

    from toolbelt.documents import with_json_numbers

    is_text = _SURROGATE.search(text) is None  # half a character cannot be handed to the faster one
    dumper = with_json_numbers(getattr(yaml, "CSafeDumper", yaml.SafeDumper) if is_text else yaml.SafeDumper)
    plain = is_text and UNSAFE.search(text) is None
    style = None if plain else '"'
    shown = yaml.dump(text, Dumper=dumper, allow_unicode=plain, default_style=style, width=2**31 - 1)
    return str(shown).removesuffix("\n").removesuffix("\n...")


def _head(matrix: Matrix, *, is_any: bool) -> Iterator[str]:
    day = f" of {matrix.created[:10]}" if matrix.created else ""
    asked = plural(matrix.cases, "case") + (f" × {plural(matrix.epochs, 'epoch')}" if matrix.epochs > 1 else "")
    yield f"Run {matrix.run}{day}: dataset {matrix.dataset}, catalog {matrix.catalog}, {asked} for each toolset."
    is_unsure = any(row.pick.choice is not None and not row.pick.sure for row in matrix.rows)
    yield (
        f"A model is given the smallest toolset that is surely not worse than its best by more than "
        f"{format_margin(matrix.margin)} points, with a chance below 5% of being wrong"
        f"{'; where none is, the best as measured' if is_unsure else ''}."
    )
    yield from matrix.notes
    if is_any:
        yield (
            "Where toolbelt.yaml has `models:` already, add what is below that line to it; where a model has an entry "
            "there, its `toolset` alone."
        )


def _entries(matrix: Matrix, *, evidence: bool) -> Iterator[str]:
    taken: dict[str, str] = {}
    for row in matrix.rows:
        pick = row.pick
        # Of two spellings of a name, the first that has something chosen.
        earlier = taken.setdefault(fold(row.model), row.model) if pick.choice is not None else row.model
        is_entry = pick.choice is not None and earlier == row.model
        if evidence:
            said = pick.reasons if is_entry else tuple(_spoken(row, earlier))
            yield from (_comment(sentence, "  ") for sentence in said)
            if is_entry and (figures := _figures(row)):
                yield _comment(figures, "  ")
        if is_entry:
            yield f"  - name: {yaml_text(row.model)}"
            yield f"    toolset: {yaml_text(pick.toolset)}{'' if pick.sure else UNSURE}"


def _spoken(row: Row, earlier: str) -> Iterator[str]:
    """Why there is nothing to recommend."""
    if earlier != row.model:
        yield f"{row.model}: left out, as a project takes it for {earlier}."
        return
    first, *others = row.pick.reasons or ("nothing is known.",)
    yield f"{row.model}: {first}"
    yield from others


def _figures(row: Row) -> str:
    """What the choice sends, against everything there is."""
    cells = [cell for cell in row.cells if cell is not None]
    chosen = next(cell for cell in cells if cell.arm == row.pick.choice)
    full = next((cell for cell in cells if cell.toolset == _FULL and cell is not chosen), None)
    sent, of_full = chosen.definition_tokens_total, None if full is None else _sent(full)
    if sent is None:
        return ""
    against = f", {sent / of_full:.0%} of full's {of_full:,.0f}" if of_full else ""
    fits = f"; {chosen.share:.0%} of its window at first" if chosen.share is not None else ""
    return f"Definitions: {sent:,.0f} tokens a trial{against}{fits}."


def _sent(full: Cell) -> float | None:
    """What was sent, or would have been if it had fitted."""
    return full.definition_tokens if full.definition_tokens_total is None else full.definition_tokens_total


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
