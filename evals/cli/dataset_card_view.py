"""Cards on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from toolbelt.evals.cases.card.card import Card
from toolbelt.evals.cases.card.check import content_data
from toolbelt.text import plural, visible

WIDTH = 12
"""Columns that labels take."""
_MOST_AMBIGUITIES = 25
_MOST_DISAGREEMENTS = 10
_MOST_IDS = 3


def card_data(card: Card) -> dict[str, Any]:
    """A card as plain values, for `--json` and for the view."""
    return {
        "name": card.name,
        "summary": card.summary,
        "licence": card.licence,
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
                    {"case": one.case, "why": one.why, "done": one.done, "removed": one.removed}
                    for one in reading.disagreements
                ],
            }
            for reading in card.readings
        ],
        "ambiguities": [{"cases": list(one.cases), "text": one.text} for one in card.ambiguities],
    }


def card_parts(card: Mapping[str, Any]) -> Iterator[RenderableType]:
    """A card among what else is shown of a dataset."""
    for label, text in (
        ("summary", card["summary"]),
        ("licence", card["licence"]),
        ("languages", ", ".join(card["languages"])),
        ("made", card["made"]),
    ):
        if text:
            yield fact(label, _folded(text))
    for reading in card["readings"]:
        seed = "" if reading["seed"] is None else f" (seed {reading['seed']})"
        agreed = f"{reading['agreed']:,} of {reading['sample']:,} agreed"
        yield fact("read", _folded(f"{agreed} by {reading['reader']}{seed}"))
        for one in reading["disagreements"][:_MOST_DISAGREEMENTS]:
            yield _note(f"{one['case']}: {one['why']} {one['done']}")
        yield from _more(len(reading["disagreements"]) - _MOST_DISAGREEMENTS)
    if ambiguities := card["ambiguities"]:
        yield fact("ambiguities", f"{len(ambiguities):,}")
        for one in ambiguities[:_MOST_AMBIGUITIES]:
            ids = ", ".join(one["cases"][:_MOST_IDS]) + ", …" * (len(one["cases"]) > _MOST_IDS)
            text = f"{ids}: {one['text']}" if ids else one["text"]
            yield _note(text)
        yield from _more(len(ambiguities) - _MOST_AMBIGUITIES)


def card_check_view(data: Mapping[str, Any]) -> RenderableType:
    """Whether a card agrees with what is there, and what is there."""
    content = data["content"]
    kinds = ", ".join(f"{visible(kind) or '(none)'} {count:,}" for kind, count in content["kinds"].items())
    if data["agrees"]:
        verdict = Text("the card agrees with what is there" if not data["written"] else "written", "green")
    elif data["exists"]:
        verdict = Text("the card does not agree with what is there; --write brings it up to date", "bold red")
    else:
        verdict = Text("there is no card; --write begins one", "bold red")
    parts: list[RenderableType] = [
        Text.assemble((visible(data["card"]), "bold"), f"  {plural(content['cases'], 'case')}"),
        fact("clusters", f"{content['clusters']:,}"),
        fact("kinds", kinds),
        fact("answered", plural(content["answered_tools"], "tool")),
        fact("digest", content["digest"][:16]),
    ]
    if "catalog_digest" in content:
        parts.append(fact("catalog", content["catalog_digest"][:16]))
    parts += [verdict]
    if data["exists"]:
        parts += [Text(f"  {visible(one['key'])}: {_said(one)}") for one in data["differences"]]
    return Group(*parts)


def _said(one: Mapping[str, Any]) -> str:
    written, counted = (_short(one[key]) for key in ("written", "counted"))
    return f"the card says {written}, there is {counted}"


def _short(value: str | int | None) -> str:
    if value is None:
        return "nothing"
    return f"{value:,}" if isinstance(value, int) else visible(value[:16])


def fact(label: str, text: str) -> Text:
    """A line with what it is about in front."""
    return Text.assemble((f"{label:<{WIDTH}}", "bright_black"), visible(text))


def _note(text: str) -> Text:
    return Text(f"  {visible(_folded(text))}", "bright_black")


def _more(count: int) -> Iterator[Text]:
    if count > 0:
        yield _note(f"… and {count:,} more (--json)")


def _folded(text: str) -> str:
    return " ".join(text.split())
