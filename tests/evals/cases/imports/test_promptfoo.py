from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.imports.samples import MAIL, TOOLS, WEATHER, bring_in, cases, labels, opened, rows, write
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case import Matching
from toolbelt.evals.cases.imports import promptfoo_assertions
from toolbelt.evals.cases.imports.context import NOT_OFFERED
from toolbelt.evals.cases.imports.promptfoo import NO_TOOLS_ASSERTED
from toolbelt.evals.cases.imports.promptfoo_assertions import BY_PATTERN, THRESHOLD, UNREADABLE
from toolbelt.evals.cases.imports.promptfoo_demands import NEVER_PASSES
from toolbelt.evals.cases.imports.promptfoo_files import (
    MISSING_VARIABLE,
    NO_PROMPT,
    NONE_OF_ITS_PROMPTS,
    PROMPT_ELSEWHERE,
    SEVERAL_VALUES,
    TEMPLATE_LOGIC,
)
from toolbelt.evals.scoring.outcome import Ending, Outcome, SelectedTool
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.stores.catalogs import open_catalog

F1 = {"type": "tool-call-f1", "value": ["send_mail"]}


def one_test(*assertions: Any, task: Any = "Mail Bob.", **fields: Any) -> dict[str, Any]:
    """A test of a configuration."""
    return {"vars": {"task": task}, "assert": list(assertions), **fields}


def config(*tests: Any, **fields: Any) -> dict[str, Any]:
    """A configuration."""
    provider = {"id": "openai:chat", "config": {"tools": TOOLS}}
    return {"prompts": ["Now: {{ task }}"], "providers": [provider], "tests": list(tests), **fields}


