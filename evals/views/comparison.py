"""A comparison as views: what to know first, each arm in a line, and each pair with its figures and flipped cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from toolbelt.evals.analysis.comparison.comparison import LEVEL, ArmComparison, Comparison, Contrast, Flip, Measure
from toolbelt.evals.analysis.comparison.comparison_text import pair_names, sentence, short_label
from toolbelt.evals.analysis.comparison.number_format import format_level
from toolbelt.evals.analysis.comparison.reason_text import describe_differences, describe_notes, describe_reasons
from toolbelt.evals.views import comparison_text
from toolbelt.render.numbers import NOTHING, format_share
from toolbelt.views.blocks import Block, Details, Heading, Line, Listing, Note
from toolbelt.views.cells import Amount, Cell, Count, Dollars, Proportion, Seconds, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table

_LONGEST_HEADING = 16
"""Characters of an arm's name that fit above its figures."""


class Extent(NamedTuple):
    """How much of each pair is shown.

    Attributes:
        flips: Cases that got worse, and as many that got better.
        confusions: That became more frequent.
        kinds: Of cases, of those with a change.
        is_folded: Whether details can be folded, and the result stands above them; else `comparison_result` is to be
            shown last, where a terminal ends.
    """

    flips: int = 20
    confusions: int = 10
    kinds: int = 20
    is_folded: bool = True


WHOLE = Extent()
"""Of a document or a page."""
TERMINAL = Extent(5, 5, 6, is_folded=False)


def comparison_view(comparison: Comparison, extent: Extent = WHOLE, *, details: bool = True) -> Iterator[Block]:
    """The whole comparison, or the reasons why it cannot be made.

    Args:
        comparison: As found.
        extent: How much of each pair.
        details: Whether several pairs are shown each in full, too.
    """
    pairs = comparison.pairs
    if extent.is_folded:
        yield Heading(_title(comparison))
    sides = [f"{name} {text}" for name, text in comparison_text.side_lines(comparison)]
    yield Note(sides[0]) if len(sides) == 1 else Listing(tuple(map(Span, sides)))
    if not comparison.is_comparable:
        yield Note("These cannot be compared:", Tone.BAD)
        yield Listing(tuple(map(Span, describe_reasons(comparison))))
        return
    yield from _first(comparison)
    if len(pairs) == 1:
        yield Heading(comparison_text.pair_title(comparison, pairs[0]), level=2)
        yield from _pair(comparison, pairs[0], extent)
    else:
        yield from _several(comparison, extent, details=details)
    yield Note(comparison_text.legend(comparison), Tone.FAINT)
    if not details and len(pairs) > 1:
        yield Note("Every figure and the cases that flipped: --details, or --arm NAME for one arm.", Tone.FAINT)
    if not extent.is_folded and (step := comparison_text.next_step(comparison)):
        yield Note(step, Tone.FAINT)


def comparison_result(comparison: Comparison) -> Block:
    """What a comparison comes to, in a sentence or two."""
    pairs = comparison.pairs
    return _result(sentence(comparison, pairs[0]) if len(pairs) == 1 else comparison_text.conclusion(comparison))


def _several(comparison: Comparison, extent: Extent, *, details: bool) -> Iterator[Block]:
    if extent.is_folded:
        yield comparison_result(comparison)
    if comparison.pairs:
        yield Note(f"{_sentence_case(comparison_text.against_line(comparison))}{_reference(comparison)}:")
        table = summary_table(comparison)
        # Where each arm can be unfolded, the other measures are there.
        plain = [place for place, column in enumerate(table.columns) if not (extent.is_folded and column.is_spare)]
        yield table.take(plain)
    yield from _overflows(comparison)
    for pair in comparison.pairs if details else ():
        title = comparison_text.pair_title(comparison, pair)
        blocks = tuple(_pair(comparison, pair, extent))
        if extent.is_folded:
            yield Details(title, blocks, comparison_text.finding_badge(comparison, pair).word)
        else:
            yield Heading(title, level=2)
            yield from (_result(sentence(comparison, pair)), *blocks)


def _title(comparison: Comparison) -> str:
    old, new = comparison.old.name, comparison.new.name
    return f"Arms of {new}" if old == new else f"{new} against {old}"


def _result(text: str) -> Block:
    return Line((Span(text, Tone.STRONG),))


def _first(comparison: Comparison) -> Iterator[Block]:
    """Notes to read before any verdict, and the differences between the two sides."""
    if comparison.notes:
        yield Note("To know before any verdict:")
        yield Listing(tuple(Span(note, Tone.WARNING) for note in describe_notes(comparison)))
    if comparison.differences:
        yield Note("What is not the same:")
        yield Listing(tuple(map(Span, describe_differences(comparison))))


def _overflows(comparison: Comparison) -> Iterator[Block]:
    for pair in comparison.pairs:
        if line := comparison_text.overflow_line(pair):
            yield Note(f"{short_label(comparison, pair)}: {line}", Tone.BAD)


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


# Several pairs


