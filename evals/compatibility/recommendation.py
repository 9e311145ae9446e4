"""What a run recommends, as entries to paste into `toolbelt.yaml`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from toolbelt.characters import UNSAFE
from toolbelt.console.text import plural, visible
from toolbelt.evals.comparison.wording import format_margin
from toolbelt.evals.compatibility.matrix import Cell, Matrix, Row
from toolbelt.patterns import fold

_WIDTH = 100
_FULL = "full"


def recommendation(matrix: Matrix, *, evidence: bool = True) -> str:
    """The `models` of a `toolbelt.yaml`: each with the toolset chosen, and what it was chosen by as a comment.

    A model without a sure choice is a comment, with the best as measured if there is reason to hope for it; without
    any choice all is a comment.

    Args:
        matrix: With its picks.
        evidence: Whether to say why; without, the entries alone are given, and only those that are chosen.

    Returns:
        YAML with a line break at its end; empty if there is no entry and no evidence is wanted.
    """
    lines = list(_entries(matrix, evidence=evidence))
    is_any = any(not line.lstrip().startswith("#") for line in lines)
    if not evidence and not is_any:
        return ""
    head = [*(_comment(sentence, "") for sentence in (_head(matrix) if evidence else ()))]
    return "\n".join([*head, "models:" if is_any else "# models:", *lines, ""])


def yaml_text(text: str) -> str:
    """A text as YAML has it on one line, quoted where it must be, unreadable characters spelled out."""
    import yaml

    from toolbelt.documents import with_json_numbers

    dumper = with_json_numbers(getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    plain = UNSAFE.search(text) is None
    style = None if plain else '"'
    shown = yaml.dump(text, Dumper=dumper, allow_unicode=plain, default_style=style, width=2**31 - 1)
    return str(shown).removesuffix("\n").removesuffix("\n...")


def _head(matrix: Matrix) -> Iterator[str]:
    day = f" of {matrix.created[:10]}" if matrix.created else ""
    asked = plural(matrix.cases, "case") + (f" × {plural(matrix.epochs, 'epoch')}" if matrix.epochs > 1 else "")
    yield f"Run {matrix.run}{day}: dataset {matrix.dataset}, catalog {matrix.catalog}, {asked} for each toolset."
    yield (
        f"A model is given the smallest toolset that is surely not worse than its best by more than "
        f"{format_margin(matrix.margin)} points, with a chance below 5% of being wrong."
    )
    yield from matrix.notes


def _entries(matrix: Matrix, *, evidence: bool) -> Iterator[str]:
    taken: dict[str, str] = {}
    for row in matrix.rows:
        pick = row.pick
        earlier = taken.setdefault(fold(row.model), row.model)
        is_entry = pick.choice is not None and earlier == row.model
        if evidence:
            said = pick.reasons if is_entry else tuple(_spoken(row, earlier))
            yield from (_comment(sentence, "  ") for sentence in said)
            if is_entry and (figures := _figures(row)):
                yield _comment(figures, "  ")
        mark = "" if is_entry else "# "
        if is_entry or (evidence and pick.promising is not None and earlier == row.model):
            toolset = pick.toolset if is_entry else _best(row)
            yield f"  {mark}- name: {yaml_text(row.model)}"
            yield f"  {mark}  toolset: {yaml_text(toolset)}"


def _spoken(row: Row, earlier: str) -> Iterator[str]:
    """Why there is nothing to recommend."""
    if earlier != row.model:
        yield f"{row.model}: left out, as a project takes it for {earlier}."
        return
    first, *others = row.pick.reasons or ("nothing is known.",)
    yield f"{row.model}: {first}"
    yield from others


def _best(row: Row) -> str:
    return next(cell.toolset for cell in row.cells if cell is not None and cell.arm == row.pick.best)


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