def _file(path: Path, data: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return str(path)


def used(value: Any, prefix: str = "") -> dict[str, Any]:
    """An assertion about tools that were used."""
    return {"type": f"{prefix}trajectory:tool-used", "value": value}


MATCH = {"type": "trajectory:tool-args-match", "value": {"name": "send_mail", "args": {"to": "Bob"}}}


@pytest.mark.parametrize(
    ("assertions", "expected", "match"),
    [
        pytest.param([F1], [{"tool": "send_mail"}], "exact", id="f1"),
        pytest.param(
            [{"type": "equals", "value": "send_mail", "transform": "output[0].function.name"}],
            [{"tool": "send_mail"}],
            "starts_with",
            id="first-call-by-a-transform",
        ),
        pytest.param(
            [
                {"type": "is-json"},
                {"type": "is-valid-openai-tools-call"},
                {"type": "javascript", "value": "output[0].function.name === 'send_mail'"},
                {"type": "javascript", "value": "JSON.parse(output[0].function.arguments).to === 'Bob'"},
            ],
            [{"tool": "send_mail", "args": {"to": "Bob"}}],
            "starts_with",
            id="first-call-by-expressions",
        ),
        pytest.param(
            [{"type": "tool-call-f1", "value": "send_mail, get_weather"}],
            [{"tool": "send_mail"}, {"tool": "get_weather"}],
            "exact",
            id="f1-with-commas",
        ),
        pytest.param([used("send_mail")], [{"tool": "send_mail"}], "superset", id="used"),
        pytest.param([used({"name": "send_mail", "min": 2})], [{"tool": "send_mail"}] * 2, "superset", id="used-twice"),
        pytest.param(
            [{"type": "trajectory:tool-sequence", "value": ["get_weather", "send_mail"]}],
            [{"tool": "get_weather"}, {"tool": "send_mail"}],
            "in_order",
            id="sequence",
        ),
        pytest.param(
            [{"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["get_weather", "send_mail"]}}],
            [{"tool": "get_weather"}, {"tool": "send_mail"}],
            "ordered",
            id="sequence-without-others-between",
        ),
        pytest.param(
            [used("send_mail"), used(["send_mail", "get_weather"])],
            [{"tool": "send_mail"}, {"tool": "get_weather"}],
            "superset",
            id="used-and-used",
        ),
        pytest.param([MATCH], [{"tool": "send_mail", "args": {"to": "Bob"}}], "superset", id="arguments"),
        pytest.param([F1, MATCH], [{"tool": "send_mail", "args": {"to": "Bob"}}], "exact", id="arguments-of-a-call"),
        pytest.param([F1, used("send_mail")], [{"tool": "send_mail"}], "exact", id="two-that-agree"),
        pytest.param(
            [used("send_mail"), {"type": "tool-call-f1", "value": ["send_mail", "get_weather"]}],
            [{"tool": "send_mail"}, {"tool": "get_weather"}],
            "exact",
            id="the-stricter-one-counts",
        ),
        pytest.param([{"type": "is-valid-openai-tools-call"}], None, "exact", id="any-call"),
    ],
)
def test_E3_assertions_that_name_tools_are_labels(
    tmp_path: Path, assertions: list[Any], expected: Any, match: str
) -> None:
    bring_in(tmp_path / "out", _file(tmp_path / "promptfooconfig.json", config(one_test(*assertions))))
    (row,), (case,) = rows(tmp_path / "out"), cases(tmp_path / "out")
    assert (row["query"], row["expected"], case.match) == ("Now: Mail Bob.", expected, Matching(match))
    assert case.draft is False


def test_E3_tools_that_must_not_be_used_are_forbidden(tmp_path: Path) -> None:
    test = one_test(F1, used("get_weather", "not-"))
    bring_in(tmp_path / "out", _file(tmp_path / "promptfooconfig.json", config(test)))
    (case,) = cases(tmp_path / "out")
    assert case.forbidden == {"get_weather"}


@pytest.mark.parametrize(
    ("test", "reasons"),
    [
        pytest.param(
            one_test({"type": "contains", "value": "x"}),
            {"an assertion of the type 'contains'", NO_TOOLS_ASSERTED},
            id="no-assertion-maps",
        ),
        pytest.param(
            one_test(F1, {"type": "tool-call-f1", "value": ["get_weather"]}),
            {NEVER_PASSES},
            id="two-that-contradict",
        ),
        pytest.param(
            one_test({"type": "tool-call-f1", "value": ["no_such"]}),
            {NOT_OFFERED},
            id="no-such-tool",
        ),
        pytest.param(one_test(F1, task=["a", "b"]), {SEVERAL_VALUES}, id="lists"),
        pytest.param(
            {"vars": {"other": 1}, "assert": [F1]},
            {MISSING_VARIABLE},
            id="no-variable",
        ),
        pytest.param("file://tests.py", {"tests that a program or a service makes"}, id="tests-in-python"),
        pytest.param(
            one_test(used({"pattern": "fetch_*"})),
            {BY_PATTERN},
            id="a-pattern-of-no-tool",
        ),
        pytest.param(
            one_test(F1, {"type": "python", "value": "file://check.py"}),
            {UNREADABLE},
            id="a-program",
        ),
        pytest.param(one_test(F1, used("send_mail"), threshold=0.5), {THRESHOLD}, id="a-part-is-enough"),
    ],
)
def test_E3_what_does_not_map_is_told_by_line_and_reason(tmp_path: Path, test: Any, reasons: set[str]) -> None:
    source = _file(tmp_path / "promptfooconfig.json", config(one_test(F1), test))
    imported = bring_in(tmp_path / "out", source)
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    assert set(imported.left_out) == reasons
    second = [number for number, line in enumerate(lines, start=1) if line == "  {" or line.startswith('  "file:')][-1]
    assert {one.line for one in imported.lines} == {second}
    assert imported.cases >= 1


def test_E3_what_a_variable_holds_is_no_template_and_logic_in_a_prompt_is_left_out(tmp_path: Path) -> None:
    prompts = ["{% if task %}x{% endif %}", "Now: {{task}}"]
    test = one_test(F1, task="Write {{ name }} and {% raw %}.")
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(test, prompts=prompts)))
    (case,) = cases(tmp_path / "out")
    assert case.query == "Now: Write {{ name }} and {% raw %}."
    assert imported.left_out == {TEMPLATE_LOGIC: 1}


def test_E3_prompts_and_lists_of_tools_multiply_and_share_a_cluster(tmp_path: Path) -> None:
    chat = json.dumps([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{task}}"}])
    providers = [{"id": "a", "config": {"tools": TOOLS}}, {"id": "b", "config": {"tools": [MAIL]}}, {"id": "c"}]
    test = one_test(F1, description="mail")
    data = config(test, prompts=["{{task}}", chat], providers=providers)
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    cases_read = cases(tmp_path / "out")
    assert [case.id for case in cases_read] == ["mail", "mail~2", "mail~3", "mail~4"]
    assert {case.cluster for case in cases_read} == {"mail"}
    assert [case.offered for case in cases_read] == [None, None, ("send_mail",), ("send_mail",)]
    assert [message["role"] for message in cases_read[1].messages] == ["system", "user"]


def test_E3_files_beside_the_configuration_are_read_and_programs_are_not(tmp_path: Path) -> None:
    _file(tmp_path / "tools.json", [WEATHER, MAIL])
    (tmp_path / "prompt.txt").write_text("Please: {{task}}")
    (tmp_path / "more.csv").write_text('task,__expected,__description\n"Mail Ann.","tool-call-f1: send_mail",Ann\n')
    (tmp_path / "promptfooconfig.yaml").write_text(
        "prompts: [file://prompt.txt, file://prompt.py]\n"
        "providers: [{id: x, config: {tools: file://tools.json}}]\n"
        "tests:\n  - file://more.csv\n  - file://lines.jsonl\n"
    )
    write(tmp_path / "lines.jsonl", [one_test(F1)])
    imported = bring_in(tmp_path / "out", str(tmp_path / "promptfooconfig.yaml"))
    assert [case.query for case in cases(tmp_path / "out")] == ["Please: Mail Ann.", "Please: Mail Bob."]
    assert imported.left_out == {PROMPT_ELSEWHERE: 1}
    assert [row["note"].rpartition(":")[2] for row in rows(tmp_path / "out")] == ["4", "5"]


def test_E3_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"gone\.yaml is not there"):
        bring_in(tmp_path / "out", _file(tmp_path / "c.json", config("file://gone.yaml")))


def test_E3_defaults_count_for_every_test(tmp_path: Path) -> None:
    data = config({"vars": {"who": "Bob"}}, prompts=["Mail {{who}} {{when}}"])
    data["defaultTest"] = {"vars": {"when": "now", "who": "Ann"}, "assert": [F1]}
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    assert [(case.query, labels(case)) for case in cases(tmp_path / "out")] == [("Mail Bob now", [("send_mail",)])]


def test_E3_every_broken_test_is_told_with_its_line(tmp_path: Path) -> None:
    bad = one_test({"type": "tool-call-f1", "value": 7})
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(bad, one_test(F1), bad)))
    assert (imported.cases, len({finding.line for finding in imported.broken})) == (1, 2)


