"""Reading a card strictly: every mistake at once, with its line and the nearest right name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

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
from toolbelt.evals.cases.fields import shown
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.sources import Document, Key, examine_yaml, read_text

MAX_BYTES = 1_000_000
"""A card is read whole; a longer file is none."""
_MOST_SUGGESTIONS = 20
_LICENCE = re.compile(r"\(*[A-Za-z0-9][A-Za-z0-9.:+-]*\)*( (AND|OR|WITH) \(*[A-Za-z0-9][A-Za-z0-9.:+-]*\)*)*")
_LICENCES = ("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "MPL-2.0")
"""What a slip may have meant."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Cases(Protocol):
    """What a card may speak of; a `Dataset` is one."""

    def __len__(self) -> int:
        """How many cases there are."""
        ...

    def find_ids(self, case_ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that a case has."""
        ...

    def get(self, case_id: str) -> int:
        """Raises `NotFoundError` with the nearest ids."""
        ...


@dataclass(frozen=True)
class Examined:
    """A card with what is wrong about it.

    Attributes:
        card: Without what was wrong.
        document: What was read.
        findings: Errors and warnings, in the order of lines.
        of_content: Those of them that are about `content`, which can be counted anew.
    """

    card: Card
    document: Document
    findings: tuple[Finding, ...] = ()
    of_content: tuple[Finding, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What makes it no card."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)


def read_card_text(path: Path) -> str | None:
    """The text of a card; `None` where there is none.

    Raises:
        InvalidFileError: too long, not UTF-8, or no regular file.
        StorageError: it may not be read.
    """
    try:
        if path.exists() and not path.is_file():
            message = "This is no file that can be read as a card."  # a pipe would wait for who writes into it
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
        cases: What it speaks of.

    Raises:
        InvalidFileError: it is no YAML, or no mapping.
    """
    document, findings = examine_yaml(text, source)
    if not isinstance(document.data, dict):
        message = f"A card is a mapping with keys such as `name`, not {shown(document.data)}."
        raise InvalidFileError([*findings, document.finding("wrong-type", message)])
    reader = _Reader(document, cases)
    card = reader.read()
    of_content = tuple(reader.of_content)
    return Examined(card, document, sorted_findings([*findings, *reader.findings, *of_content]), of_content)


class _Reader:
    def __init__(self, document: Document, cases: Cases) -> None:
        self._document = document
        self._cases = cases
        self._named: list[tuple[str, tuple[Key, ...]]] = []
        self.findings: list[Finding] = []
        self.of_content: list[Finding] = []

    def read(self) -> Card:
        data = self._document.data
        self._check_keys(data, CARD_KEYS, "card")
        if "name" not in data:
            self._error("missing-field", "A card needs a `name`.")
        card = Card(
            name=self._text(data, "name"),
            summary=self._text(data, "summary"),
            licence=self._licence(data),
            languages=self._texts(data, "languages"),
            made=self._text(data, "made"),
            content=self._content(data),
            readings=tuple(self._readings(data)),
            ambiguities=tuple(self._ambiguities(data)),
        )
        self._check_ids()
        if card.name and card.missing:
            missing = ", ".join(f"`{key}`" for key in card.missing)
            self._warning("card-incomplete", f"Readers of this card will miss {missing}.")
        return card

    def _licence(self, data: Mapping[str, Any]) -> str:
        text = self._text(data, "licence")
        if text and not _LICENCE.fullmatch(text):
            hint = suggestion(text, _LICENCES) or " See https://spdx.org/licenses."
            self._error("unknown-licence", f"`licence` must be an SPDX expression, not {shown(text)}.{hint}", "licence")
        return text

    def _content(self, data: Mapping[str, Any]) -> Content | None:
        if "content" not in data:
            return None
        before, self.findings = self.findings, []
        made = self._read_content(data["content"])
        self.of_content, self.findings = self.findings, before
        return None if self.of_content else made

    def _read_content(self, value: Any) -> Content | None:
        if not isinstance(value, dict):
            self._error("wrong-type", f"`content` must be a mapping, not {shown(value)}.", "content")
            return None
        self._check_keys(value, CONTENT_KEYS, "card's `content`", "content")
        for key in CONTENT_KEYS[:-1]:
            if key not in value:
                self._error("missing-field", f"`content` lacks `{key}`.", "content")
        counts = {
            key: self._count(value, key, "content", least=0)
            for key in ("cases", "clusters", "answered_tools")
            if key in value
        }
        kinds = value.get("kinds", {})
        if not isinstance(kinds, dict):
            self._error(
                "wrong-type", f"`content.kinds` must map kinds to counts, not {shown(kinds)}.", "content", "kinds"
            )
            kinds = {}
        counted = {kind: self._count(kinds, kind, "content", "kinds", least=0) for kind in kinds}
        digests = {key: self._digest(value, key) for key in ("digest", "catalog_digest") if key in value}
        if self.findings:
            return None
        return Content(kinds=counted, **counts, **digests)  # type: ignore[arg-type]

    def _digest(self, data: Mapping[str, Any], key: str) -> str:
        value = data[key]
        if not isinstance(value, str) or not _DIGEST.fullmatch(value):
            message = (
                f"`content.{key}` must be 64 hexadecimal digits, in quotes where all are decimal; not {shown(value)}."
            )
            self._error("wrong-type", message, "content", key)
            return ""
        return value

    def _readings(self, data: Mapping[str, Any]) -> Iterator[Reading]:
        for index, value in self._entries(data, "readings", READING_KEYS, "reading"):
            place: tuple[Key, ...] = ("readings", index)
            self._require(value, ("reader", "sample", "agreed"), *place)
            sample = self._count(value, "sample", *place, least=1) if "sample" in value else 0
            agreed = self._count(value, "agreed", *place, least=0) if "agreed" in value else 0
            seed = value.get("seed")
            if seed is not None and type(seed) is not int:
                self._error("wrong-type", f"`seed` must be a whole number, not {shown(seed)}.", *place, "seed")
            if sample and agreed > sample:
                message = f"`agreed` is {agreed:,}, more than the {sample:,} of the `sample`."
                self._error("more-than-sample", message, *place, "agreed")
            disagreements = tuple(self._disagreements(value, place))
            lacking = sample - agreed - len(disagreements)
            if "sample" in value and "agreed" in value and lacking > 0:
                message = (
                    f"{agreed:,} of {sample:,} agreed; `disagreements` does not say what the other {lacking:,} were."
                )
                self._warning("unexplained-disagreement", message, *place)
            yield Reading(self._text(value, "reader", *place), sample, agreed, seed, disagreements)

    def _disagreements(self, data: Mapping[str, Any], place: tuple[Key, ...]) -> Iterator[Disagreement]:
        for index, value in self._entries(data, "disagreements", DISAGREEMENT_KEYS, "disagreement", *place):
            inner = (*place, "disagreements", index)
            self._require(value, ("case", "why", "done"), *inner)
            removed = value.get("removed", False)
            if not isinstance(removed, bool):
                self._error("wrong-type", f"`removed` must be true or false, not {shown(removed)}.", *inner, "removed")
            case_id = self._text(value, "case", *inner)
            if case_id and removed is not True:
                self._named.append((case_id, (*inner, "case")))
            if case_id and removed is True and self._cases.find_ids([case_id]):
                message = f"Case {case_id!r} is there, so it was not `removed`."
                self._error("not-removed", message, *inner, "removed")
            why, done = self._text(value, "why", *inner), self._text(value, "done", *inner)
            yield Disagreement(case_id, why, done, removed is True)

    def _ambiguities(self, data: Mapping[str, Any]) -> Iterator[Ambiguity]:
        for index, value in self._entries(data, "ambiguities", AMBIGUITY_KEYS, "ambiguity"):
            place: tuple[Key, ...] = ("ambiguities", index)
            self._require(value, AMBIGUITY_KEYS, *place)
            case_ids = self._texts(value, "cases", *place)
            self._named += [(case_id, (*place, "cases", number)) for number, case_id in enumerate(case_ids)]
            yield Ambiguity(case_ids, self._text(value, "text", *place))

    def _check_ids(self) -> None:
        known = self._cases.find_ids([case_id for case_id, _ in self._named])
        lacking = [(case_id, place) for case_id, place in self._named if case_id not in known]
        for number, (case_id, place) in enumerate(lacking):
            message = f"There is no case {case_id!r}."
            if number < _MOST_SUGGESTIONS:
                try:
                    self._cases.get(case_id)
                except NotFoundError as error:
                    message = str(error)
            hint = " Where it was taken out, say `removed: true`." if place[0] == "readings" else ""
            self._error("unknown-case", f"{message}{hint}", *place)

    def _entries(
        self, data: Mapping[str, Any], key: str, keys: Sequence[str], what: str, *place: Key
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        written = data.get(key, [])
        if not isinstance(written, list):
            self._error("wrong-type", f"`{key}` must be a list, not {shown(written)}.", *place, key)
            return
        for index, value in enumerate(written):
            if isinstance(value, dict):
                self._check_keys(value, keys, what, *place, key, index)
                yield index, value
            else:
                message = f"`{key}[{index}]` must be a mapping with `{keys[0]}` and so on, not {shown(value)}."
                self._error("wrong-type", message, *place, key, index)

    def _check_keys(self, data: Mapping[str, Any], keys: Sequence[str], what: str, *place: Key) -> None:
        article = "An" if what[0] in "aeiou" else "A"
        for key in data:
            if key not in keys:
                self._error("unknown-key", f"{article} {what} has no key {key!r}.{suggestion(key, keys)}", *place, key)

    def _require(self, data: Mapping[str, Any], keys: Sequence[str], *place: Key) -> None:
        for key in keys:
            if key not in data:
                self._error("missing-field", f"`{place[-2]}[{place[-1]}]` lacks `{key}`.", *place)

    def _text(self, data: Mapping[str, Any], key: str, *place: Key) -> str:
        value = data.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if key in data:
            self._error("wrong-type", f"`{key}` must be text that is not blank, not {shown(value)}.", *place, key)
        return ""

    def _texts(self, data: Mapping[str, Any], key: str, *place: Key) -> tuple[str, ...]:
        value = data.get(key, [])
        if not isinstance(value, list):
            self._error("wrong-type", f"`{key}` must be a list of texts, not {shown(value)}.", *place, key)
            return ()
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item.strip():
                message = f"`{key}[{index}]` must be text that is not blank, not {shown(item)}."
                hint = " Put `no` in quotes." if item is False else ""
                self._error("wrong-type", message + hint, *place, key, index)
        return tuple(item for item in value if isinstance(item, str) and item.strip())

    def _count(self, data: Mapping[str, Any], key: str, *place: Key, least: int) -> int:
        value = data[key]
        if type(value) is int and value >= least:
            return value
        message = f"`{key}` must be a whole number, at least {least}, not {shown(value)}."
        self._error("wrong-type", message, *place, key)
        return 0

    def _error(self, rule: str, message: str, *place: Key) -> None:
        self.findings.append(self._document.finding(rule, message, *place))

    def _warning(self, rule: str, message: str, *place: Key) -> None:
        self.findings.append(self._document.finding(rule, message, *place, severity=Severity.WARNING))
