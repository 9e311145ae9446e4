"""What all import formats use: the user's settings, the catalog, and the protocol of a format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from toolbelt.catalog import Catalog
from toolbelt.evals.cases.imports.import_report import ImportReport, UnmappedError
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool, read_tools
from toolbelt.evals.cases.lint.calls import CallChecker
from toolbelt.evals.cases.references import CatalogNames, Unresolved
from toolbelt.patterns import fold


class ArgumentPolicy(StrEnum):
    """Whether the arguments of calls become part of the labels."""

    KEEP = "keep"
    DROP = "drop"


class LabelSource(StrEnum):
    """What counts as right where a record has both."""

    ANNOTATED = "annotated"
    """Labels that annotators wrote."""
    RECORDED = "recorded"
    """Labels from the calls that the agent made."""


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """The user's settings of an import.

    Attributes:
        arguments: `None` keeps them where people wrote the labels, and drops them where an agent made the calls.
        reviewed: Whether recorded calls are known to be right, so that the cases are no drafts.
        role: Of every case.
        kind: Of every case; `None` derives it from the calls.
        tags: Added to every case.
        target_field: Inspect samples: the field that names the tools, with dots into `metadata`.
        labels: LiveMCPBench trajectories: what is right.
        redact: Whether values of real users are replaced, in formats that have such.
    """

    arguments: ArgumentPolicy | None = None
    reviewed: bool = False
    role: str | None = None
    kind: str | None = None
    tags: tuple[str, ...] = ()
    target_field: str | None = None
    labels: LabelSource = LabelSource.ANNOTATED
    redact: bool = True

    def keeps(self, *, recorded: bool) -> bool:
        """Whether arguments are kept, of calls that an agent made (`recorded`) or that people wrote down."""
        return self.arguments is ArgumentPolicy.KEEP or (self.arguments is None and not recorded)


CaseRow = dict[str, Any]
"""Data of a case as a line of a file, in the own or the imported layout."""
LINE = "line"
"""A key of a row with its line, if that is not the first line of the record; it is not written."""
NOT_IN_CATALOG = "names a tool that is not in the catalog"
SEVERAL_SPELLINGS = "names a tool in a spelling that several tools have"
OTHER_SPELLING = "a tool was found by the letters and digits of its name, which is spelled differently in the catalog"
NOT_OFFERED = "calls a tool that was not offered"
OFFER_NOT_IN_CATALOG = "was offered a tool that is not in the catalog"
WITHOUT_CATALOG = frozenset({NOT_IN_CATALOG, SEVERAL_SPELLINGS, NOT_OFFERED, OFFER_NOT_IN_CATALOG})
"""Reasons that may be gone with another catalog."""


@dataclass(eq=False)
class Context:
    """Everything that the second pass over the sources needs.

    Attributes:
        catalog: Every tool.
        settings: Of the user.
        report: Receives what is left out, and notes.
        pool: The tools of the sources; `None` where the user gave a catalog.
    """

    catalog: Catalog
    settings: ImportSettings
    report: ImportReport
    pool: ToolPool | None
    names: CatalogNames = field(init=False)

    def __post_init__(self) -> None:
        self.names = CatalogNames(self.catalog)
        self._all = len(self.catalog.tools)
        self._ids_by_name: dict[str, list[str]] = {}
        for tool in self.catalog.tools:
            self._ids_by_name.setdefault(tool.name, []).append(tool.id)

    @cached_property
    def calls(self) -> CallChecker:
        """Checks labels against the schemas of the tools."""
        return CallChecker(self.catalog, {tool.id: tool for tool in self.catalog.tools})

    def offered(self, tools: Sequence[Any] | None) -> tuple[str, ...] | None:
        """Ids of the tools that a request offered, but entries that are none; `None` where it does not mention tools.

        Raises:
            BrokenError: no entry is a tool.
            UnmappedError: one is not in the catalog that was given.
        """
        if tools is None:
            return None
        if self.pool is not None:
            return self.pool.add_list(tools)
        resolved = [(tool.name, self.names.resolve(tool.name)) for _, tool in read_tools(tools)]
        for name, tool_id in resolved:
            if isinstance(tool_id, Unresolved):
                raise UnmappedError(OFFER_NOT_IN_CATALOG, name)
        return tuple(dict.fromkeys(tool_id for _, tool_id in resolved if isinstance(tool_id, str)))

    def universe(self, offered: tuple[str, ...] | None) -> CaseRow:
        """`offered` for a row; empty if it is the whole catalog, or not known."""
        return {} if offered is None or len(offered) == self._all else {"offered": list(offered)}

    def knows(self, name: str) -> bool:
        """Whether a name is that of a tool, or of several."""
        try:
            return bool(self.reference(name, None))
        except UnmappedError:
            return False

    def reference(self, name: str, offered: tuple[str, ...] | None) -> str | list[str]:
        """The id of the tool with that name; a list where it may be any of several.

        Raises:
            UnmappedError: there is no such tool.
        """
        if offered is not None:
            tool_ids: Sequence[str] = self.names.within(offered, name)
            if not tool_ids and isinstance(resolved := self.names.resolve(name), str) and resolved in offered:
                tool_ids = (resolved,)
            if not tool_ids:
                raise UnmappedError(NOT_OFFERED, name)
        else:
            tool_ids = self._ids_by_name.get(name, ())
        if tool_ids:
            return tool_ids[0] if len(tool_ids) == 1 else list(tool_ids)
        meaning = self.names.resolve(name)
        if isinstance(meaning, str):
            return meaning
        if meaning.candidates:
            return list(meaning.candidates)
        if (tool_id := self._served(name)) is not None:
            return tool_id
        raise UnmappedError(NOT_IN_CATALOG, meaning.message)

    def _served(self, name: str) -> str | None:
        """The tool of a name that a client made of a server's and a tool's: `mcp__SERVER__TOOL`."""
        mark, _, rest = name.partition("__")
        server, _, tool = rest.partition("__")
        if mark != "mcp" or not tool:
            return None
        if letters_of(server).startswith("toolbelt"):  # the gateway, whose own names are resolved as all others are
            served = self.names.resolve(tool)
            return served if isinstance(served, str) else None
        found = [each.id for each in self.catalog.tools if each.name == tool and _is_of(each.plugin or "", server)]
        return found[0] if len(found) == 1 else None

    def spelled_reference(self, name: str, prefix: str = "") -> str | list[str]:
        """As `reference`; a name that no tool has may have the letters and digits of one: `Storage account-list`.

        Args:
            name: As somebody wrote it.
            prefix: Letters and digits with which all names of the source begin; the name without them is tried last.

        Raises:
            UnmappedError: no tool has them, or several have.
        """
        try:
            return self.reference(name, None)
        except UnmappedError:
            letters = letters_of(name)
            for form in (letters, letters.removeprefix(prefix)):
                tool_ids = self._ids_by_letters.get(form, ())
                if len(tool_ids) > 1:
                    raise UnmappedError(SEVERAL_SPELLINGS, f"{name}: {', '.join(sorted(tool_ids))}") from None
                if tool_ids:
                    self.report.note(OTHER_SPELLING)
                    return next(iter(tool_ids))
            raise

    @cached_property
    def _ids_by_letters(self) -> dict[str, set[str]]:
        ids: dict[str, set[str]] = {}
        for tool in self.catalog.tools:
            for name in (tool.id, tool.path, tool.name, self.catalog.wire_names[tool.id]):
                ids.setdefault(letters_of(name), set()).add(tool.id)
        return ids

    def common(self, tags: Sequence[str] = (), kind: str = "") -> CaseRow:
        """Kind, role and tags: from the settings, and from the source for this case."""
        row: CaseRow = {}
        if case_kind := self.settings.kind or kind:
            row["kind"] = case_kind
        if self.settings.role is not None:
            row["role"] = self.settings.role
        if all_tags := list(dict.fromkeys((*tags, *self.settings.tags))):
            row["tags"] = all_tags
        return row


class Format(Protocol):
    """A kind of source. A source is read twice: for its tools, and for its cases. An instance serves one import."""

    label: str
    """Its name for people."""

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """First pass: collect tools, and what later records refer to; raises `BrokenError` as `rows` does."""
        ...

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """Second pass: the cases of a record; raises `BrokenError` or `UnmappedError`."""
        ...

    def finish(self, context: Context) -> None:
        """Report stored data that no record referred to."""
        ...


def _is_of(plugin: str, server: str) -> bool:
    """Whether a plugin is a server, or a part of one that was split into `SERVER-GROUP`."""
    return letters_of(plugin) == letters_of(server) or plugin.startswith(f"{server}-")


def letters_of(name: str) -> str:
    """The letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, fold(name)))


def kind_of(steps: Sequence[Sequence[Any]]) -> str:
    """The kind of a case with these calls, step by step."""
    count = sum(map(len, steps))
    if count == 0:
        return "no_call"
    if count == 1:
        return "single"
    return "parallel" if len(steps) == 1 else "multi"
