"""One case of a run, request by request."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from toolbelt.console.text import plural, visible
from toolbelt.errors import NotFoundError
from toolbelt.evals.running.looking import case_ids, trials_of
from toolbelt.evals.running.store import RunRow, RunStore


def case_data(store: RunStore, row: RunRow, case: str) -> dict[str, Any]:
    """Every trial of a case: what was offered, called, and how it was scored.

    Raises:
        NotFoundError: no finished trial is of that case, with the nearest ids.
    """
    trials = trials_of(store.connection, row.run, case)
    if not trials:
        raise NotFoundError(
            "case", case, case_ids(store.connection, row.run), "Only cases of finished trials can be shown."
        )
    made = []
    for trial in trials:
        arm = row.plan.arms[trial["arm"]]
        made.append({"model": arm.model, "toolset": arm.toolset, **trial})
    return {"run": row.run, "case": case, "trials": made}


def case_view(data: dict[str, Any]) -> RenderableType:
    """The trials one below the other."""
    lines = [Text(visible(data["case"]), style="bold")]
    for trial in data["trials"]:
        style = "green" if trial["outcome"] == "correct" else "yellow"
        heading = f"{trial['model']} · {trial['toolset']}" + (f" · epoch {trial['epoch']}" if trial["epoch"] else "")
        lines.append(Text(""))
        lines.append(Text(visible(heading), style="bold"))
        lines.extend(_request_lines(trial["requests"]))
        reason = f": {trial['reason']}" if trial["reason"] else ""
        lines.append(Text(visible(f"{trial['outcome']}{reason}"), style=style))
    return Group(*lines)


def _request_lines(requests: list[dict[str, Any]]) -> list[Text]:
    lines = []
    for request in requests:
        shown = (
            f"{request['request'] + 1}. {plural(request['tools'], 'tool')}, {request['definition_tokens']:,} tokens → "
        )
        if request["failure"]:
            lines.append(Text(visible(f"{shown}{request['failure']}: {request['message']}"), style="red"))
            continue
        calls = [f"{call['name']}({call['arguments']})" for call in request["calls"]]
        said = [repr(request["text"][:200])] if request["text"] else []
        lines.append(Text(visible(f"{shown}{', '.join([*calls, *said]) or 'nothing'}")))
    return lines