def _common_reference(comparison: Comparison) -> str | None:
    """What the one arm that all others of its run are compared with comes to; `None` where figures differ."""
    if not comparison.is_within or len({pair.old.key for pair in comparison.pairs}) > 1:
        return None
    shares = {format_share(pair.main_contrast.old) for pair in comparison.pairs}
    return shares.pop() if len(shares) == 1 else None


def _reference(comparison: Comparison) -> str:
    share = _common_reference(comparison)
    if share in (None, NOTHING):
        return ""
    is_accuracy = comparison.pairs[0].main_contrast.measure is Measure.ACCURACY
    return f" ({share} {'right' if is_accuracy else 'solved'})"


def summary_table(comparison: Comparison) -> Table:
    """A line for each pair."""
    pairs, margin, level = comparison.pairs, comparison.margin, format_level(comparison.level)
    mains = [pair.main_contrast for pair in pairs]
    measure = mains[0].measure
    columns: list[tuple[Column, Sequence[Cell]]] = []
    if _common_reference(comparison) is None:
        columns.append(
            (Column("before" if not comparison.is_within else "reference", is_spare=True), [*map(_old, mains)])
        )
    columns += [
        (Column(measure.value, "Of the cases that both arms were scored on."), [*map(_new, mains)]),
        (
            Column(
                f"difference, points ({level} interval)", "Of the arm less the one that it is compared with.",
                f"difference, points\n({level} interval)",
            ),
            [Span(comparison_text.format_difference(main, margin, "")) for main in mains],
        ),
        (
            Column("finding" if comparison.is_within else "verdict", is_text=True),
            [comparison_text.finding_badge(comparison, pair) for pair in pairs],
        ),
        (Column("prompt tokens", "Change of the mean.", "prompt\ntokens"), _changes(pairs, Measure.PROMPT_TOKENS)),
        (
            Column("cases better / worse", "Cases that flipped.", "better/\nworse"),
            [Span("{:,}/{:,}".format(*comparison_text.describe_flip_counts(pair))) for pair in pairs],
        ),
        (Column("cost", "Change of the mean.", is_spare=True), _changes(pairs, Measure.COST_USD)),
    ]  # fmt: skip
    if measure is Measure.ACCURACY:
        columns.append((Column("solved", "Change in points.", is_spare=True), _changes(pairs, Measure.SOLVED)))
    columns.append(
        (Column("p (Holm)", is_spare=True), [Span(comparison_text.format_p(main.adjusted_p)) for main in mains])
    )
    columns = [(column, cells) for column, cells in columns if any(cell != Span("") for cell in cells)]
    cells = zip(*(cells for _, cells in columns), strict=True)
    rows = tuple(Row(label, row, group) for (label, group), row in zip(_labels(comparison), cells, strict=True))
    return Table("arm", tuple(column for column, _ in columns), rows, "model", caption="The arms compared")


def _labels(comparison: Comparison) -> list[tuple[str, str]]:
    """The label of each pair and its group: where several models have several arms each, these stand together."""
    pairs = comparison.pairs
    several = comparison_text.has_own_bases(comparison)
    models = [model for model, _ in groupby(pair.new.model for pair in pairs)]
    if len(models) == 1 or len(models) > len(set(models)) or len(models) == len(pairs):
        # Where each model has its own, what an arm is compared with is no title of the whole table.
        name = comparison_text.pair_title if several else short_label
        return [(name(comparison, pair), "") for pair in pairs]
    return [
        (pair.new.toolset_label, f"{pair.new.model}, against {pair.old.toolset_label}" if several else pair.new.model)
        for pair in pairs
    ]


def _changes(pairs: Sequence[ArmComparison], measure: Measure) -> list[Cell]:
    """Differences without their intervals; empty cells where no pair has a difference."""
    contrasts = [pair.contrast(measure) for pair in pairs]
    if not any(contrast.difference for contrast in contrasts):
        return [Span("") for _ in contrasts]
    return [Span(comparison_text.format_alone(contrast)) for contrast in contrasts]


# One pair


def _pair(comparison: Comparison, pair: ArmComparison, extent: Extent) -> Iterator[Block]:
    if extent.is_folded:
        yield _result(sentence(comparison, pair))
    if line := comparison_text.overflow_line(pair):
        yield Note(line, Tone.BAD)
    if comparison_text.has_figures(pair):
        yield _contrasts(comparison, pair)
    behind = (
        *comparison_text.reason_lines(pair),
        comparison_text.contribution_line(pair),
        comparison_text.flips_line(pair),
        comparison_text.unpaired_line(pair),
    )
    yield Listing(tuple(Span(line) for line in behind if line))
    worse, better = comparison_text.worse_flips(pair), comparison_text.better_flips(pair)
    counts = pair.flip_counts
    for how, flips, cases in (("worse", worse, counts.worse), ("better", better, counts.better)):
        if flips and extent.flips:
            count = f"{extent.flips:,} of {cases:,}" if cases > extent.flips else f"{cases:,}"
            title = f"Cases that are {how}" if comparison.is_within else f"Cases that got {how}"
            yield Details(title, (flips_table(comparison, pair, flips[: extent.flips]),), count)
    commoner = [confusion for confusion in pair.confusions if confusion.new > confusion.old]
    if commoner:
        rows = tuple(
            Row(each.wanted or "nothing", (Span(each.called or "nothing"), Count(each.old), Count(each.new)))
            for each in commoner[: extent.confusions]
        )
        old, new = _names(comparison, pair)
        columns = (Column("called instead", is_text=True), Column(old), Column(new))
        yield Details("Confusions that are more frequent, in trials", (Table("wanted", columns, rows),))
    if (table := _kinds(comparison, pair, extent.kinds)) is not None:
        left = comparison_text.left_parts_line(pair, extent.kinds)
        yield Details("By kind of case", (table, *((Note(left, Tone.FAINT),) if left else ())))


