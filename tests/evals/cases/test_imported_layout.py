from __future__ import annotations

from typing import Any

import pytest

from tests.evals.cases.samples import NAMES, public
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.cases.case import ArgumentRules, Case, ExpectedArguments, ExpectedCall
from toolbelt.evals.cases.fields import ExclusionReason as Reason
from toolbelt.evals.cases.fields import ParsedCase
from toolbelt.evals.cases.imported_layout import (
    IMPORTED_KEYS,
    OWN_KEYS,
    has_foreign_key,
    parse_imported_case,
    stray_keys,
)
from toolbelt.evals.cases.own_layout import CASE_KEYS
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.evals.scoring.bfcl import check_bfcl
from toolbelt.findings import Severity


def adapt(row: Any, *, lists: bool = True, names: CatalogNames = NAMES) -> ParsedCase:
    return parse_imported_case(row, names, lists=lists)


def made(row: Any, *, lists: bool = True, names: CatalogNames = NAMES) -> Case:
    parsed = adapt(row, lists=lists, names=names)
    assert parsed.findings == ()
    assert parsed.case is not None
    return parsed.case


def arguments(row: Any, *, lists: bool) -> list[ExpectedArguments | None]:
    return [call.arguments for call in made(row, lists=lists).expected or ()]


def test_E3_a_line_of_the_public_layout() -> None:
    row = public(system="Be brief.", subset="live", steps="1. first\n2. then", note="x")
    assert made(row) == Case(
        id="a",
        messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Send it off."}),
        expected=(ExpectedCall(("git/git_push",)),),
        kind="single",
        tags=("live",),
        steps=1,
    )


@pytest.mark.parametrize(
    ("expected", "tools", "steps"),
    [
        pytest.param([], (), 1, id="no-call"),
        pytest.param(
            ["search", "search", "git_log"], ("web/search", "web/search", "git/git_log"), 3, id="repeats-kept"
        ),
        pytest.param(None, None, 1, id="any-call"),
    ],
)
def test_E3_labels_are_names(expected: Any, tools: Any, steps: int) -> None:
    case = made(public(expected=expected))
    assert case.steps == steps
    assert case.expected == (None if tools is None else tuple(ExpectedCall((tool,)) for tool in tools))


def test_E3_messages_go_before_the_query_that_repeats_the_last_of_them() -> None:
    user_texts = [{"role": "system", "content": "s"}, {"role": "user", "content": "Send it off."}]
    assert list(made(public(messages=user_texts)).messages) == user_texts


USER, ASSISTANT, TOOL = (
    {"role": "user", "content": "Send it off."},
    {"role": "assistant", "content": "Which?"},
    {"role": "tool", "tool_call_id": "1", "content": "ok"},
)
PARTS = {"role": "user", "content": [{"type": "text", "text": "Send it off. "}]}
NEXT = {"role": "user", "content": "Send it off."}


@pytest.mark.parametrize(
    ("messages", "added"),
    [
        pytest.param([{"role": "user", "content": "Hello."}, ASSISTANT], [NEXT], id="after-an-answer"),
        pytest.param([{"role": "user", "content": "Hello."}], [NEXT], id="after-another-question"),
        pytest.param([{"role": "system", "content": "Be brief."}], [NEXT], id="after-a-system-text"),
        pytest.param([USER, ASSISTANT], [NEXT], id="again-after-an-answer"),
        pytest.param([USER], [], id="not-what-they-end-with"),
        pytest.param([PARTS], [], id="nor-in-parts"),
        pytest.param([USER, {**ASSISTANT, "content": None}, TOOL], [], id="nor-what-a-result-is-on-the-way-to"),
    ],
)
def test_E3_a_query_beside_messages_is_the_next_question(messages: list[Any], added: list[Any]) -> None:
    assert list(made(public(messages=messages)).messages) == [*messages, *added]


@pytest.mark.parametrize("query", [None, "", ...], ids=["null", "blank", "none"])
def test_E3_messages_need_no_query(query: Any) -> None:
    assert list(made(public(query=query, messages=[USER])).messages) == [USER]


