"""Whether a query names the tool that is to be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolbelt.catalog import Tool
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.named_tools import names_tool
from toolbelt.evals.cases.texts import text_of
from toolbelt.findings import Finding, Severity

EASY = "easy"
"""The tag of cases whose query is meant to name the tool."""


class Leaks:
    """Finds names of tools in queries, as `toolbelt.evals.cases.named_tools` tells them."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools

    def look(self, case: Case) -> Iterator[Finding]:
        """A finding for each name."""
        if EASY in case.tags:
            return
        said = "\n".join(user_texts(case))
        named = {self._tools[tool_id].name for answer in case.answers for call in answer for tool_id in call.tools}
        for name in sorted(named):
            if names_tool(said, name):
                message = f"The query names the tool {name!r} that is to be found; reword it, or tag the case {EASY!r}."
                yield Finding("name-in-query", Severity.WARNING, message)


def user_texts(case: Case) -> Iterator[str]:
    """Each text that the user says."""
    for message in case.messages:
        if message.get("role") == "user":
            yield text_of(message.get("content"))
