"""Datasets, cases and cards as views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.card.card import Card
from toolbelt.evals.cases.card.check import content_data
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.text import json_text, plural
from toolbelt.views.blocks import Block, Heading, Line, Listing, Note
from toolbelt.views.cells import Count, Span, Tone
from toolbelt.views.table import Column, Row, Table, facts_table

_MOST_TAGS = 20
_MOST_UNANSWERED = 5
_MOST_EXCLUSIONS = 5
_MOST_AMBIGUITIES = 25
_MOST_DISAGREEMENTS = 10
_MOST_IDS = 3


def list_view(rows: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """A table of datasets."""
    columns = (
        Column("cases"),
        Column("tools"),
        Column("digest", is_text=True, is_spare=True),
        Column("kinds", is_text=True, is_cut=True),
    )
    datasets = (
        Row(
            row["name"],
            (
                Count(row["cases"]),
                Count(row["catalog"]["tools"]),
                Span(row["digest"][:16]),
                Span(_counts(row["kinds"])),
            ),
        )
        for row in rows
    )
    return (Table("dataset", columns, tuple(datasets)),)


def dataset_view(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """A dataset: its card, counts and catalog."""
    catalog = data["catalog"]
    tools = f"{plural(catalog['tools'], 'tool')} in {plural(catalog['plugins'], 'plugin')}"
    facts = [
        *(_card_facts(data["card"]) if data["card"] else ()),
        ("layout", LayoutKind(data["layout"]).description),
        ("catalog", f"{catalog['name']}: {tools} ({catalog['source']})"),
        ("digest", data["digest"]),
        ("clusters", f"{data['clusters']:,}"),
        ("answered", _answered(data)),
        ("drafts", f"{data['drafts']:,}, not reviewed yet" if data["drafts"] else ""),
        ("roles", ", ".join(data["roles"])),
        ("loadouts", ", ".join(f"{loadout['name']} ({loadout['tools']:,})" for loadout in data["loadouts"])),
    ]
    return (
        Heading(data["name"], f"{plural(data['cases'], 'case')} in {data['source']}"),
        facts_table((label, text) for label, text in facts if text),
        *(_card_notes(data["card"]) if data["card"] else ()),
        *_count_tables(data),
        *(
            Note(f"line {each['line']}: {each['case']} ({each['detail']})", Tone.FAINT)
            for each in data["exclusions"][:_MOST_EXCLUSIONS]
        ),
    )


def _count_tables(data: Mapping[str, Any]) -> Iterator[Block]:
    for label, counts in (("kind", data["kinds"]), ("tag", data["tags"]), ("excluded", data["excluded"])):
        if counts:
            ranked = sorted(counts.items(), key=lambda row: -row[1])
            rows = (Row(name or "(none)", (Count(count),)) for name, count in ranked[:_MOST_TAGS])
            yield Table(label, (Column("cases"),), tuple(rows))
            yield from _more(len(ranked) - _MOST_TAGS)


def _answered(data: Mapping[str, Any]) -> str:
    """How many tools of the catalog are part of a right answer; the first few of the others by name."""
    total, unanswered = data["catalog"]["tools"], data["unanswered"]
    text = f"{total - len(unanswered):,} of {plural(total, 'tool')}"
    if not unanswered:
        return text
    more = " and more (--json)" if len(unanswered) > _MOST_UNANSWERED else ""
    return f"{text}; none asks for {', '.join(unanswered[:_MOST_UNANSWERED])}{more}"


def case_view(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """All of one case."""
    about = " ".join(filter(None, [data["kind"], *(f"#{tag}" for tag in data["tags"])]))
    origin = [
        ("line", f"{data['line']} of {data['source']}"),
        ("role", data["role"]),
        ("cluster", data["cluster"] if data["cluster"] != data["id"] else ""),
    ]
    rules = [
        *_answers(data),
        ("forbidden", ", ".join(data["forbidden"])),
        ("allowed too", ", ".join(data["allowed_extra"])),
        ("offered", "" if data["offered"] is None else ", ".join(data["offered"]) or "nothing"),
        *(("result", f"{tool}: {result}") for tool, results in data["results"].items() for result in results),
        ("match", f"{data['match']}, at most {plural(data['steps'], 'step')}"),
    ]
    return (
        Heading(data["id"], about),
        facts_table((label, text) for label, text in origin if text),
        *_messages(data["messages"]),
        facts_table((label, text) for label, text in rules if text),
    )


def _messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    for message in messages:
        content = message.get("content")
        first, *others = (content if isinstance(content, str) else json_text(content)).splitlines() or [""]
        yield Line((Span(f"{message.get('role')}: ", Tone.STRONG), Span(first)))
        yield from map(Note, others)
        if calls := message.get("tool_calls"):
            yield Listing(tuple(Span(f"calls {json_text(call)}") for call in calls))


def _answers(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if data["expected"] is None:
        yield "right", "any call"
        return
    for number, answer in enumerate((data["expected"], *data["accept"])):
        label = "right" if number == 0 else "or"
        if not answer:
            yield label, "no call"
        for position, call in enumerate(answer):
            yield label if position == 0 else "and", _call(call)


def _call(call: Mapping[str, Any]) -> str:
    tools = " or ".join(call["tools"])
    arguments = call["arguments"]
    if arguments is None:
        return f"{tools}, whatever the arguments"
    optional = arguments["optional"]
    named = [_argument(name, "=", " | ", values, optional) for name, values in arguments["accepted"].items()]
    named += [_argument(name, " contains ", " & ", texts, optional) for name, texts in arguments["contains"].items()]
    end = "" if arguments["exact"] else ", …"
    rules = "" if arguments["rules"] == "literal" else f"  ({arguments['rules']} rules)"
    return f"{tools}({', '.join(named)}{end}){rules}"


def _argument(name: str, check: str, between: str, values: Sequence[Any], optional: Sequence[str]) -> str:
    shown = between.join(" ".join(json_text(value).split()) for value in values)
    return f"{name}{'?' if name in optional else ''}{check}{shown}"


def card_data(card: Card) -> dict[str, Any]:
    """A card as plain values, for `--json` and for the view."""
    return {
        "name": card.name,
        "summary": card.summary,
        "licence": card.licence,
        "catalog": card.catalog,
        "languages": list(card.languages),
        "made": card.made,
        "content": None if card.content is None else content_data(card.content),
        "readings": [
            {
                "reader": reading.reader,
                "sample": reading.sample,
                "seed": reading.seed,
                "agreed": reading.agreed,
                "disagreements": [
                    {"case": entry.case, "why": entry.why, "done": entry.done, "removed": entry.removed}
                    for entry in reading.disagreements
                ],
            }
            for reading in card.readings
        ],
        "ambiguities": [{"cases": list(entry.cases), "text": entry.text} for entry in card.ambiguities],
    }


def _card_facts(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for label in ("summary", "licence"):
        yield label, card[label] or ""
    yield "languages", ", ".join(card["languages"])
    yield "made", card["made"] or ""
    for reading in card["readings"]:
        seed = "" if reading["seed"] is None else f" (seed {reading['seed']})"
        yield "read", f"{reading['agreed']:,} of {reading['sample']:,} agreed by {reading['reader']}{seed}"


def _card_notes(card: Mapping[str, Any]) -> Iterator[Block]:
    """What readers disagreed about, and what is known to be ambiguous."""
    disagreements = [entry for reading in card["readings"] for entry in reading["disagreements"]]
    if disagreements:
        shown = (f"{entry['case']}: {entry['why']} {entry['done']}" for entry in disagreements[:_MOST_DISAGREEMENTS])
        yield Heading("Disagreements", f"{len(disagreements):,}", 2)
        yield Listing(tuple(Span(text, Tone.FAINT) for text in shown))
        yield from _more(len(disagreements) - _MOST_DISAGREEMENTS)
    if ambiguities := card["ambiguities"]:
        yield Heading("Ambiguities", f"{len(ambiguities):,}", 2)
        yield Listing(tuple(Span(_ambiguity(entry), Tone.FAINT) for entry in ambiguities[:_MOST_AMBIGUITIES]))
        yield from _more(len(ambiguities) - _MOST_AMBIGUITIES)


def _ambiguity(entry: Mapping[str, Any]) -> str:
    cases = entry["cases"]
    ids = ", ".join(cases[:_MOST_IDS]) + ", …" * (len(cases) > _MOST_IDS)
    return f"{ids}: {entry['text']}" if ids else entry["text"]


def card_check_view(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """Whether a card agrees with the counted content, and that content."""
    content = data["content"]
    if data["agrees"]:
        verdict = Note("written" if data["written"] else "the card agrees with what is there", Tone.GOOD)
    elif data["exists"]:
        verdict = Note("the card does not agree with what is there; --write brings it up to date", Tone.BAD)
    else:
        verdict = Note("there is no card; --write begins one", Tone.BAD)
    facts = [
        ("clusters", f"{content['clusters']:,}"),
        ("kinds", _counts(content["kinds"])),
        ("answered", plural(content["answered_tools"], "tool")),
        ("digest", content["digest"][:16]),
        ("catalog", content.get("catalog_digest", "")[:16]),
    ]
    differences = data["differences"] if data["exists"] else ()
    return (
        Heading(data["card"], plural(content["cases"], "case")),
        facts_table((label, text) for label, text in facts if text),
        verdict,
        *([Listing(tuple(Span(f"{d['key']}: {_difference(d)}") for d in differences))] if differences else []),
    )


def _difference(difference: Mapping[str, Any]) -> str:
    written, counted = (_short(difference[key]) for key in ("written", "counted"))
    return f"the card says {written}, there is {counted}"


def _short(value: str | int | None) -> str:
    if value is None:
        return "nothing"
    return f"{value:,}" if isinstance(value, int) else value[:16]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name or '(none)'} {count:,}" for name, count in counts.items())


def _more(count: int) -> Iterator[Block]:
    if count > 0:
        yield Note(f"… and {count:,} more (--json)", Tone.FAINT)
