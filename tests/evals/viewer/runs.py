"""Runs to make pages of: small ones written by hand, hostile ones, and one of 20,000 trials."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from typing import Any

from tests.evals.analysis.summary.rows import RUN, database

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "--><svg onload=window.hacked=1>",
    "{{ 7 * 7 }}{% raw %}",
    "' onfocus='window.hacked=1' autofocus='",
    "javascript:window.hacked=1",
    "evil\u202etxt.exe\u2066",
    "nul\x00 esc\x1b[31m line\u2028sep\u2029 bom\ufeff tag\U000e0041",
    "half \ud83d surrogate",
    "]]>&lt;b&gt;&amp;",
)
ARMS = [("local/bm25", "full", ""), ("local/bm25", "loadout", ""), ("local/bm25", "tiered", "")]
SEVERAL = {4: (["a/x", "a/y"], ["b/x", "b/y"]), 7: (["a/x", "a/y"], ["a/y", "c/x"]), 16: (["a/x", "a/y"], ["d/x"])}
"""Calls missing and too many, by the case of the small run's second arm."""
UNCOVERED = (2, 4)
"""Arm and case of the small run that called what is right, though the toolset never offers it."""
KINDS = ("single", "multi", "irrelevant")
_WORDS = tuple(f"{first}{second}{last}" for first in "bdfglmnprstv" for second in "aeiou" for last in ("lk", "n", "rt"))


def add_case(connection: sqlite3.Connection, case: str, content: dict[str, Any]) -> None:
    """What was asked and what was right."""
    connection.execute("INSERT INTO cases VALUES (?, ?, ?)", (RUN, case, json.dumps(content)))


def add_offers(connection: sqlite3.Connection, offers: dict[str, list[str]]) -> None:
    """Lists of names by digest."""
    connection.executemany(
        "INSERT OR REPLACE INTO offers VALUES (?, ?)", [(offer, json.dumps(names)) for offer, names in offers.items()]
    )


def content(query: str, tool: str | None, **arguments: list[Any]) -> dict[str, Any]:
    """A case that asks for one call, or for none."""
    answers: list[Any] = [[]] if tool is None else [[{"tools": [tool], "args": arguments}]]
    return {"messages": [{"role": "user", "content": query}], "answers": answers}


def reply(text: str = "", *calls: tuple[str, str]) -> str:
    """As the store keeps it."""
    return json.dumps({"calls": [[f"call_{at}", *call] for at, call in enumerate(calls)], "text": text})


def small_run(cases: int = 20) -> sqlite3.Connection:
    """Three arms: the first is right but for every fifth case, the second confuses tools, the third is cut short."""
    trials = list(_small_trials(cases))
    connection = database(
        ARMS, [trial for trial, _ in trials], [one for _, asked in trials for one in asked], planned=cases,
        plan={"cases": cases},
    )  # fmt: skip
    for case in range(cases):
        tool = None if case % 3 == 2 else f"files/read_{case % 4}"
        add_case(connection, f"case-{case:02}", content(f"Question {case} about Zürich", tool, path=[f"/a/{case}", 7]))
    names = [f"read_{number}" for number in range(4)]
    add_offers(connection, {"all": [*names, "write"], "some": names, "meta": ["browse_tools", "load_tools"]})
    return connection


