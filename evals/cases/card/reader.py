"""Read a card strictly: every mistake at once, with its line and the nearest right name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from toolbelt.errors import InvalidFileError, NotFoundError, suggestion
from toolbelt.evals.cases.card.card import (
    AMBIGUITY_KEYS,
    CARD_KEYS,
    CONTENT_KEYS,
    DISAGREEMENT_KEYS,
    READING_KEYS,
    Ambiguity,
    Card,
    Content,
    Disagreement,
    Reading,
)
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.sources import Document, examine_yaml, read_text
from toolbelt.sources.document import describe_value
from toolbelt.sources.section import Section

MAX_BYTES = 1_000_000
"""Longest card; a card is read as a whole."""
_MOST_SUGGESTIONS = 20
_LICENCE = re.compile(r"\(*[A-Za-z0-9][A-Za-z0-9.:+-]*\)*( (AND|OR|WITH) \(*[A-Za-z0-9][A-Za-z0-9.:+-]*\)*)*")
_LICENCES = ("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "MPL-2.0")
"""Licences that are suggested for a misspelt one."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Cases(Protocol):
    """The cases of a card's dataset; a `Dataset` has them."""

    def __len__(self) -> int:
        """How many cases there are."""
        ...

    def known_ids(self, case_ids: Sequence[str]) -> frozenset[str]:
        """The ids that exist."""
        ...

    def get(self, case_id: str) -> int:
        """Raises `NotFoundError` with the nearest ids."""
        ...


@dataclass(frozen=True)
class Examined:
    """A card with the findings about it.

    Attributes:
        card: Without the wrong values.
        document: The parsed file.
        findings: Errors and warnings, in the order of lines.
        of_content: Those about `content`, which can be counted again.
    """

    card: Card
    document: Document
    findings: tuple[Finding, ...] = ()
    of_content: tuple[Finding, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)


def read_card_text(path: Path) -> str | None:
    """The text of a card; `None` where there is none.

    Raises:
        InvalidFileError: too long, not UTF-8, or no regular file.
        StorageError: it may not be read.
    """
    try:
        if path.exists() and not path.is_file():
            message = "This is no file that can be read as a card."  # reading a pipe would wait for its writer
            raise InvalidFileError([Finding("not-a-file", Severity.ERROR, message, str(path))])
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            message = f"Longer than {MAX_BYTES:,} bytes; a card is read whole."
            raise InvalidFileError([Finding("too-long", Severity.ERROR, message, str(path))])
        return read_text(path)
    except (NotFoundError, FileNotFoundError):
        return None


def read_card(path: Path, cases: Cases) -> Card | None:
    """The card in a file; `None` where there is none.

    Raises:
        InvalidFileError: every mistake in it.
        StorageError: it may not be read.
    """
    if (text := read_card_text(path)) is None:
        return None
    examined = examine_card(text, str(path), cases)
    if examined.errors:
        raise InvalidFileError(examined.findings)
    return examined.card


def examine_card(text: str, source: str, cases: Cases) -> Examined:
    """A card with everything that is wrong or doubtful about it.

    Args:
        text: YAML.
        source: The path as the user wrote it.
        cases: The cases of its dataset.

    Raises:
        InvalidFileError: the text is not YAML, or no mapping.
    """
    document, findings = examine_yaml(text, source)
    section = Section.of(document, null_is_absent=False)
    if not isinstance(document.data, dict):
        section.add_error(
            "wrong-type", f"A card is a mapping with keys such as `name`, not {describe_value(document.data)}."
        )
        raise InvalidFileError([*findings, *section.findings])
    reader = _CardReader(section, cases)
    card = reader.read()
    return Examined(card, document, sorted_findings([*findings, *section.findings]), reader.of_content)


