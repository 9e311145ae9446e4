"""What a user may say about how cases are made of what is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from toolbelt.catalog import Catalog
from toolbelt.evals.cases.imports.import_report import Ledger, UnmappedError
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool, names_offered
from toolbelt.evals.cases.references import CatalogNames, Unresolved


class Keeping(StrEnum):
    """Whether the arguments of calls are part of the labels."""

    KEEP = "keep"
    DROP = "drop"


class Labels(StrEnum):
    """Where a record has both, what is taken for right."""

    ANNOTATED = "annotated"
    """What people wrote down."""
    RECORDED = "recorded"
    """What the agent did."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user says of cases that are imported.

    Attributes:
        arguments: `None` keeps them where people wrote the labels, and drops them where an agent made the calls.
        reviewed: Whether what an agent did is known to be right, so that it is no draft.
        role: Of every case.
        kind: Of every case, in place of one that is told from its calls.
        tags: Of every case, besides those of the source.
        target_field: Inspect samples: the field that names the tools, with dots into `metadata`.
        labels: LiveMCPBench trajectories: what is right.
    """

    arguments: Keeping | None = None
    reviewed: bool = False
    role: str | None = None
    kind: str | None = None
    tags: tuple[str, ...] = ()
    target_field: str | None = None
    labels: Labels = Labels.ANNOTATED

    def keeps(self, *, recorded: bool) -> bool:
        """Whether arguments are kept, of calls that an agent made (`recorded`) or that people wrote down."""
        return self.arguments is Keeping.KEEP or (self.arguments is None and not recorded)


CaseRow = dict[str, Any]
"""A case as a line of a file, of toolbelt's own layout or of the imported one."""
LINE = "line"
"""A key of a row that says where it stands, if not in the first line of its record; it is not written."""
NOT_IN_CATALOG = "names a tool that is not in the catalog"
NOT_OFFERED = "calls a tool that was not offered"
OFFER_NOT_IN_CATALOG = "was offered a tool that is not in the catalog"


@dataclass(eq=False)
class Context:
    """What is known once every source was looked through.

    Attributes:
        catalog: Every tool.
        settings: What the user said.
        ledger: Where to say what became of a record.
        pool: What tools of the sources became; `None` where another catalog was given.
    """

    catalog: Catalog
    settings: Settings
    ledger: Ledger
    pool: ToolPool | None
    names: CatalogNames = field(init=False)

    def __post_init__(self) -> None:
        self.names = CatalogNames(self.catalog)
        self._all = len(self.catalog.tools)
        self._bearers: dict[str, list[str]] = {}
        for tool in self.catalog.tools:
            self._bearers.setdefault(tool.name, []).append(tool.id)

    def offered(self, tools: Sequence[Any] | None) -> tuple[str, ...] | None:
        """Ids of what a request offered; `None` where it says nothing of tools.

        Raises:
            BrokenError: an entry is no tool.
            UnmappedError: one is not in the catalog that was given.
        """
        if tools is None:
            return None
        if self.pool is not None:
            return self.pool.add_list(tools)
        found = [(name, self.names.resolve(name)) for name in names_offered(tools)]
        for name, tool_id in found:
            if isinstance(tool_id, Unresolved):
                raise UnmappedError(OFFER_NOT_IN_CATALOG, name)
        return tuple(dict.fromkeys(tool_id for _, tool_id in found if isinstance(tool_id, str)))

    def universe(self, offered: tuple[str, ...] | None) -> CaseRow:
        """`offered` as a case writes it: nothing where it is the whole catalog, or not known."""
        return {} if offered is None or len(offered) == self._all else {"offered": list(offered)}

    def reference(self, name: str, offered: tuple[str, ...] | None) -> str | list[str]:
        """The tool that a name means, by id; a list where it may be any of several.

        Raises:
            UnmappedError: none is meant.
        """
        if offered is not None:
            found: Sequence[str] = self.names.within(offered, name)
            if not found and isinstance(meant := self.names.resolve(name), str) and meant in offered:
                found = (meant,)
            if not found:
                raise UnmappedError(NOT_OFFERED, name)
        else:
            found = self._bearers.get(name, ())
        if found:
            return found[0] if len(found) == 1 else list(found)
        looked_up = self.names.resolve(name)
        if isinstance(looked_up, str):
            return looked_up
        if looked_up.candidates:
            return list(looked_up.candidates)
        raise UnmappedError(NOT_IN_CATALOG, looked_up.message)

    def common(self, tags: Sequence[str] = (), kind: str = "") -> CaseRow:
        """What the user said of every case, with what the source says of this one."""
        made: CaseRow = {}
        if wanted := self.settings.kind or kind:
            made["kind"] = wanted
        if self.settings.role is not None:
            made["role"] = self.settings.role
        if all_tags := list(dict.fromkeys((*tags, *self.settings.tags))):
            made["tags"] = all_tags
        return made


class Format(Protocol):
    """One kind of source, read twice: once for its tools, once for its cases. An instance serves one import."""

    label: str
    """What it is, in words."""

    def look(self, record: Record, pool: ToolPool) -> None:
        """Gather tools, and what a later record may be joined with; raises `BrokenError` as `rows` will."""
        ...

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The cases of a record, without ids that are taken; raises `BrokenError` or `UnmappedError`."""
        ...

    def finish(self, context: Context) -> None:
        """Say what was joined with nothing."""
        ...


def kind_of(steps: Sequence[Sequence[Any]]) -> str:
    """What sort of case the calls made, step by step, are."""
    count = sum(map(len, steps))
    if count == 0:
        return "no_call"
    if count == 1:
        return "single"
    return "parallel" if len(steps) == 1 else "multi"
