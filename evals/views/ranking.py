"""Models × toolsets ranked, as a table and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from toolbelt.evals.analysis.comparison.number_format import (
    describe_asked,
    format_bounds,
    format_margin,
    format_points,
)
from toolbelt.evals.analysis.matrix.cell import CellState
from toolbelt.evals.analysis.matrix.matrix import Matrix, UnassignableToolsets
from toolbelt.evals.analysis.matrix.note_text import describe_matrix_note
from toolbelt.evals.analysis.matrix.ranking import RankedArm, Ranking, Standing
from toolbelt.evals.models.model import is_word_matching
from toolbelt.evals.toolsets.spec import find_toolset
from toolbelt.evals.views.arms import OF_ASKED, SCORED, proportion
from toolbelt.evals.views.glance import held_back
from toolbelt.evals.views.matrix import legend_note, matrix_table
from toolbelt.evals.views.matrix_text import pick_summary, title_line
from toolbelt.evals.views.result_text import describe_model
from toolbelt.render.numbers import ESTIMATED, NOTHING, format_cost, format_glance, format_seconds, format_share
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Listing, Note
from toolbelt.views.cells import Badge, Count, Dollars, Seconds, Span, Tone
from toolbelt.views.table import Column, Row, Table

_STANDINGS: Mapping[Standing, Badge] = MappingProxyType(
    {
        Standing.BEST: Badge("best", Tone.GOOD),
        Standing.AS_GOOD: Badge("= as good", Tone.GOOD),
        Standing.UNDECIDED: Badge("≈ undecided", Tone.PLAIN),
        Standing.WORSE: Badge("less accurate", Tone.WARNING),
    }
)
_MOST_NAMES = 4


def ranking_view(ranking: Ranking) -> tuple[Block, ...]:
    """The ranking, and what can be concluded from it."""
    return (
        Heading("Which model with which toolset?", level=2),
        ranking_table(ranking),
        *_legend(ranking),
        Listing(tuple(map(Span, (*conclusions(ranking), *_by_case(ranking))))),
    )


def advice_view(matrix: Matrix, ranking: Ranking) -> Iterator[Block]:
    """The ranking, what can be concluded from it, and each model's recommended toolset in a line or two.

    Models × toolsets are a table of their own only where a pair was not scored or not whole; the ranking has the rest.
    """
    yield Heading("Which model with which toolset?", level=2)
    yield Note(f"Run {matrix.run}, {title_line(matrix)}.")
    by_case = tuple(_by_case(ranking))
    notes = (note for note in matrix.notes if not (by_case and isinstance(note, UnassignableToolsets)))
    if warnings := tuple(Span(describe_matrix_note(note), Tone.WARNING) for note in notes):
        yield Listing(warnings)
    yield ranking_table(ranking)
    yield from _legend(ranking)
    if any(cell is None or cell.state is not CellState.SCORED for row in matrix.rows for cell in row.cells):
        yield matrix_table(matrix)
        if (legend := legend_note(matrix)) is not None:
            yield legend
    picks = (f"{row.model}: {pick_summary(row, matrix)}" for row in matrix.rows)
    yield Listing(tuple(map(Span, (*conclusions(ranking), *by_case, *picks))))


def _legend(ranking: Ranking) -> Iterator[Block]:
    """What the words of the table mean that are not plain."""
    meanings = {
        Standing.AS_GOOD: f"surely not worse than the best by more than {format_margin(ranking.margin)} points",
        Standing.UNDECIDED: "these cases cannot tell, by p adjusted over all arms where it is given",
    }
    present = {each.standing for each in ranking.arms}
    shown = [f"{_STANDINGS[standing].word}: {text}" for standing, text in meanings.items() if standing in present]
    if shown:
        yield Note("; ".join(shown), Tone.FAINT)


def ranking_table(ranking: Ranking) -> Table:
    """Arms by what is right of all asked, with ties, cost and latency; what is the same for all is left out."""
    has_costs = any(each.arm.cost_usd for each in ranking.arms)
    has_latencies = not all(is_word_matching(each.arm.model) for each in ranking.arms)
    columns = (
        Column("accuracy", "Right tools called, by name, of the scored trials.", has_interval=True),
        Column("standing", "Against the most accurate arm.", is_text=True),
        Column("points", "Less the share of the best, in percentage points, with its 95% interval."),
        Column("prompt tokens", "Over all requests of a trial; ~ estimated.", "prompt\ntokens"),
        *((Column("cost per trial", "In US dollars.", "cost\n/trial", is_spare=True),) if has_costs else ()),
        *((Column("latency median", "Of a request.", "latency\nmedian", is_spare=True),) if has_latencies else ()),
    )
    is_one = len({each.arm.model for each in ranking.arms}) == 1
    is_cut = any(each.arm.too_long for each in ranking.arms)
    if is_cut:
        columns = (columns[0], OF_ASKED, *columns[1:])
    if is_partial := any(each.arm.scored != each.arm.planned for each in ranking.arms):
        columns = (*columns, SCORED)
    rows = tuple(
        _row(ranking, each, has_costs, has_latencies, is_cut, is_partial)._replace(
            label=each.arm.toolset_label if is_one else each.arm.label
        )
        for each in ranking.arms
    )
    return Table("toolset" if is_one else "model · toolset", columns, rows, name="ranking")


def _row(
    ranking: Ranking, each: RankedArm, has_costs: bool, has_latencies: bool, is_cut: bool, is_partial: bool
) -> Row:
    arm = each.arm
    mark = "" if arm.prompt_tokens_reported or arm.prompt_tokens is None else ESTIMATED
    cells = (
        proportion(arm.accuracy),
        *((proportion(arm.right_of_asked),) if is_cut else ()),
        _standing(each),
        Span(_points(ranking, each)),
        Span(mark + format_glance(arm.prompt_tokens)),
        *((Dollars(arm.cost_usd),) if has_costs else ()),
        *((Seconds(arm.latency_seconds),) if has_latencies else ()),
        *((Count(arm.scored, arm.planned),) if is_partial else ()),
    )
    return Row(arm.label, cells)


def _standing(each: RankedArm) -> Badge:
    badge = _STANDINGS[each.standing]
    return badge if each.contrast is None else badge._replace(word=f"{badge.word}{held_back(each.contrast)}")


def _points(ranking: Ranking, each: RankedArm) -> str:
    contrast = each.contrast
    if contrast is None or contrast.difference is None:
        return NOTHING
    if contrast.low is None or contrast.high is None:
        return format_points(contrast.difference)
    return f"{format_points(contrast.difference)} ({format_bounds(contrast.low, contrast.high, ranking.margin)})"


def conclusions(ranking: Ranking) -> Iterator[str]:
    """What these cases say, and what more of them would cost; names are as they come."""
    best, others = ranking.arms[0], [each for each in ranking.tied if each.standing is not Standing.BEST]
    rate = best.arm.right_of_asked
    is_whole = rate.denominator == best.arm.planned == ranking.cases
    right = format_share(rate.value)
    right += f" of {describe_asked(rate.denominator, best.arm.too_long, 'case' if is_whole else 'trial')}"
    sure = "" if others else "; it is surely more accurate than every other"
    yield f"Most accurate as measured: {_name(best)}, right in {right}{sure}."
    if not others:
        return
    undecided = [each for each in others if each.standing is Standing.UNDECIDED]
    as_good = [each for each in others if each.standing is Standing.AS_GOOD]
    if as_good:
        yield f"As good within {format_margin(ranking.margin)} points: {_names(as_good)}."
    if undecided:
        yield f"These cases cannot tell it from {_names(undecided)}."
    them = "them" if len(ranking.tied_asked_most) == len(ranking.tied) else "those that most cases fit"
    if (cheapest := ranking.cheapest) is not None:
        yield f"Cheapest of {them}: {_name(cheapest)}, {format_cost(cheapest.arm.cost_usd)} a trial."
    if (fastest := ranking.fastest) is not None and not is_word_matching(fastest.arm.model):
        yield f"Fastest of {them}: {_name(fastest)}, {format_seconds(fastest.arm.latency_seconds)} a request."
    if undecided and ranking.cases_wanted is not None:
        cost = "" if not ranking.more_cost_usd else f", {format_cost(ranking.more_cost_usd)} more for these arms"
        wanted = format_glance(ranking.cases_wanted)
        yield f"About {wanted} cases like these would rank every undecided arm, beyond the choice of toolsets{cost}."
    elif undecided:
        yield "No number of cases up to a million would rank every undecided arm, if they are as close as measured."


def _by_case(ranking: Ranking) -> Iterator[str]:
    """Why the most accurate arm may not be what is recommended for a model."""
    label, spec = ranking.arms[0].arm.toolset_label, find_toolset(ranking.arms[0].arm.toolset)
    if spec is not None and not spec.is_assignable:
        yield (
            f"{label} depends on the role of each case, so toolbelt.yaml cannot name it for a model: serve each role "
            "its own (toolbelt serve NAME)."
        )


def _name(each: RankedArm) -> str:
    return f"{describe_model(each.arm.model)} with {each.arm.toolset_label}"


def _names(arms: list[RankedArm]) -> str:
    shown = ", ".join(each.arm.label for each in arms[:_MOST_NAMES])
    more = len(arms) - _MOST_NAMES
    return f"{shown} and {plural(more, 'other')}" if more > 0 else shown