@pytest.mark.parametrize(
    ("fields", "tools"),
    [
        pytest.param({"expected_ids": ["web/search"]}, [("web/search",)], id="one"),
        pytest.param({"expected_ids": ["file/read", "web/read"]}, [("file/read", "web/read")], id="all-of-one-call"),
        pytest.param(
            {"expected": ["read", "search"], "expected_ids": ["web/read", "web/search"]},
            [("web/read",), ("web/search",)],
            id="one-per-call",
        ),
        pytest.param(
            {"expected": ["read", "search"], "expected_ids": [["web/read", "file/read"], "web/search"]},
            [("web/read", "file/read"), ("web/search",)],
            id="both-forms",
        ),
    ],
)
def test_E3_ids_may_be_flat(fields: dict[str, Any], tools: list[tuple[str, ...]]) -> None:
    assert [call.tools for call in made(public(**fields)).expected or ()] == tools


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        pytest.param("exspected_args", "'expected_args'", id="a-slip"),
        pytest.param("expected_id", "'expected_ids'", id="a-letter-less"),
        pytest.param("removed_gold", "", id="the-source's"),
        pytest.param("expected_any_of", "", id="which-null-stands-for"),
    ],
)
def test_E3_a_key_without_effect_is_reported_with_the_nearest(key: str, nearest: str) -> None:
    for row in (public(**{key: 1}), public(**{key: 1}, expected=["gone"])):
        [finding] = adapt(row).findings
        assert (finding.rule, finding.severity) == ("unknown-key", Severity.WARNING)
        assert repr(key) in finding.message
        assert ("Did you mean" in finding.message) == bool(nearest)
        assert nearest in finding.message


HASHED = CatalogNames(
    Catalog(
        plugins=(
            Plugin("one", (Tool("f", id="f#1"), Tool("f", id="f#2"), Tool("g", id="g#1"))),
            Plugin("two", (Tool("f", id="f"),)),
        )
    )
)


@pytest.mark.parametrize(
    ("fields", "tools"),
    [
        pytest.param({"offered": ["g#1", "f#2"]}, ("f#2",), id="a-label-is-looked-for-in-what-is-offered"),
        pytest.param({"offered": ["f#1", "f"]}, ("f",), id="an-id-goes-before-names"),
        pytest.param({}, ("f",), id="an-id-goes-before-names-in-the-whole-catalog"),
        pytest.param({"expected_ids": [["f#1", "f#2"]]}, ("f#1", "f#2"), id="ids-say-what-a-label-could-mean"),
        pytest.param({"expected_ids": [["f#1", "gone"]]}, ("f#1",), id="of-ids-those-that-are-there"),
        pytest.param(
            {"expected_ids": [["f#1", "f#2"]], "offered": ["f#2"]}, ("f#2",), id="of-ids-those-that-are-offered"
        ),
    ],
)
def test_E3_what_a_label_means(fields: dict[str, Any], tools: tuple[str, ...]) -> None:
    assert made(public(expected=["f"], **fields), names=HASHED).expected == (ExpectedCall(tools),)


@pytest.mark.parametrize(
    "fields",
    [pytest.param({}, id="in-the-catalog"), pytest.param({"offered": ["file/read", "web/read"]}, id="offered")],
)
def test_E3_a_label_that_several_bear_accepts_each_and_says_so(fields: dict[str, Any]) -> None:
    parsed = adapt(public(expected=["read"], **fields))
    assert parsed.case is not None
    assert parsed.case.expected == (ExpectedCall(("file/read", "web/read")),)
    [finding] = parsed.findings
    assert (finding.rule, finding.severity) == ("ambiguous-label", Severity.WARNING)
    assert "file/read, web/read" in finding.message


@pytest.mark.parametrize(
    ("fields", "reason", "detail"),
    [
        pytest.param({"expected": ["search", "gone"]}, Reason.NOT_IN_CATALOG, "gone", id="label-not-in-the-catalog"),
        pytest.param({"expected_ids": [[]]}, Reason.NOT_IN_CATALOG, "git_push", id="label-that-means-nothing"),
        pytest.param({"expected_ids": [["x/y"]]}, Reason.NOT_IN_CATALOG, "git_push", id="ids-that-are-gone"),
        pytest.param({"offered": ["search"]}, Reason.NOT_OFFERED, "git_push", id="label-not-offered"),
        pytest.param(
            {"offered": ["search"], "expected_ids": [["git/git_push"]]},
            Reason.NOT_OFFERED,
            "git_push",
            id="id-not-offered",
        ),
        pytest.param(
            {"offered": ["git_push", "gone"]},
            Reason.OFFER_NOT_IN_CATALOG,
            "gone",
            id="offered-not-in-the-catalog",
        ),
    ],
)
def test_E3_a_case_that_cannot_be_asked_is_excluded_with_the_reason(
    fields: dict[str, Any], reason: Reason, detail: str
) -> None:
    assert adapt(public(**fields)) == ParsedCase(None, (), reason, detail)


