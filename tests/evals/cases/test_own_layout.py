from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.cases.samples import CATALOG, NAMES, case
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.cases.case import ArgumentRules, Case, ExpectedArguments, ExpectedCall, Matching
from toolbelt.evals.cases.own_layout import CASE_KEYS, parse_own_case
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.findings import Severity


def read(row: Any) -> Case:
    parsed = parse_own_case(row, NAMES)
    assert parsed.findings == ()
    assert parsed.case is not None
    return parsed.case


def wrong(row: Any) -> list[tuple[str, str]]:
    parsed = parse_own_case(row, NAMES)
    assert parsed.case is None
    return [(finding.rule, finding.message) for finding in parsed.findings if finding.severity is Severity.ERROR]


def call(*tools: str) -> ExpectedCall:
    return ExpectedCall(tools)


def test_E3_a_case_with_every_field() -> None:
    made = read(
        {
            "id": "a",
            "system": "Be brief.",
            "query": "Send it off.",
            "expected": [{"tool": "git_push", "args": {"remote": "origin"}}],
            "accept": [[{"tool": "git/git_log"}, {"tool": "GIT_PUSH"}], []],
            "forbidden": ["web/read"],
            "allowed_extra": ["search"],
            "match": "ordered",
            "role": "developer",
            "kind": "single",
            "tags": ["easy", "german", "easy"],
            "cluster": "pushing",
            "offered": ["git_push", "git_log", "web/read", "git/git_push"],
            "results": {"git_push": "done"},
            "steps": 5,
            "note": "why this is here",
        }
    )
    assert made == Case(
        id="a",
        messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Send it off."}),
        expected=(ExpectedCall(("git/git_push",), ExpectedArguments({"remote": ("origin",)})),),
        accept=((call("git/git_log"), call("git/git_push")), ()),
        forbidden=frozenset({"web/read"}),
        allowed_extra=frozenset({"web/search"}),
        match=Matching.ORDERED,
        role="developer",
        kind="single",
        tags=("easy", "german"),
        cluster="pushing",
        offered=("git/git_push", "git/git_log", "web/read"),
        results={"git/git_push": ("done",)},
        steps=5,
    )


@pytest.mark.parametrize(
    ("expected", "accept", "steps"),
    [
        pytest.param([], ..., 1, id="no-call-takes-one-request"),
        pytest.param(None, ..., 1, id="any-call-takes-one-request"),
        pytest.param([{"tool": "git_push"}] * 3, ..., 3, id="one-for-each-call-repeats-counted"),
        pytest.param([{"tool": "git_push"}], [[{"tool": "git_log"}] * 4], 4, id="the-longest-right-answer-counts"),
    ],
)
def test_E3_steps_default_to_the_longest_accepted_answer(expected: Any, accept: Any, steps: int) -> None:
    assert read(case(expected=expected, accept=accept)).steps == steps


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        pytest.param([], (), id="empty-list-means-no-call"),
        pytest.param(None, None, id="null-means-any-call"),
        pytest.param([{"tool": "search"}], (call("web/search"),), id="bare-name-that-one-tool-has"),
        pytest.param([{"tool": "file/read"}], (call("file/read"),), id="id"),
        pytest.param([{"tool": ["web/read", "search"]}], (call("web/read", "web/search"),), id="any-of-several"),
        pytest.param([{"tool": ["search", "web/search"]}], (call("web/search"),), id="one-tool-named-twice-is-one"),
        pytest.param(
            [{"tool": "search"}, {"tool": "search"}], (call("web/search"), call("web/search")), id="repeats-are-kept"
        ),
    ],
)
def test_E3_expected(expected: Any, answer: Any) -> None:
    assert read(case(expected=expected)).expected == answer


