"""Scores made-up answers by the leaderboard's own checker and by ours, and prints how often they agree.

    pip download --no-deps bfcl-eval==2026.3.23 && unzip -q bfcl_eval-*.whl -d bfcl
    python -m tests.benchmarks.bfcl_agreement bfcl
    python -m tests.benchmarks.bfcl_agreement bfcl result/MODEL/BFCL_v4_*_result.json

Questions and ground truth are those of the package. Of each single-turn case in Python, answers are drawn that are
right, and answers in which one thing was changed. The checker is the package's, unchanged; only its table of models,
whose import needs the clients of forty providers, is replaced by one that renames no function.

With result files, the published answers of one model are scored instead: by ours as `toolbelt eval import` reads them.
"""

from __future__ import annotations

import copy
import io
import json
import random
import sqlite3
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolbelt.evals import import_answers
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.cases.imports.importer import import_cases
from toolbelt.evals.scoring.outcome import Ending, Outcome, SelectedTool
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer

CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple")
SUBSETS = (*CATEGORIES, "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
Calls = list[tuple[str, dict[str, Any]]]
MOST_SHOWN = 100


def draw_right(truth: list[Any], chance: random.Random) -> Calls:
    """Calls that are right by the ground truth."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            chosen = {key: chance.choice(values) for key, values in value.items()}
            return {key: each for key, each in chosen.items() if each != ""}
        return [plain(item) for item in value] if isinstance(value, list) else value

    calls = []
    for call in truth:
        ((name, arguments),) = call.items()
        chosen = {key: chance.choice(values or [[]]) for key, values in arguments.items()}
        calls.append((name, {key: plain(value) for key, value in chosen.items() if value != ""}))
    return calls


def change_text(value: Any, chance: random.Random) -> Any:
    """Another spelling that is the same text for the leaderboard, or nearly one."""
    if not isinstance(value, str):
        return value
    return chance.choice([value.upper(), value.replace(" ", "-"), f"{value}.", value[:-1], f"{value}!", f" {value}"])


def change_type(value: Any, chance: random.Random) -> Any:
    """The value as another type."""
    others: list[Any] = [str(value), [value], None, "dontcare", True, {"value": value}]
    if isinstance(value, int | float):
        others += [float(value), int(value), value + 1, -value]
    return chance.choice(others)


def change_inside(value: Any, chance: random.Random) -> Any:
    """A list or an object with one thing changed inside."""
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        item = change_type(value[at], chance)
        return chance.choice([value[::-1], value[1:], [*value, value[0]], [*value[:at], item, *value[at + 1 :]]])
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        rest = {name: each for name, each in value.items() if name != key}
        return chance.choice([rest, {**value, "further": 1}, {**value, key: change_type(value[key], chance)}])
    return change_type(value, chance)


def change_call(change: Callable[[Any, random.Random], Any]) -> Callable[[Calls, list[str], random.Random], None]:
    """A change of one argument of one call."""

    def apply(calls: Calls, _: list[str], chance: random.Random) -> None:
        if calls and (arguments := chance.choice(calls)[1]):
            name = chance.choice(list(arguments))
            arguments[name] = change(arguments[name], chance)

    return apply


def leave_out(calls: Calls, _: list[str], chance: random.Random) -> None:
    if calls and (arguments := chance.choice(calls)[1]):
        del arguments[chance.choice(list(arguments))]


def add_argument(calls: Calls, _: list[str], chance: random.Random) -> None:
    if calls:
        chance.choice(calls)[1]["not_a_parameter"] = chance.choice([1, "", None])


def call_another(calls: Calls, names: list[str], chance: random.Random) -> None:
    if calls:
        at = chance.randrange(len(calls))
        calls[at] = (chance.choice(names), calls[at][1])


def repeat(calls: Calls, _: list[str], chance: random.Random) -> None:
    calls.append(copy.deepcopy(chance.choice(calls)) if calls else ("", {}))


def drop(calls: Calls, _: list[str], chance: random.Random) -> None:
    if calls:
        del calls[chance.randrange(len(calls))]


def shuffle(calls: Calls, _: list[str], chance: random.Random) -> None:
    chance.shuffle(calls)


CHANGES: dict[str, Callable[[Calls, list[str], random.Random], None]] = {
    "right": lambda *_: None,
    "another spelling": change_call(change_text),
    "another type": change_call(change_type),
    "changed inside": change_call(change_inside),
    "an argument left out": leave_out,
    "an argument too many": add_argument,
    "another function": call_another,
    "a call repeated": repeat,
    "a call left out": drop,
    "another order": shuffle,
}
DRAWS = 4
"""Answers of each kind, for each case."""


def open_checker(package: Path) -> Callable[..., Any]:
    """The package's `ast_checker`, as a function of functions, calls, ground truth and category."""
    sys.path.insert(0, str(package))
    table = types.ModuleType("bfcl_eval.constants.model_config")
    table.MODEL_CONFIG_MAPPING = {"any": types.SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    sys.modules[table.__name__] = table
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # type: ignore[import-not-found]

    def check(functions: list[Any], calls: Calls, truth: list[Any], category: str) -> bool:
        made = [{name: arguments} for name, arguments in copy.deepcopy(calls)]
        return bool(ast_checker(functions, made, truth, Language.PYTHON, category, "any")["valid"])

    return check


def read_lines(path: Path) -> dict[str, Any]:
    return {row["id"]: row for row in map(json.loads, path.read_text().splitlines())}


def answers(data: Path) -> Iterator[tuple[str, str, dict[str, Any], list[Any], str, Calls]]:
    """Every answer: category, id, question, ground truth, kind of change, calls."""
    for subset in SUBSETS:
        questions = read_lines(data / f"BFCL_v4_{subset}.json")
        truths = read_lines(data / "possible_answer" / f"BFCL_v4_{subset}.json")
        for case_id, question in questions.items():
            truth = truths[case_id]["ground_truth"]
            names = [function["name"] for function in question["function"]]
            for kind, change in CHANGES.items():
                chance = random.Random(f"{case_id} {kind}")
                for _ in range(DRAWS):
                    calls = copy.deepcopy(draw_right(truth, chance))
                    change(calls, names, chance)
                    yield subset, case_id, question, truth, kind, calls


def published(package: str, files: list[str]) -> None:
    """Print how often the published answers of one model, imported as a run, are right by both."""
    check, data = open_checker(Path(package)), Path(package) / "bfcl_eval" / "data"
    with tempfile.TemporaryDirectory() as folder:
        questions = [str(data / f"BFCL_v4_{subset}.json") for subset in SUBSETS]
        import_cases(questions, f"{folder}/bfcl", standard_input=io.BytesIO(), form="bfcl")
        run = import_answers(files, f"{folder}/bfcl", "published", store=f"{folder}/runs.db")
        with sqlite3.connect(run.store) as store:
            query = (
                "SELECT case_id, reply, outcome FROM trials JOIN requests USING (run, trial) WHERE reply IS NOT NULL"
            )
            rows = {case: (json.loads(reply), outcome) for case, reply, outcome in store.execute(query)}
    counts: Counter[str] = Counter()
    for subset in SUBSETS:
        truths = read_lines(data / "possible_answer" / f"BFCL_v4_{subset}.json")
        for case, question in read_lines(data / f"BFCL_v4_{subset}.json").items():
            if case not in rows:
                continue
            reply, outcome = rows[case]
            plain = {name.replace(".", "_"): name for name in (each["name"] for each in question["function"])}
            calls = [(plain.get(name, name), json.loads(text)) for _, name, text in reply.get("calls", ())]
            theirs = check(question["function"], calls, truths[case]["ground_truth"], subset)
            counts[f"theirs {theirs}, ours {outcome == Outcome.CORRECT}"] += 1
    print(f"{run.end}: {run.reason}", dict(counts))


def main(package: str, *files: str) -> None:
    """Print the agreement by kind of change, and the first answers that are scored differently."""
    if files:
        published(package, list(files))
        return
    check, data = open_checker(Path(package)), Path(package) / "bfcl_eval" / "data"
    with tempfile.TemporaryDirectory() as folder:
        sources = [str(data / f"BFCL_v4_{subset}.json") for subset in SUBSETS]
        imported = import_cases(sources, f"{folder}/bfcl", standard_input=io.BytesIO(), form="bfcl")
        print(f"{imported.cases:,} cases;", *imported.notes, sep="\n  ")
        dataset = open_dataset(f"{folder}/bfcl")
        catalog = dataset.catalog_file.catalog
        scorer, tools = Scorer(ArgumentSchemas(catalog)), {tool.id: tool for tool in catalog.tools}
        counts: dict[str, Counter[str]] = {kind: Counter() for kind in CHANGES}
        shown = 0
        for subset, case_id, question, truth, kind, calls in answers(data):
            try:
                theirs = check(question["function"], calls, truth, subset)
            except Exception as error:  # noqa: BLE001  the checker's own
                counts[kind][f"their checker raises {type(error).__name__}"] += 1
                continue
            case = dataset.case(dataset.get(case_id))
            by_name = {tools[tool_id].name: tool_id for tool_id in case.offered or ()}
            made = [SelectedTool(0, name, by_name.get(name), name in by_name, given) for name, given in calls]
            ours = scorer.score(case, made, Ending.STEPS)
            is_right = ours.outcome is Outcome.CORRECT
            counts[kind]["both right" if theirs and is_right else "both wrong"] += theirs == is_right
            counts[kind]["theirs right alone"] += theirs and not is_right
            counts[kind]["ours right alone"] += is_right and not theirs
            if theirs != is_right and (shown := shown + 1) <= MOST_SHOWN:
                print(case_id, kind, f"theirs {theirs}, ours {ours.outcome}: {ours.reason}", calls, truth, sep=" | ")
        for kind, count in counts.items():
            print(f"{kind}: {dict(count)}")
        total = sum(counts.values(), Counter[str]())
        agree = total["both right"] + total["both wrong"]
        compared = agree + total["theirs right alone"] + total["ours right alone"]
        print(f"in all: {agree:,} of {compared:,} agree, {agree / compared:.3%}: {dict(total)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
