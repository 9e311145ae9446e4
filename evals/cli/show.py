"""`toolbelt eval list` and `show`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.summary.summarize import summarize, time_reading
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.options import details_option, store_option
from toolbelt.evals.cli.shown import show_run
from toolbelt.evals.running.notes import read_notes, read_run_notes, write_note
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.running.stored_trials import FailedTrial, case_ids, failed_trials, find_case, trials_of
from toolbelt.evals.views.run_list import run_row_data
from toolbelt.render.screen import notify, print_json, progress, show_blocks
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Note
from toolbelt.views.cells import Count, Span, Tone
from toolbelt.views.table import Column, Row, Table


@click.command("list", epilog=examples("toolbelt eval list"))
@store_option
@json_option
def list_runs(store: str, as_json: bool) -> None:
    """The stored runs, the latest first: what they asked, and how many trials have finished."""
    with RunStore(Path(store), must_exist=True) as opened:
        rows = [(row, opened.find_status(row)) for row in opened.runs()]
        notes = read_run_notes(opened.connection)
    if as_json:
        print_json({"runs": [run_row_data(row, status, notes.get(row.run, "")) for row, status in rows]})
        return
    if not rows:
        notify("nothing has been run here yet; try: toolbelt eval run")
        return
    columns = (
        Column("status", is_text=True),
        Column("trials"),
        Column("dataset", is_text=True),
        Column("arms", is_spare=True),
        *((Column("note", is_text=True, is_cut=True),) if notes else ()),
        Column("what", is_text=True, is_cut=True),
    )
    lines = (
        Row(
            row.run,
            (
                Span(status),
                Count(row.finished, row.plan.size),
                Span(row.plan.dataset_name + (f", shard {row.plan.shard}" if row.plan.shard else "")),
                Count(len(row.plan.arms)),
                *((Span(notes.get(row.run, "")),) if notes else ()),
                Span(", ".join(dict.fromkeys(arm.label for arm in row.plan.arms))),
            ),
        )
        for row, status in rows
    )
    show_blocks([Table("run", columns, tuple(lines))])


@click.command(
    epilog=examples(
        "toolbelt eval show",
        "toolbelt eval show --details",
        "toolbelt eval show latest --failed",
        "toolbelt eval show latest --case single-git-push-tags-1",
    )
)
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@option(
    "--case",
    "case",
    metavar="ID",
    help="One case: what it asked, what each arm was shown and called, and why it scored so.",
)
@option(
    "--failed", is_flag=True, help="Only the trials that are not right, each with its reason; with --case, its own."
)
@details_option
@store_option
@json_option
def show(name: str, case: str | None, failed: bool, details: bool, store: str, as_json: bool) -> None:
    """The results of RUN (an id, the beginning of one, or `latest`): the measures of every arm."""
    with RunStore(Path(store), must_exist=True) as opened:
        with time_reading(opened.connection, progress):
            row = opened.get(name)
        if failed:
            trials = failed_trials(opened.connection, row.run, case)
            if as_json:
                print_json({"run": row.run, "failed": [failed_data(row, trial) for trial in trials]})
            else:
                show_blocks(failed_view(row, trials))
            return
        if case is not None:
            data = case_data(opened, row, case)
            if as_json:
                print_json(data)
            else:
                show_blocks(case_view(data))
            return
        with time_reading(opened.connection, progress):
            summary = summarize(opened.connection, row.run, opened.find_status(row))
        show_run(opened, summary, as_json=as_json, details=details)


@click.command(
    epilog=examples(
        "toolbelt eval note latest 'Before the descriptions were rewritten.'",
        "toolbelt eval note latest --case single-git-push-tags-1 'The label is doubtful.'",
        "toolbelt eval note latest ''",
    )
)
@click.argument("name", metavar="RUN", shell_complete=complete_runs)
@click.argument("text", metavar="TEXT")
@option("--case", "case", metavar="ID", default="", help="About one case of the run.")
@store_option
@json_option
def note(name: str, text: str, case: str, store: str, as_json: bool) -> None:
    """Keep a note about RUN (an id, the beginning of one, or `latest`), in place of the one it has; `''` removes it.

    `eval list`, `eval show`, the page and `toolbelt view` show it.
    """
    with RunStore(Path(store), must_exist=True) as opened:
        run = opened.get(name).run
        with opened.guarded():
            write_note(opened.connection, run, text, case)
    if as_json:
        print_json({"run": run, "case": case or None, "note": text.strip()})
    else:
        what = f"case {case} of {run}" if case else run
        notify(f"note of {what} {'kept' if text.strip() else 'removed'}")


def failed_data(row: RunRow, trial: FailedTrial) -> dict[str, Any]:
    """A trial that is not right, as plain values."""
    arm = row.plan.arms[trial.arm]
    named = {"model": arm.model, "toolset": arm.toolset, "variant": arm.variant}
    return {"case": trial.case, "epoch": trial.epoch, **named, "outcome": trial.outcome, "reason": trial.reason}


def failed_view(row: RunRow, trials: Sequence[FailedTrial]) -> Iterator[Block]:
    """The trials that are not right, a line each, those of one case together."""
    if not trials:
        yield Note("No finished trial is wrong.")
        return
    columns = (Column("arm", is_text=True), Column("outcome", is_text=True), Column("reason", is_text=True))
    rows = tuple(
        Row(
            f"{trial.case} · epoch {trial.epoch}" if trial.epoch else trial.case,
            (Span(row.plan.arms[trial.arm].label), Span(trial.outcome), Span(trial.reason)),
        )
        for trial in trials
    )
    yield Table("case", columns, rows)
    yield Note(
        f"{plural(len(trials), 'trial')} not right; one whole: toolbelt eval show {row.run} --case ID", Tone.FAINT
    )


_FEW_TOOLS = 12
"""Tools offered that are named one by one."""


def case_data(store: RunStore, row: RunRow, case: str) -> dict[str, Any]:
    """What a case asked, and every trial of it: what was offered, called, and how it was scored.

    A trial is `turned_away` where it ended before a request that was known not to fit, which was not sent. `asked_by`
    is the arm that sent the same requests for both.

    Raises:
        NotFoundError: no finished trial is of that case, with the nearest ids.
    """
    content = find_case(store.connection, row.run, case)
    if content is None:
        hint = "Only cases of finished trials can be shown."
        raise NotFoundError("case", case, case_ids(store.connection, row.run), hint)
    trials = []
    for trial in trials_of(store.connection, row.run, case):
        arm = row.plan.arms[trial["arm"]]
        named = {"model": arm.model, "toolset": arm.toolset, "variant": arm.variant, "label": arm.label}
        asked_by = None if trial["asked_by"] is None else row.plan.arms[trial["asked_by"]].label
        trials.append({**named, **trial, "asked_by": asked_by, "turned_away": _is_turned_away(trial)})
    note = read_notes(store.connection, row.run).get(case, "")
    return {"run": row.run, "case": case, "note": note, **content, "trials": trials}


def case_view(data: dict[str, Any]) -> Iterator[Block]:
    """What was asked, what was right, and the trials one below the other."""
    yield Heading(data["case"])
    if data["note"]:
        yield Note(f"note: {data['note']}", Tone.WARNING)
    for message in data["messages"]:
        yield Note(f"{message['role']}: {_content(message)}")
    yield Note(f"right: {_right(data)}", Tone.FAINT)
    for trial in data["trials"]:
        epoch = f" · epoch {trial['epoch']}" if trial["epoch"] else ""
        yield Heading(f"{trial['label']}{epoch}", level=2)
        if trial["asked_by"] is not None:
            yield Note(f"The same requests as {trial['asked_by']}, which asked for both.", Tone.FAINT)
        yield from _request_lines(trial["requests"])
        if trial["turned_away"]:
            yield Note(_not_asked(trial), Tone.WARNING)
            continue
        reason = f": {trial['reason']}" if trial["reason"] else ""
        reachable = "" if trial["covered"] else " (no right answer could be reached with this toolset)"
        tone = Tone.GOOD if trial["outcome"] == "correct" else Tone.WARNING
        yield Note(f"{trial['outcome']}{reason}{reachable}", tone)


def _is_turned_away(trial: dict[str, Any]) -> bool:
    """Whether a trial ended before a request that was known not to fit, so that nobody was asked it."""
    if trial["outcome"] != "context_overflow":
        return False
    requests = trial["requests"]
    return not (requests and requests[-1]["failure"])  # else the provider turned it away


def _not_asked(trial: dict[str, Any]) -> str:
    """What did not fit, and how much of the trial was sent."""
    after = len({request["request"] for request in trial["requests"]})
    sent = f"nothing was sent after {plural(after, 'request')}" if after else "nothing was sent"
    return f"{trial['outcome']}, not asked: {trial['reason'].rstrip('.')}; {sent}"


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    calls = message.get("tool_calls")
    return text if not calls else f"{text if content else ''} {json.dumps(calls, ensure_ascii=False)}".strip()


def _right(data: dict[str, Any]) -> str:
    answers = data["answers"]
    if answers is None:
        return "any call"
    return " or ".join(", ".join(map(_expected, answer)) if answer else "no call" for answer in answers)


def _expected(call: dict[str, Any]) -> str:
    named = "|".join(call["tools"])
    if "args" not in call:
        return named
    shown = (f"{name}={'|'.join(json.dumps(v, ensure_ascii=False) for v in vs)}" for name, vs in call["args"].items())
    return f"{named}({', '.join(shown)})"


def _request_lines(requests: Sequence[dict[str, Any]]) -> Iterator[Note]:
    for request in requests:
        offered = request["offered"]
        names = f" ({', '.join(offered)})" if 0 < len(offered) <= _FEW_TOOLS else ""
        shown = (
            f"{request['request'] + 1}. {plural(len(offered), 'tool')}{names}, {request['definition_tokens']:,} tokens"
        )
        if request["failure"]:
            yield Note(f"{shown} → {request['failure']}: {request['message']}", Tone.BAD)
            continue
        if request["recorded"]:
            shown += f", recorded {request['recorded'][:10]}"
        calls = [f"{call['name']}({call['arguments']})" for call in request["calls"]]
        searches = [f"the vendor's search found {', '.join(names) or 'nothing'}" for names in request["searches"]]
        texts = [repr(request["text"][:200])] if request["text"] else []
        odd = f" ({request['message']})" if request["message"] else ""
        yield Note(f"{shown} → {', '.join([*searches, *calls, *texts]) or 'nothing'}{odd}")
        if request["follow_up"]:
            yield Note(f"user: {request['follow_up']} (turn {request['turn'] + 1})")