def _names(comparison: Comparison, pair: ArmComparison) -> tuple[str, str]:
    """What stands above the figures of each arm: in a run its name, if that is short."""
    names = pair_names(comparison, pair)
    if comparison.is_within and names[0] != names[1] and max(map(len, names)) <= _LONGEST_HEADING:
        return names
    return "old", "new"


def _contrasts(comparison: Comparison, pair: ArmComparison) -> Table:
    old, new = _names(comparison, pair)
    level = "95% interval" if comparison.level == LEVEL else f"interval, of shares {format_level(comparison.level)}"
    columns = (
        Column(old, is_spare=True),
        Column(new, is_spare=True),
        Column(f"difference ({level})", "Of the second arm less the first."),
        Column("verdict", is_text=True, is_spare=True),
        Column("p (Holm)", "Adjusted over all verdicts of the comparison.", is_spare=True),
    )
    rows = tuple(
        Row(
            comparison_text.measure_name(contrast.measure),
            (
                _old(contrast),
                _new(contrast),
                Span(comparison_text.format_difference(contrast, comparison.margin)),
                comparison_text.verdict_badge(contrast, is_within=comparison.is_within),
                Span(comparison_text.format_p(contrast.adjusted_p) if contrast.measure.is_share else ""),
            ),
        )
        for contrast in pair.contrasts
    )
    return Table("measure", columns, rows)


def _old(contrast: Contrast) -> Cell:
    return _amount(contrast.measure, contrast.old)


def _new(contrast: Contrast) -> Cell:
    return _amount(contrast.measure, contrast.new)


def _amount(measure: Measure, value: float | None) -> Cell:
    match measure:
        case Measure.ACCURACY | Measure.SOLVED:
            return Proportion(value)
        case Measure.DEFINITION_TOKENS | Measure.PROMPT_TOKENS:
            return Tokens(value)
        case Measure.COST_USD:
            return Dollars(value)
        case Measure.LATENCY_SECONDS:
            return Seconds(value)
        case Measure.REQUESTS:
            return Amount(value)


def flips_table(
    comparison: Comparison, pair: ArmComparison, flips: Sequence[Flip], *, is_signed: bool = False
) -> Table:
    """Cases that one of two arms does worse.

    Args:
        comparison: With the pair.
        pair: The two arms.
        flips: Of the pair, those to show.
        is_signed: Whether a sign before each says which way it flipped.
    """
    names = _names(comparison, pair)
    before, now = names if comparison.is_within and names != ("old", "new") else ("before", "now")
    arrow = comparison_text.ARROW
    columns = [
        Column("kind", is_text=True, is_spare=True),
        Column("change", "Of the share of epochs that are right, where it is not the whole case."),
        Column("outcome", "Of the arm that does worse.", is_text=True),
        Column(f"called: {before} {arrow} {now}", is_text=True),
    ]
    rows = [comparison_text.flip_cells(flip) for flip in flips]
    signs = [("✕ " if flip.change < 0 else "✓ ") if is_signed else "" for flip in flips]
    table = Table(
        "case",
        tuple(columns),
        tuple(Row(sign + label, tuple(map(Span, cells))) for sign, (label, *cells) in zip(signs, rows, strict=True)),
    )
    return table.take([place for place in range(len(columns)) if any(row[place + 1] for row in rows)])


def _kinds(comparison: Comparison, pair: ArmComparison, most: int) -> Table | None:
    """Kinds with a change, the greatest loss first; `None` where all cases are of one kind, or nothing changed."""
    changed = [part for part in pair.parts if part.better or part.worse]
    if len(pair.parts) < 2 or not changed:
        return None
    old, new = _names(comparison, pair)
    columns = (
        Column("cases"),
        Column(old, is_spare=True),
        Column(new, is_spare=True),
        Column("difference"),
        Column("better", is_spare=True),
        Column("worse", is_spare=True),
    )
    rows = tuple(
        Row(
            part.kind or NOTHING,
            (
                Count(part.cases),
                Proportion(part.old),
                Proportion(part.new),
                Span(comparison_text.format_part(part)),
                Count(part.better),
                Count(part.worse),
            ),
        )
        for part in changed[:most]
    )
    return Table("kind", columns, rows)