class _CardReader:
    def __init__(self, card: Section, cases: Cases) -> None:
        self._card = card
        self._cases = cases
        self._case_ids: list[tuple[str, Section]] = []
        """Ids of cases in the card, which have to exist."""
        self.of_content: tuple[Finding, ...] = ()

    def read(self) -> Card:
        section = self._card
        section.check_keys(CARD_KEYS, "card")
        section.require_keys("name", rule="missing-field")
        card = Card(
            name=_text(section, "name"),
            summary=_text(section, "summary"),
            licence=self._licence(),
            catalog=_text(section, "catalog"),
            system=_text(section, "system"),
            languages=section.read_texts("languages"),
            made=_text(section, "made"),
            content=self._content(),
            readings=tuple(self._readings()),
            ambiguities=tuple(self._ambiguities()),
        )
        self._check_case_ids()
        if card.name and card.missing:
            missing = ", ".join(f"`{key}`" for key in card.missing)
            section.add_warning("card-incomplete", f"Readers of this card will miss {missing}.")
        return card

    def _licence(self) -> str:
        text = _text(self._card, "licence")
        if text and not _LICENCE.fullmatch(text):
            hint = suggestion(text, _LICENCES) or " See https://spdx.org/licenses."
            message = f"`licence` must be an SPDX expression, not {describe_value(text)}.{hint}"
            self._card.child("licence").add_error("unknown-licence", message)
        return text

    def _content(self) -> Content | None:
        if "content" not in self._card.value:
            return None
        before = len(self._card.findings)
        content = self._read_content(self._card.child("content"))
        self.of_content = tuple(self._card.findings[before:])
        return None if self.of_content else content

    def _read_content(self, section: Section) -> Content | None:
        if section.read_mapping() is None:
            return None
        section.check_keys(CONTENT_KEYS, "card's `content`")
        section.require_keys(*CONTENT_KEYS[:-1], rule="missing-field")
        counts = {key: section.read_int(key, least=0) or 0 for key in ("cases", "clusters", "answered_tools")}
        kinds = section.child("kinds")
        written_kinds = section.read_mapping("kinds", "a mapping from kinds to counts") or {}
        return Content(
            kinds={kind: kinds.read_int(kind, least=0) or 0 for kind in written_kinds},
            digest=_digest(section, "digest") or "",
            catalog_digest=_digest(section, "catalog_digest"),
            **counts,
        )

    def _readings(self) -> Iterator[Reading]:
        for reading in _entries(
            self._card, "readings", READING_KEYS, "reading", required=("reader", "sample", "agreed")
        ):
            sample = reading.read_int("sample", least=1) or 0
            agreed = reading.read_int("agreed", least=0) or 0
            seed = None if reading.value.get("seed") is None else reading.read_int("seed")
            if sample and agreed > sample:
                message = f"`agreed` is {agreed:,}, more than the {sample:,} of the `sample`."
                reading.child("agreed").add_error("more-than-sample", message)
            disagreements = tuple(self._disagreements(reading))
            unexplained = sample - agreed - len(disagreements)
            if {"sample", "agreed"} <= reading.value.keys() and unexplained > 0:
                message = f"{agreed:,} of {sample:,} agreed; `disagreements` does not list the other {unexplained:,}."
                reading.add_warning("unexplained-disagreement", message)
            yield Reading(_text(reading, "reader"), sample, agreed, seed, disagreements)

    def _disagreements(self, reading: Section) -> Iterator[Disagreement]:
        required = ("case", "why", "done")
        for entry in _entries(reading, "disagreements", DISAGREEMENT_KEYS, "disagreement", required=required):
            removed = entry.read_bool("removed") or False
            case_id = _text(entry, "case")
            if case_id and not removed:
                self._case_ids.append((case_id, entry.child("case")))
            if case_id and removed and self._cases.known_ids([case_id]):
                message = f"Case {case_id!r} is there, so it was not `removed`."
                entry.child("removed").add_error("not-removed", message)
            yield Disagreement(case_id, _text(entry, "why"), _text(entry, "done"), removed)

    def _ambiguities(self) -> Iterator[Ambiguity]:
        for entry in _entries(self._card, "ambiguities", AMBIGUITY_KEYS, "ambiguity", required=AMBIGUITY_KEYS):
            case_ids = entry.read_texts("cases")
            cases = entry.child("cases")
            self._case_ids += [(case_id, cases.child(number)) for number, case_id in enumerate(case_ids)]
            yield Ambiguity(case_ids, _text(entry, "text"))

    def _check_case_ids(self) -> None:
        known = self._cases.known_ids([case_id for case_id, _ in self._case_ids])
        unknown = [(case_id, section) for case_id, section in self._case_ids if case_id not in known]
        for number, (case_id, section) in enumerate(unknown):
            message = f"There is no case {case_id!r}."
            if number < _MOST_SUGGESTIONS:
                try:
                    self._cases.get(case_id)
                except NotFoundError as error:
                    message = str(error)
            hint = " If it was taken out, write `removed: true`." if section.path[0] == "readings" else ""
            section.add_error("unknown-case", f"{message}{hint}")


def _text(section: Section, key: str) -> str:
    return (section.read_text(key) or "").strip()


def _digest(section: Section, key: str) -> str | None:
    if key not in section.value:
        return None
    value = section.value[key]
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return value
    section.child(key).add_wrong_type("64 hexadecimal digits, in quotes if all of them are decimal")
    return None


def _entries(
    section: Section, key: str, keys: Sequence[str], what: str, *, required: Sequence[str]
) -> Iterator[Section]:
    for entry in section.read_items(key):
        if entry.read_mapping(wanted=f"a mapping with `{keys[0]}` and so on") is not None:
            entry.check_keys(keys, what)
            entry.require_keys(*required, rule="missing-field")
            yield entry