def test_E3_a_file_of_tests_alone_asks_with_its_one_variable(tmp_path: Path) -> None:
    two = {"vars": {"a": "1", "b": "2"}, "assert": [F1]}
    source = write(tmp_path / "tests.jsonl", [one_test(F1), two])
    _file(tmp_path / "tools.json", TOOLS)
    imported = bring_in(tmp_path / "out", source, catalog=open_catalog(str(tmp_path / "tools.json")).catalog)
    assert [case.query for case in cases(tmp_path / "out")] == ["Mail Bob."]
    assert (imported.form, imported.left_out) == ("promptfoo", {NO_PROMPT: 1})


def test_E3_tools_are_read_as_providers_declare_them(tmp_path: Path) -> None:
    google = [{"functionDeclarations": [one["function"] for one in TOOLS]}]
    providers = [{"vertex:gemini": {"config": {"tools": google}}}, "openai:chat"]
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(one_test(F1), providers=providers)))
    assert [case.offered for case in cases(tmp_path / "out")] == [None]


def test_E3_one_wrong_entry_does_not_hide_the_others(tmp_path: Path) -> None:
    no_type = one_test({"value": ["send_mail"]})
    source = _file(
        tmp_path / "c.json", config(one_test(F1), "just text", 42, no_type, "file://gone.yaml", one_test(F1))
    )
    imported = bring_in(tmp_path / "out", source)
    rules = [finding.rule for finding in imported.broken]
    assert rules == ["wrong-type", "wrong-type", "wrong-type", "missing-file"]
    assert len({finding.line for finding in imported.broken}) == 4
    assert (imported.cases, imported.left_out) == (2, {"broken: wrong-type": 3, "broken: missing-file": 1})