def test_E3_lists_hold_accepted_values_and_an_empty_text_permits_leaving_out() -> None:
    row = public(expected_args=[{"remote": ["origin", "up"], "force": [False, ""], "tags": [["a", "b"], []]}])
    [held] = arguments(row, lists=True)
    assert held == ExpectedArguments(
        {"remote": ("origin", "up"), "force": (False, ""), "tags": (["a", "b"], [])},
        optional=frozenset({"force"}),
        exact=True,
        rules=ArgumentRules.BFCL,
    )


def test_E3_plain_values_are_the_one_accepted_value() -> None:
    row = public(expected=["search", "git_push"], expected_args=[{"query": "x", "n": ["a"], "note": ""}, {}])
    assert arguments(row, lists=False) == [
        ExpectedArguments({"query": ("x",), "n": (["a"],), "note": ("",)}, exact=True, rules=ArgumentRules.BFCL),
        ExpectedArguments(exact=True, rules=ArgumentRules.BFCL),
    ]


@pytest.mark.parametrize(
    ("written", "given", "right"),
    [
        pytest.param({"a": [1, 2]}, {"a": [1, 2]}, True, id="a-list-in-an-object-means-itself"),
        pytest.param({"a": [1, 2]}, {"a": 1}, False, id="not-one-of-its-items"),
        pytest.param({"a": 1}, {"a": 1}, True, id="a-value-in-an-object"),
        pytest.param({"a": "B c"}, {"a": "b-c"}, True, id="text-is-still-made-alike"),
        pytest.param({"a": {"b": [1]}}, {"a": {"b": [1]}}, True, id="an-object-in-an-object"),
        pytest.param({"a": {"b": [1]}}, {"a": {"b": 1}}, False, id="a-list-deeper-means-itself-too"),
        pytest.param([{"a": [1, 2]}], [{"a": [1, 2]}], True, id="in-a-list-of-objects"),
        pytest.param([{"a": [1, 2]}], [{"a": 2}], False, id="not-one-of-its-items-there"),
    ],
)
def test_E3_plain_values_mean_themselves_inside_objects_too(written: Any, given: Any, right: bool) -> None:
    [held] = arguments(public(expected_args=[{"remote": written}]), lists=False)
    assert held is not None
    schema = {"properties": {"remote": {"type": "array" if isinstance(written, list) else "object"}}}
    assert (check_bfcl({"remote": given}, held, schema) is None) is right


@pytest.mark.parametrize(
    ("value", "known"),
    [
        pytest.param("API_call_0", False, id="an-earlier-call"),
        pytest.param("API_call_12 response", False, id="part-of-an-earlier-call"),
        pytest.param(["x", "API_call_1"], False, id="within-a-list"),
        pytest.param("the API_call_1", True, id="text-that-only-mentions-one"),
    ],
)
def test_E3_what_an_earlier_call_gave_back_goes_unchecked(value: Any, known: bool) -> None:
    [held] = arguments(public(expected_args=[{"remote": value, "force": True}]), lists=False)
    assert held is not None
    assert ("remote" in held.accepted) is known
    assert held.accepted["force"] == (True,)
    assert held.exact is known