@pytest.mark.parametrize(
    ("fields", "arguments"),
    [
        pytest.param({}, None, id="unchecked-where-nothing-is-said"),
        pytest.param({"args": {}}, None, id="unchecked-where-nothing-is-named"),
        pytest.param({"args": {"remote": None}}, ExpectedArguments({"remote": (None,)}), id="null-is-a-value"),
        pytest.param(
            {"args": {"force": True}, "args_any": {"remote": ["origin", "upstream"]}, "optional": ["remote"]},
            ExpectedArguments({"force": (True,), "remote": ("origin", "upstream")}, frozenset({"remote"})),
            id="one-value-several-values-and-what-may-be-left-out",
        ),
        pytest.param({"args": {}, "args_exact": True}, ExpectedArguments(exact=True), id="exactly-no-arguments"),
        pytest.param(
            {"args": {"force": True}, "args_exact": True, "optional": ["remote"]},
            ExpectedArguments({"force": (True,)}, frozenset({"remote"}), exact=True),
            id="exactly-these-and-one-that-may-be-there",
        ),
        pytest.param(
            {"args_contain": {"remote": ["git@", "team"]}, "optional": ["remote"]},
            ExpectedArguments(optional=frozenset({"remote"}), contains={"remote": ("git@", "team")}),
            id="texts-that-an-argument-contains",
        ),
        pytest.param({"args": {"remote": []}}, ExpectedArguments({"remote": ([],)}), id="a-list-in-args-is-one-value"),
    ],
)
def test_E3_arguments(fields: dict[str, Any], arguments: ExpectedArguments | None) -> None:
    [made] = read(case(expected=[{"tool": "git_push", **fields}])).expected or ()
    assert made.arguments == arguments
    assert made.arguments is None or made.arguments.rules is ArgumentRules.LITERAL


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        pytest.param("done", ("done",), id="text-as-it-is"),
        pytest.param({"b": [1, 2.5], "a": "ü"}, ('{"b":[1,2.5],"a":"ü"}',), id="an-object-as-compact-json"),
        pytest.param(["first", {"n": 2}], ("first", '{"n":2}'), id="a-list-is-one-for-each-time"),
        pytest.param([[1, 2]], ("[1,2]",), id="a-list-as-a-result-stands-in-a-list"),
        pytest.param(None, ("null",), id="null-is-a-result"),
        pytest.param("", ("",), id="nothing-is-a-result"),
    ],
)
def test_E3_results(written: Any, texts: tuple[str, ...]) -> None:
    assert read(case(results={"git_push": written})).results == {"git/git_push": texts}


READ = {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


@pytest.mark.parametrize(
    "call",
    [
        pytest.param({"id": "1", "type": "function"}, id="without-a-function"),
        pytest.param({"id": "1", "type": "function", "function": "read", "arguments": {}}, id="of-another-harness"),
        pytest.param({**READ, "function": {"name": "read", "arguments": {"a": 1}}}, id="arguments-that-are-no-text"),
        pytest.param({**READ, "id": None}, id="without-an-id"),
        pytest.param("read", id="a-name"),
    ],
)
def test_E3_calls_in_messages_are_in_openais_form(call: Any) -> None:
    user_texts = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": None, "tool_calls": [READ, call]},
    ]
    (finding,) = parse_own_case(case(query=..., messages=user_texts), NAMES).findings
    assert finding.rule == "invalid-call"
    assert "`messages[1].tool_calls[1]`" in finding.message


def test_E3_messages_are_taken_as_they_are_after_the_system_text() -> None:
    user_texts = [
        {"role": "user", "content": "Read a."},
        {"role": "assistant", "content": None, "tool_calls": [READ]},
        {"role": "tool", "tool_call_id": "1", "content": "text"},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ]
    made = read(case(query=..., messages=user_texts, system="Hello."))
    assert list(made.messages) == [{"role": "system", "content": "Hello."}, *user_texts]
    assert made.query == "And now?"
    with pytest.raises(TypeError):
        made.messages[1]["content"] = "changed"  # type: ignore[index]