def _small_trials(cases: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for case in range(cases):
        for arm in range(3):
            trial: dict[str, Any] = {"trial": 3 * case + arm, "arm": arm, "case_id": f"case-{case:02}"}
            trial |= {"cluster": f"case-{case:02}", "kind": KINDS[case % 3], "latency_seconds": 0.1 + case / 100}
            tool = None if case % 3 == 2 else f"files/read_{case % 4}"
            called = [] if tool is None else [tool]
            trial |= {
                "called": json.dumps(called),
                "own_prompt_tokens": 100 * (arm + 1) + case,
                "cost_usd": 0.001 * arm,
            }
            trial["expects_nothing"] = int(tool is None)
            if arm == 0 and case % 5 == 0 and tool:
                trial |= {"outcome": "missing_call", "called": "[]", "missing": json.dumps([tool])}
                trial["reason"] = f"Did not call {tool}."
            if arm == 1 and case % 4 == 1 and tool:
                trial |= {"outcome": "wrong_tool", "called": '["files/write"]', "missing": json.dumps([tool])}
                trial |= {"surplus": '["files/write"]', "reason": f"Called files/write instead of {tool}."}
            if arm == 1 and case in SEVERAL:
                missing, surplus = SEVERAL[case]
                trial |= {"outcome": "wrong_tool", "missing": json.dumps(missing), "surplus": json.dumps(surplus)}
            if (arm, case) == UNCOVERED:
                trial |= {"covered": 0, "surfaced": 0}
            if arm == 2 and case % 7 == 0:
                trial |= {"outcome": "error", "reason": "timeout", "called": "[]", "ending": "error"}
            yield trial, list(_small_requests(trial, arm))


def _small_requests(trial: dict[str, Any], arm: int) -> Iterator[dict[str, Any]]:
    made = {"trial": trial["trial"], "tools": 5, "offer": "all", "prompt_tokens": 90, "completion_tokens": 9}
    calls = [(name.rpartition("/")[2], '{"path": "/a"}') for name in json.loads(trial["called"])]
    if trial.get("outcome") == "error":
        yield made | {"failure": "timeout", "message": "nobody there", "reply": None, "prompt_tokens": None}
        yield made | {"attempt": 1, "failure": "timeout", "message": "nobody there", "reply": None}
    elif arm == 2:
        yield made | {"offer": "meta", "tools": 2, "reply": reply("", ("browse_tools", "{}"))}
        yield made | {"request": 1, "offer": "meta", "tools": 2, "reply": reply("I have loaded them.")}
        yield made | {"request": 2, "offer": "some", "tools": 4, "reply": reply("", *calls)}
    else:
        yield made | {"reply": reply("Here you are." if calls else "No tool is needed.", *calls)}


def epochs_run() -> sqlite3.Connection:
    """Two arms, three epochs: one case is worse, one better; of one the arguments alone are wrong, and once."""
    right: dict[str, Any] = {"called": '["a/x"]'}
    nothing = {"outcome": "missing_call", "called": "[]", "missing": '["a/x"]'}
    order = {"outcome": "wrong_tool", "called": '["b/x", "a/x"]', "missing": '["a/x"]', "surplus": '["a/x"]'}
    amiss = {"outcome": "wrong_arguments", "called": '["a/x"]'}
    error = {"outcome": "error", "called": "[]", "ending": "error"}
    of = {
        "worse": ((right, right, error), (right, nothing, right)),
        "better": ((right, right, order), (error, right, right)),
        "arguments": ((right, right, right), (right, amiss, right)),
    }
    trials: list[dict[str, Any]] = [
        made | {"case_id": case, "cluster": case, "arm": arm, "epoch": epoch}
        for case, arms in of.items()
        for arm, epochs in enumerate(arms)
        for epoch, made in enumerate(epochs)
    ]
    trials = [made | {"trial": number} for number, made in enumerate(trials)]
    connection = database(ARMS[:2], trials, planned=9, plan={"cases": 3, "epochs": 3})
    for case in of:
        add_case(connection, case, content(f"Is it {case}?", "a/x"))
    return connection


def long_run(requests: int) -> sqlite3.Connection:
    """One trial of so many requests, each offering one tool that the one before did not, in place of another."""
    trial = {"trial": 0, "case_id": "long", "cluster": "long", "requests": requests}
    asked = [
        {"trial": 0, "request": at, "offer": f"offer-{at % 60}", "reply": reply(f"Reply {at}", (f"tool_{at}", "{}"))}
        for at in range(requests)
    ]
    connection = database([("m", "dynamic", "")], [trial], asked, planned=1, plan={"cases": 1})
    add_case(connection, "long", content("Go on", "a/b"))
    add_offers(connection, {f"offer-{at}": [f"tool_{at + shift}" for shift in range(20)] for at in range(60)})
    return connection


def hostile_run(texts: tuple[str, ...] = HOSTILE) -> sqlite3.Connection:
    """Every text that somebody else wrote is hostile; what cannot be a column's text is left to the JSON."""
    columns = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    arms = [(f"model {text}", f"toolset {text}", "") for text in columns]
    trials, requests = [], []
    for at, (raw, text) in enumerate(zip(texts, columns, strict=True)):
        names = json.dumps([raw])
        trials.append(
            {
                "trial": at, "arm": at, "case_id": f"id {text}", "cluster": text, "kind": f"kind {text}",
                "reason": text, "outcome": "wrong_tool", "called": names, "surplus": names,
                "missing": json.dumps([f"want {raw}"]),
            }
        )  # fmt: skip
        requests.append({"trial": at, "offer": f"offer {text}", "message": text, "reply": reply(raw, (raw, raw))})
        requests.append(
            {"trial": at, "request": 1, "offer": f"offer {text}", "failure": text, "message": text, "reply": None}
        )
    connection = database(
        arms, trials, requests, planned=1, status="incomplete", reason=f"reason {columns[0]} {columns[6]}",
        plan={"dataset": {"name": f"set {columns[0]} {columns[6]}", "reference": "x", "digest": columns[1]}, "cases": 1,
              "excluded": {columns[1]: 2}, "settings": {"api_base": columns[0], columns[1]: columns[2]}},
    )  # fmt: skip
    for raw, text in zip(texts, columns, strict=True):
        call = {"function": {"name": raw, "arguments": raw}}
        case = content(raw, raw, **{raw: [raw]})
        case["messages"] += [{"role": raw, "content": raw, "tool_calls": [call]}]
        add_case(connection, f"id {text}", case | {"forbidden": [raw], "allowed_extra": [raw], "role": raw})
        add_offers(connection, {f"offer {text}": [raw, "other"]})
    return connection


def big_run(cases: int = 5_000, arms: int = 4, seed: int = 7) -> sqlite3.Connection:
    """So many cases over so many arms, with texts of the length that real ones have, each its own."""
    draw = random.Random(seed)
    tools = [f"plugin{number // 8}/{draw.choice(_WORDS)}_{draw.choice(_WORDS)}_{number}" for number in range(200)]
    names = [tool.rpartition("/")[2] for tool in tools]
    offers = {"full": names} | {f"some{number}": draw.sample(names, 40) for number in range(30)}
    trials, requests, kept = [], [], {}
    for case in range(cases):
        wanted = tools[case % 200]
        query = " ".join(draw.choices(_WORDS, k=draw.randint(10, 60))) + f" {draw.randint(0, 10**9)}"
        kept[f"case-{case:05}"] = content(query, wanted, path=[query[:20]], limit=[draw.randint(1, 999)])
        for arm in range(arms):
            number, called = arms * case + arm, wanted if draw.random() < 0.7 else draw.choice(tools)
            is_right = called == wanted
            trials.append(
                {
                    "trial": number, "arm": arm, "case_id": f"case-{case:05}", "cluster": f"case-{case:05}",
                    "kind": KINDS[case % 3], "called": json.dumps([called]),
                    "own_prompt_tokens": draw.randint(500, 60_000), "latency_seconds": draw.random() * 3,
                    "outcome": "correct" if is_right else "wrong_tool",
                    "missing": "[]" if is_right else json.dumps([wanted]),
                    "surplus": "[]" if is_right else json.dumps([called]),
                    "reason": f"Called {called}." if is_right else f"Called {called} instead of {wanted}.",
                }
            )  # fmt: skip
            for request in range(1 + arm % 3):
                written = json.dumps({"path": " ".join(draw.choices(_WORDS, k=6)), "limit": draw.randint(1, 999)})
                said = " ".join(draw.choices(_WORDS, k=12))
                offer = f"some{draw.randrange(30)}" if arm else "full"
                requests.append(
                    {"trial": number, "request": request, "offer": offer, "latency_seconds": draw.random(),
                     "reply": reply(said, (called.rpartition("/")[2], written))}
                )  # fmt: skip
    toolsets = [("local/bm25", "full" if arm == 0 else f"oracle+{arm}", "") for arm in range(arms)]
    connection = database(toolsets, trials, requests, planned=cases, plan={"cases": cases})
    connection.executemany(
        "INSERT INTO cases VALUES (?, ?, ?)", [(RUN, case, json.dumps(one)) for case, one in kept.items()]
    )
    add_offers(connection, offers)
    return connection