def test_V6_a_tool_of_a_provider_that_cannot_be_read_refuses_no_other(tmp_path: Path) -> None:
    data = config(one_test(F1))
    data["providers"][0]["config"]["tools"] = [TOOLS[0], {"type": "function", "function": {}}, 7, *TOOLS[1:]]
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    assert (imported.cases, imported.tools, len(imported.broken)) == (1, 2, 2)


def test_E3_files_that_are_not_there_are_told_all_at_once(tmp_path: Path) -> None:
    data = config("file://tests.yaml", prompts=["file://p.txt"])
    data["providers"][0]["config"]["tools"] = "file://tools.json"
    data["defaultTest"] = "file://default.yaml"
    with pytest.raises(InvalidFileError) as caught:
        bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    told = sorted(Path(finding.message.split()[0]).name for finding in caught.value.findings)
    assert told == ["default.yaml", "p.txt", "tests.yaml", "tools.json"]
    assert all(finding.line for finding in caught.value.findings)


@pytest.mark.parametrize(
    "reference",
    ["../secret.txt", "sub/../../secret.txt", "{outside}", "link.txt", "linked/secret.txt", "//{outside}"],
    ids=["above", "above-by-way-of-below", "absolute", "a-link", "below-a-linked-folder", "absolute-twice"],
)
def test_E3_nothing_outside_the_folder_is_read(tmp_path: Path, reference: str) -> None:
    outside, inside = tmp_path / "secret.txt", tmp_path / "config"
    (inside / "sub").mkdir(parents=True)
    outside.write_text("Mail my password to {{task}}.", encoding="utf-8")
    (inside / "link.txt").symlink_to(outside)
    (inside / "linked").symlink_to(tmp_path)
    written = f"file://{reference.format(outside=outside)}"
    data = config({"vars": {"task": "Bob"}, "assert": [F1]}, prompts=["Now: {{task}}", written])
    [finding] = bring_in(tmp_path / "out", _file(inside / "c.json", data)).broken
    assert (finding.rule, finding.file, finding.line is not None) == ("outside-folder", str(inside / "c.json"), True)
    assert "password" not in (tmp_path / "out" / "cases.jsonl").read_text(encoding="utf-8")


def test_E3_a_link_that_stays_in_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "p.txt").write_text("Please: {{task}}", encoding="utf-8")
    (tmp_path / "p.txt").symlink_to(tmp_path / "sub" / "p.txt")
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(one_test(F1), prompts=["file://p.txt"])))
    assert [case.query for case in cases(tmp_path / "out")] == ["Please: Mail Bob."]


def test_E3_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InvalidFileError, match="no regular file"):
        bring_in(tmp_path / "out", _file(tmp_path / "c.json", config("file://pipe.yaml")))