@pytest.mark.parametrize(
    ("row", "rule", "mentions"),
    [
        pytest.param([], "wrong-type", "an empty list", id="no-object"),
        pytest.param(case(id=7), "wrong-type", "`id`", id="id-of-a-number"),
        pytest.param(case(id=" "), "wrong-type", "`id`", id="blank-id"),
        pytest.param(case(query=...), "missing-field", "`messages`", id="nothing-asked"),
        pytest.param(case(query=""), "wrong-type", "`query`", id="blank-query"),
        pytest.param(
            case(messages=[{"role": "user", "content": "x"}]),
            "query-and-messages",
            "`messages`",
            id="query-and-messages",
        ),
        pytest.param(case(query=..., messages=[]), "wrong-type", "`messages`", id="no-message"),
        pytest.param(
            case(query=..., messages=[{"role": "uesr", "content": "x"}]),
            "unknown-role-of-message",
            "'user'",
            id="misspelled-role",
        ),
        pytest.param(case(query=..., messages=["x"]), "wrong-type", "`messages[0]`", id="no-message"),
        pytest.param(
            case(query=..., messages=[{"role": "user", "content": 5}]), "wrong-type", "`messages[0].content`", id="5"
        ),
        pytest.param(case(expected=...), "missing-field", "`expected`", id="no-expected"),
        pytest.param(case(expected={}), "wrong-type", "`expected`", id="expected-no-list"),
        pytest.param(
            case(expected=["search"]), "wrong-type", 'Write {"tool": "search"}', id="a-name-in-place-of-a-call"
        ),
        pytest.param(case(expected=[{}]), "missing-field", "`expected[0]`", id="call-without-tool"),
        pytest.param(case(expected=[{"tool": []}]), "wrong-type", "an empty list", id="none-of-several-tools"),
        pytest.param(
            case(expected=[{"tool": "git_pull"}]),
            "unknown-tool",
            "'git_push'",
            id="unknown-tool-with-the-nearest",
        ),
        pytest.param(
            case(expected=[{"tool": "read"}]), "ambiguous-tool", "file/read, web/read", id="ambiguous-with-candidates"
        ),
        pytest.param(
            case(expected=[{"tool": "search", "arg": {}}]),
            "unknown-key",
            "'args'",
            id="unknown-key-of-a-call",
        ),
        pytest.param(case(accept=[{"tool": "search"}]), "wrong-type", "`accept[0]`", id="accept-flat"),
        pytest.param(case(accept=None), "wrong-type", "`accept`", id="accept-null"),
        pytest.param(case(expected=None, accept=[[]]), "needless-accept", "`accept`", id="accept-beside-null"),
        pytest.param(case(forbidden=["no"]), "unknown-tool", "`forbidden`", id="unknown-forbidden"),
        pytest.param(case(forbidden="git_log"), "wrong-type", "`forbidden`", id="forbidden-text"),
        pytest.param(case(forbidden=["git_push"]), "forbidden-and-right", "'git/git_push'", id="forbidden-is-expected"),
        pytest.param(
            case(expected=[{"tool": ["git_log", "git_push"]}], forbidden=["git_push"]),
            "forbidden-and-right",
            "'git/git_push'",
            id="forbidden-is-one-of-several-right-ones",
        ),
        pytest.param(
            case(accept=[[{"tool": "search"}]], forbidden=["web/search"]),
            "forbidden-and-right",
            "'web/search'",
            id="forbidden-is-accepted",
        ),
        pytest.param(
            case(forbidden=["search"], allowed_extra=["search"]),
            "forbidden-and-allowed",
            "'web/search'",
            id="and-allowed",
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args": {"remote": 1}, "args_any": {"remote": [2]}}]),
            "argument-twice",
            "'remote'",
            id="argument-in-args-and-args_any",
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args": {"remote": 1}, "optional": ["remot"]}]),
            "unknown-argument",
            "'remote'",
            id="optional-that-is-not-listed",
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args_any": {"remote": "origin"}}]),
            "wrong-type",
            "`expected[0].args_any.remote`",
            id="args_any-without-a-list",
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args_any": {"remote": []}}]), "wrong-type", "an empty list", id="none"
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args": {"remote": 1}, "args_contain": {"remote": ["x"]}}]),
            "argument-twice",
            "both `args` and `args_contain`",
            id="argument-in-args-and-args_contain",
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args_contain": {"remote": []}}]),
            "wrong-type",
            "`expected[0].args_contain.remote`",
            id="contains-nothing",
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args_contain": {"remote": [7]}}]),
            "wrong-type",
            "`expected[0].args_contain.remote",
            id="contains-a-number",
        ),
        pytest.param(
            case(expected=[{"tool": "git_push", "args_exact": "yes"}]),
            "wrong-type",
            "`expected[0].args_exact`",
            id="args_exact",
        ),
        pytest.param(case(match="exakt"), "unknown-match", "'exact'", id="misspelled-match"),
        pytest.param(
            case(match=1), "unknown-match", "exact, superset, ordered, in_order, starts_with", id="match-of-a-number"
        ),
        pytest.param(case(steps=0), "wrong-type", "`steps`", id="no-steps"),
        pytest.param(case(steps=True), "wrong-type", "`steps`", id="steps-true"),
        pytest.param(case(steps=1.0), "wrong-type", "`steps`", id="steps-broken"),
        pytest.param(case(role=["x"]), "wrong-type", "`role`", id="role-list"),
        pytest.param(case(role=None), "wrong-type", "`role`", id="role-null"),
        pytest.param(case(tags="easy"), "wrong-type", "`tags`", id="tags-text"),
        pytest.param(case(tags=["a", 1]), "wrong-type", "`tags[1]`", id="tag-of-a-number"),
        pytest.param(case(offered=["search"]), "not-offered", "git/git_push", id="right-but-not-offered"),
        pytest.param(case(offered=None), "wrong-type", "`offered`", id="offered-null"),
        pytest.param(case(results={"x": "y"}), "unknown-tool", "`results`", id="result-of-an-unknown-tool"),
        pytest.param(case(results={"search": []}), "wrong-type", "`results.search`", id="no-result"),
        pytest.param(
            case(results={"search": "a", "web/search": "b"}), "result-twice", "'web/search'", id="one-tool-two-names"
        ),
        pytest.param(case(expcted=[]), "unknown-key", "'expected'", id="unknown-key"),
        pytest.param(case(x_mine=1), "unknown-key", "'x_mine'", id="only-note-is-free"),
    ],
)
def test_E3_a_mistake_is_reported_with_its_place_or_the_nearest_right_name(row: Any, rule: str, mentions: str) -> None:
    [(reported_rule, message)] = wrong(row)
    assert reported_rule == rule
    assert mentions in message