def test_E3_a_call_without_arguments_to_hold_against_is_unchecked() -> None:
    assert arguments(public(expected_args=[None]), lists=True) == [None]
    assert arguments(public(expected_args=None), lists=True) == [None]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        pytest.param("x", "wrong-type", id="no-object"),
        pytest.param(public(query=...), "missing-field", id="nothing-asked"),
        pytest.param(public(expected=...), "missing-field", id="no-expected"),
        pytest.param(public(expected="git_push"), "wrong-type", id="expected-no-list"),
        pytest.param(public(expected=[{"tool": "git_push"}]), "wrong-type", id="a-call-in-place-of-a-name"),
        pytest.param(public(expected_args=[]), "wrong-length", id="arguments-of-no-call"),
        pytest.param(public(expected_args=[{}, {}]), "wrong-length", id="arguments-of-too-many-calls"),
        pytest.param(public(expected_args={}), "wrong-type", id="arguments-no-list"),
        pytest.param(public(expected_args=[["x"]]), "wrong-type", id="arguments-of-a-call-no-object"),
        pytest.param(public(expected_ids=[3]), "wrong-type", id="id-of-a-number"),
        pytest.param(public(expected=["a", "b"], expected_ids=["c"]), "wrong-length", id="ids-of-too-few-calls"),
        pytest.param(public(messages=[USER], query=3), "wrong-type", id="a-query-of-a-number-beside-messages"),
        pytest.param(public(offered="git_push"), "wrong-type", id="offered-no-list"),
        pytest.param(public(kind=3), "wrong-type", id="kind-of-a-number"),
        pytest.param(public(accept=[["git_log"]]), "own-key", id="further-answers-would-be-overlooked"),
        pytest.param(public(forbidden=["git_log"]), "own-key", id="forbidden-would-be-overlooked"),
        pytest.param(public(frobidden=["git_log"]), "own-key", id="so-would-a-slip-of-it"),
        pytest.param(public(match="superset"), "own-key", id="match-would-be-overlooked"),
        pytest.param(public(steps=4), "own-key", id="steps-would-be-overlooked"),
        pytest.param(public(args={"remote": "x"}), "own-key", id="arguments-would-be-overlooked"),
        pytest.param(public(query="", expected=["gone"]), "wrong-type", id="a-mistake-goes-before-excluding"),
    ],
)
def test_E3_a_broken_line_is_an_error_in_an_imported_set_too(row: Any, rule: str) -> None:
    parsed = adapt(row)
    assert (parsed.case, parsed.excluded) == (None, None)
    assert [finding.rule for finding in parsed.findings] == [rule]


def test_E3_what_only_ones_own_layout_has() -> None:
    assert {"accept", "draft", "forbidden", "allowed_extra", "match", "results", "steps"} == OWN_KEYS & set(CASE_KEYS)
    assert {"args", "args_any", "args_contain", "optional", "args_exact"} == OWN_KEYS - set(CASE_KEYS)


@pytest.mark.parametrize("key", sorted(OWN_KEYS))
def test_E3_a_key_of_ones_own_layout_is_stray(key: str) -> None:
    assert list(stray_keys(public(**{key: 1}))) == [(key, key)]
    assert not has_foreign_key(public(**{key: 1}))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        pytest.param("forbiden", "forbidden", id="a-letter-less"),
        pytest.param("frobidden", "forbidden", id="letters-swapped"),
        pytest.param("macth", "match", id="of-a-short-one"),
        pytest.param("resutls", "results", id="and-again"),
        pytest.param("acccept", "accept", id="a-letter-more"),
        pytest.param("allowedExtra", "allowed_extra", id="in-another-spelling"),
        pytest.param("args-any", "args_any", id="of-a-call"),
        pytest.param("Match", "match", id="in-capitals"),
        pytest.param("ofered", "offered", id="of-a-shared-key"),
    ],
)
def test_E3_a_slip_of_a_key_is_stray(key: str, meant: str) -> None:
    assert list(stray_keys(public(**{key: 1}))) == [(key, meant)]
    assert not has_foreign_key(public(**{key: 1}))


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"steps": "1. Look it up."}, id="steps-told-in-words"),
        pytest.param(
            dict.fromkeys(
                ("subset", "split", "group", "nested", "answers", "file_name", "removed_gold", "conflicting_labels")
            ),
            id="fields-of-public-sets",
        ),
        pytest.param(dict.fromkeys(("labels_not_in_catalog", "labels_ambiguous_server")), id="about-labels"),
        pytest.param(dict.fromkeys(IMPORTED_KEYS), id="imported-keys"),
        pytest.param(
            dict.fromkeys(("difficulty", "cluster_id", "category", "language", "notes", "uid")), id="of-other-sources"
        ),
    ],
)
def test_E3_fields_of_a_source_are_left_alone(fields: dict[str, Any]) -> None:
    assert list(stray_keys(public(**fields))) == []


def test_E3_a_key_of_the_source_is_foreign() -> None:
    assert has_foreign_key({"id": "a", "subset": "x"})
    assert not has_foreign_key(public(note="x", tags=[], role="r", cluster="c", offered=[], system="s"))