def test_E3_what_every_test_shares_and_its_variables_may_stand_in_other_files(tmp_path: Path) -> None:
    _file(tmp_path / "default.json", {"assert": [used("get_weather", "not-")]})
    _file(tmp_path / "vars.json", {"task": "Mail Ann."})
    data = config({"vars": "file://vars.json", "assert": [F1]}, defaultTest="file://default.json")
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    (case,) = cases(tmp_path / "out")
    assert (case.query, set(case.forbidden), dict(imported.left_out)) == ("Now: Mail Ann.", {"get_weather"}, {})


def test_E3_scenarios_are_their_tests_with_each_of_their_settings(tmp_path: Path) -> None:
    settings = [{"vars": {"task": "Mail Ann."}}, {"vars": {"task": "Mail Bob."}}]
    data = config(scenarios=[{"config": settings, "tests": [{"assert": [F1]}]}])
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    assert [(case.query, labels(case)) for case in cases(tmp_path / "out")] == [
        ("Now: Mail Ann.", [("send_mail",)]),
        ("Now: Mail Bob.", [("send_mail",)]),
    ]


def test_E3_a_test_says_which_prompts_it_is_for_and_what_stands_around_them(tmp_path: Path) -> None:
    prompts = [{"raw": "A {{task}}", "label": "a"}, {"raw": "B {{task}}", "label": "b"}]
    around = {"prefix": "<", "suffix": ">"}
    tests = [one_test(F1, prompts=["b"], options=around), one_test(F1, prompts=["c"])]
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(*tests, prompts=prompts)))
    assert [case.query for case in cases(tmp_path / "out")] == ["<B Mail Bob.>"]
    assert imported.left_out == {NONE_OF_ITS_PROMPTS: 1}


def test_E3_a_case_for_each_prompt_is_no_id_that_stood_before(tmp_path: Path) -> None:
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(one_test(F1), prompts=["{{task}}", "x"])))
    assert (imported.cases, imported.notes) == (2, ())


def test_E3_merge_keys_and_references_are_what_they_stand_for(tmp_path: Path) -> None:
    _file(tmp_path / "tools.json", TOOLS)
    (tmp_path / "c.yaml").write_text(
        "prompts: ['{{task}} {{when}}']\n"
        "providers: [{id: x, config: {tools: file://tools.json}}]\n"
        "assertionTemplates: {mail: {type: tool-call-f1, value: [send_mail]}}\n"
        "tests:\n"
        "  - vars: &v {task: Mail, when: now}\n"
        "    assert: &a [{$ref: '#/assertionTemplates/mail'}]\n"
        "  - vars: {<<: *v, when: later}\n"
        "    assert: *a\n"
    )
    bring_in(tmp_path / "out", str(tmp_path / "c.yaml"))
    assert [(case.query, labels(case)) for case in cases(tmp_path / "out")] == [
        ("Mail now", [("send_mail",)]),
        ("Mail later", [("send_mail",)]),
    ]
    assert [row["note"].rpartition(":")[2] for row in rows(tmp_path / "out")] == ["5", "7"]


def test_K5_variables_within_variables_are_filled_in_as_promptfoo_does(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "task": "{{verb}} {{ who }} at {{time}}{{blank}}.\n",
        "verb": "Mail",
        "who": "{{first}} {{last}}",
    }
    values |= {"first": "Ann", "last": "Lee", "time": 7.0, "blank": None, "other": "{{ missing }}"}
    prompts = ["Now: {{task}}", '[{"role": "user", "content": "{{task}} {{other}}"}]']
    data = config({"vars": values, "assert": [F1]}, prompts=prompts)
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    # A `null` that is filled into a variable is a word there; what no variable holds stays as it is.
    queries = [case.query for case in cases(tmp_path / "out")]
    assert queries == ["Now: Mail Ann Lee at 7null.", "Mail Ann Lee at 7null. {{ missing }}"]


def test_K5_a_variable_that_names_itself_stays_as_it_is(tmp_path: Path) -> None:
    itself, each_other = one_test(F1, task="{{task}}"), one_test(F1, task="{{who}}")
    each_other["vars"]["who"] = "{{task}}"
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(itself, each_other, prompts=["Now: {{task}}"])))
    assert [case.query for case in cases(tmp_path / "out")] == ["Now: {{task}}"] * 2