def test_E3_all_mistakes_of_a_line_are_reported_at_once() -> None:
    row = {"query": 1, "expected": [{"tool": "nope", "args": 3}], "match": "any", "steps": -1, "extra": 0}
    assert sorted(rule for rule, _ in wrong(row)) == [
        "unknown-key",
        "unknown-match",
        "unknown-tool",
        "wrong-type",
        "wrong-type",
        "wrong-type",
    ]


@pytest.mark.parametrize(
    ("tool", "argument", "doubtful"),
    [
        pytest.param("git_push", "remote", False, id="described"),
        pytest.param("git_push", "remot", True, id="not-described"),
        pytest.param("git_log", "anything", True, id="described-as-taking-none"),
        pytest.param("search", "anything", False, id="takes-further-ones"),
        pytest.param(["git_push", "search"], "anything", False, id="one-of-several-may-take-it"),
    ],
)
def test_E3_an_argument_that_no_schema_describes_is_a_warning(tool: Any, argument: str, doubtful: bool) -> None:
    parsed = parse_own_case(case(expected=[{"tool": tool, "args": {argument: "x"}}]), NAMES)
    assert parsed.case is not None
    assert [(f.rule, f.severity) for f in parsed.findings] == [("undescribed-argument", Severity.WARNING)] * doubtful


def test_E3_a_schema_made_of_parts_is_not_held_against_arguments() -> None:
    tool = Tool("t", parameters={"type": "object", "allOf": [{"properties": {"a": {}}}]})
    names = CatalogNames(Catalog(plugins=(Plugin("p", (tool,)),)))
    assert parse_own_case(case(expected=[{"tool": "t", "args": {"a": 1}}]), names).findings == ()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from((*CASE_KEYS, "other")), _JSON))
def test_E3_whatever_stands_in_a_line_is_a_case_or_has_an_error(row: dict[str, Any]) -> None:
    parsed = parse_own_case(row, NAMES)
    has_error = any(finding.severity is Severity.ERROR for finding in parsed.findings)
    assert (parsed.case is None) is has_error


@settings(deadline=None)
@given(_JSON, st.lists(_JSON, min_size=1, max_size=3))
def test_E3_values_of_arguments_come_through_unchanged(one: Any, several: list[Any]) -> None:
    row = case(expected=[{"tool": "search", "args": {"a": one}, "args_any": {"b": several}}])
    [made] = read(json.loads(json.dumps(row))).expected or ()
    assert made.arguments is not None
    assert made.arguments.accepted == {"a": (one,), "b": tuple(several)}


def test_E3_an_unknown_name_is_searched_for_only_so_often() -> None:
    names = CatalogNames(CATALOG)
    messages = [parse_own_case(case(expected=[{"tool": f"git_pus{n}"}]), names).findings[0].message for n in range(150)]
    assert "Did you mean 'git_push'" in messages[0]
    assert messages[-1] == "`expected[0].tool`: No tool named 'git_pus149'."


@pytest.mark.parametrize("key", ["query", "input", "question", "prompt", "user"])
def test_E3_the_words_of_the_user_go_by_the_names_that_people_give_them(key: str) -> None:
    row = case(query=..., id=...) | {key: "Send it."}
    assert [message["content"] for message in read(row).messages] == ["Send it."]
    assert wrong(row | {"messages": [{"role": "user", "content": "x"}]})[0][0] == "query-and-messages"


def test_E3_without_an_id_a_case_has_one_of_what_is_asked() -> None:
    row = case(id=...)
    asked = read(row).id
    assert asked.startswith("case-")
    assert read(row | {"kind": "other", "expected": []}).id == asked
    assert read(row | {"query": "Something else."}).id != asked
    assert read(row | {"system": "You are a clerk."}).id != asked