def test_K5_a_filter_within_a_variable_is_no_text(tmp_path: Path) -> None:
    test = one_test(F1, task="{{ who | upper }}")
    test["vars"]["who"] = "Bob"
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(test, one_test(F1))))
    assert (imported.cases, imported.left_out) == (1, {TEMPLATE_LOGIC: 1})


def test_K5_a_test_may_do_without_the_assertions_of_all(tmp_path: Path) -> None:
    tests = [one_test(used("get_weather"), options={"disableDefaultAsserts": True}), one_test(used("get_weather"))]
    bring_in(tmp_path / "out", _file(tmp_path / "c.json", config(*tests, defaultTest={"assert": [used("send_mail")]})))
    assert [labels(case) for case in cases(tmp_path / "out")] == [
        [("get_weather",)],
        [("send_mail",), ("get_weather",)],
    ]


def test_K5_what_all_tests_make_of_the_output_is_read(tmp_path: Path) -> None:
    data = config(one_test({"type": "equals", "value": "send_mail"}), one_test(F1))
    data["defaultTest"] = {"options": {"transform": "output[0].function.name"}}
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    assert [labels(case) for case in cases(tmp_path / "out")] == [[("send_mail",)]]
    assert imported.left_out == {UNREADABLE: 1}


VERDICTS = json.loads(Path(__file__).with_name("promptfoo_verdicts.json").read_text(encoding="utf-8"))
SHORT = {"W": "get_weather", "R": "refund", "D": "search_docs", "B": "search_web"}


def _called(text: str) -> list[SelectedTool]:
    """`W:city=Oslo,days=2 R` calls `get_weather` with two arguments, then `refund`."""
    made = []
    for part in text.split():
        name, _, written = part.partition(":")
        pairs = [written] if "{" in written else written.split(",") if written else []
        arguments = {key: _value(key, value) for key, _, value in (pair.partition("=") for pair in pairs)}
        made.append(SelectedTool(0, SHORT[name], SHORT[name], True, arguments))
    return made


def _value(key: str, text: str) -> Any:
    return json.loads(text) if key in ("days", "amount", "near") else text


@pytest.mark.parametrize("row", [pytest.param(row, id=str(number)) for number, row in enumerate(VERDICTS["rows"])])
def test_K5_a_label_is_right_where_promptfoo_passes(tmp_path: Path, row: Any) -> None:
    """The verdicts of promptfoo's own program over the same calls."""
    test = {"vars": {"q": "Do it.", "tool": "refund"}, "assert": row["assert"]}
    provider = {"id": "openai:chat", "config": {"tools": VERDICTS["tools"]}}
    data = {"prompts": ["{{q}}"], "providers": [provider], "tests": [test, one_other_test()]}
    imported = bring_in(tmp_path / "out", _file(tmp_path / "c.json", data))
    reasons = vars(promptfoo_assertions) | {"NO_TOOLS_ASSERTED": NO_TOOLS_ASSERTED}
    if "left_out" in row:
        assert set(imported.left_out) == {reasons[row["left_out"]]}
        assert row["left_out"] != "NEVER_PASSES" or not any(row["passes"].values())
        return
    dataset = opened(tmp_path / "out")
    scorer = Scorer(ArgumentSchemas(dataset.catalog_file.catalog))
    outcomes = {
        made: scorer.score(dataset.case(0), _called(made), Ending.STEPS).outcome is Outcome.CORRECT
        for made in row["passes"]
    }
    assert (outcomes, imported.cases) == (row["passes"], 2)


def one_other_test() -> dict[str, Any]:
    """A test that is imported, whatever becomes of the other."""
    return {"vars": {"q": "Else.", "tool": "refund"}, "assert": [used("refund")]}
