"""What becomes of a trial: the outcomes of rule E4, and every edge between them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.cases.case import Answer, ArgumentRules, Case, ExpectedArguments, ExpectedCall, Matching
from toolbelt.evals.scoring.outcome import Ending, Outcome, Score, SelectedTool
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer

N = {"type": "object", "properties": {"n": {"type": "integer"}}}
"""The schema of `a`, `b`, `c`; `free` has none, and `x` asks for a text `q`."""
TOOLS = (
    *(Tool(name, id=name, parameters=N) for name in ("a", "b", "c")),
    Tool("free", id="free"),
    Tool("x", id="x", parameters={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}),
)
SCORER = Scorer(ArgumentSchemas(Catalog((Plugin("p", TOOLS),))))
EXACT, SUPERSET, ORDERED, IN_ORDER, STARTS_WITH = Matching


def answer(text: str) -> Answer:
    """`a b|c` asks for a call of `a` and one of `b` or `c`; `a=1` for one whose `n` is 1."""
    return tuple(wanted(part) for part in text.split())


def wanted(part: str) -> ExpectedCall:
    names, _, number = part.partition("=")
    arguments = ExpectedArguments({"n": (int(number),)}) if number else None
    return ExpectedCall(tuple(names.split("|")), arguments)


def case(expected: str | None, *accept: str, match: Matching = EXACT, forbidden: str = "", extra: str = "") -> Case:
    return Case(
        "c",
        (),
        None if expected is None else answer(expected),
        tuple(map(answer, accept)),
        frozenset(forbidden.split()),
        frozenset(extra.split()),
        match,
    )


def calls(text: str) -> list[SelectedTool]:
    """`a=1` calls `a` with `n` 1; `a=?` with a text, `a=!` with no JSON; `?a` is of no catalog, `-a` not offered.

    Parts are set apart by blanks.
    """
    return [selection(part) for part in text.split()]


def selection(part: str) -> SelectedTool:
    mark = part[0] if part[0] in "?-" else ""
    name, _, number = part.removeprefix(mark).partition("=")
    arguments: Mapping[str, Any] | None = {}
    if number == "!":
        arguments = None
    elif number:
        arguments = {"n": number if number == "?" else int(number)}
    return SelectedTool(0, name, None if mark == "?" else name, not mark, arguments)


def score(of: Case, made: str, ending: Ending = Ending.STEPS) -> Score:
    return SCORER.score(of, calls(made), ending)


def table(*rows: tuple[str, Case, str, Outcome]) -> Sequence[Any]:
    return [pytest.param(of, made, outcome, id=name) for name, of, made, outcome in rows]


@pytest.mark.parametrize(
    ("of", "made", "outcome"),
    table(
        # By names: one answer.
        ("the-call", case("a"), "a", Outcome.CORRECT),
        ("another-call", case("a"), "b", Outcome.WRONG_TOOL),
        ("no-call", case("a"), "", Outcome.MISSING_CALL),
        ("the-call-and-another", case("a"), "a b", Outcome.EXTRA_CALL),
        ("the-call-twice", case("a"), "a a", Outcome.EXTRA_CALL),
        ("twice-asked-twice-called", case("a a"), "a a", Outcome.CORRECT),
        ("twice-asked-once-called", case("a a"), "a", Outcome.MISSING_CALL),
        ("half-the-answer", case("a b"), "b", Outcome.MISSING_CALL),
        ("half-the-answer-and-another", case("a b"), "b c", Outcome.WRONG_TOOL),
        ("half-the-answer-twice", case("a b"), "b b", Outcome.WRONG_TOOL),
        ("exact-in-any-order", case("a b"), "b a", Outcome.CORRECT),
        ("either-of-two-tools", case("a|b"), "b", Outcome.CORRECT),
        ("both-of-two-tools", case("a|b"), "a b", Outcome.EXTRA_CALL),
        ("the-narrower-call-gets-its-tool", case("a|b a"), "a b", Outcome.CORRECT),
        # Surplus calls that are permitted.
        ("allowed-beside", case("a", extra="b"), "b a b", Outcome.CORRECT),
        ("allowed-alone-is-not-the-answer", case("a", extra="b"), "b", Outcome.MISSING_CALL),
        ("allowed-and-another-wrong-one", case("a", extra="b"), "b c", Outcome.WRONG_TOOL),
        ("expected-and-allowed-once", case("a", extra="a"), "a", Outcome.CORRECT),
        ("expected-and-allowed-thrice", case("a", extra="a"), "a a a", Outcome.CORRECT),
        ("allowed-with-bad-arguments-is-left-out", case("a", extra="b"), "a b=?", Outcome.CORRECT),
        # Superset and ordered.
        ("superset-with-more", case("a", match=SUPERSET), "b a c", Outcome.CORRECT),
        ("superset-without", case("a", match=SUPERSET), "b c", Outcome.MISSING_CALL),
        ("superset-in-any-order", case("a b", match=SUPERSET), "b c a", Outcome.CORRECT),
        ("ordered", case("a b", match=ORDERED), "a b", Outcome.CORRECT),
        ("ordered-the-other-way-round", case("a b", match=ORDERED), "b a", Outcome.WRONG_TOOL),
        ("ordered-with-allowed-between", case("a b", match=ORDERED, extra="c"), "c a c b", Outcome.CORRECT),
        ("ordered-with-another-between", case("a b", match=ORDERED), "a c b", Outcome.EXTRA_CALL),
        ("ordered-cut-short", case("a b", match=ORDERED), "a", Outcome.MISSING_CALL),
        ("ordered-allowed-first-expected-later", case("a b", match=ORDERED, extra="b"), "b a b", Outcome.CORRECT),
        # In order, with others between (V6).
        ("in-order", case("a b", match=IN_ORDER), "a b", Outcome.CORRECT),
        ("in-order-with-others-everywhere", case("a b", match=IN_ORDER), "c a c b c", Outcome.CORRECT),
        ("in-order-the-other-way-round", case("a b", match=IN_ORDER), "b a", Outcome.WRONG_TOOL),
        ("in-order-the-other-way-round-among-others", case("a b", match=IN_ORDER), "b c a", Outcome.WRONG_TOOL),
        ("in-order-after-a-false-start", case("a b", match=IN_ORDER), "b a b", Outcome.CORRECT),
        ("in-order-half", case("a b", match=IN_ORDER), "c b", Outcome.MISSING_CALL),
        ("in-order-but-forbidden", case("a b", match=IN_ORDER, forbidden="c"), "a c b", Outcome.EXTRA_CALL),
        ("in-order-takes-the-right-arguments", case("a=1 b", match=IN_ORDER), "a=2 a=1 b", Outcome.CORRECT),
        ("in-order-with-the-right-ones-late", case("a=1 b", match=IN_ORDER), "a b a=1", Outcome.WRONG_ARGUMENTS),
        ("in-order-of-nothing-is-nothing", case("", match=IN_ORDER), "a", Outcome.UNNEEDED_CALL),
        ("starts-with", case("a", match=STARTS_WITH), "a c", Outcome.CORRECT),
        ("starts-with-another", case("a", match=STARTS_WITH), "c a", Outcome.EXTRA_CALL),
        ("starts-with-two-the-other-way-round", case("a b", match=STARTS_WITH), "b a", Outcome.WRONG_TOOL),
        ("starts-with-the-wrong-arguments", case("a=1", match=STARTS_WITH), "a=2 a=1", Outcome.WRONG_ARGUMENTS),
        # Nothing is right.
        ("nothing", case(""), "", Outcome.CORRECT),
        ("something-for-nothing", case(""), "a", Outcome.UNNEEDED_CALL),
        ("allowed-for-nothing", case("", extra="a"), "a a", Outcome.CORRECT),
        ("allowed-and-more-for-nothing", case("", extra="a"), "a b", Outcome.UNNEEDED_CALL),
        ("superset-of-nothing-is-nothing", case("", match=SUPERSET), "a", Outcome.UNNEEDED_CALL),
        ("nothing-is-accepted-too", case("a", ""), "", Outcome.CORRECT),
        ("the-call-where-nothing-is-accepted-too", case("a", ""), "a", Outcome.CORRECT),
        ("another-call-where-nothing-is-accepted-too", case("a", ""), "b", Outcome.UNNEEDED_CALL),
        ("half-a-call-where-nothing-is-accepted-too", case("a b", ""), "a", Outcome.UNNEEDED_CALL),
        ("wrong-arguments-where-nothing-is-accepted-too", case("a=1", ""), "a=2", Outcome.WRONG_ARGUMENTS),
        ("a-call-is-accepted-where-nothing-is-expected", case("", "a"), "a", Outcome.CORRECT),
        # Any call will do.
        ("any-call", case(None), "a", Outcome.CORRECT),
        ("any-calls", case(None), "a b c", Outcome.CORRECT),
        ("any-call-but-none-made", case(None), "", Outcome.MISSING_CALL),
        ("any-call-or-none", case(None, ""), "", Outcome.CORRECT),
        ("any-call-with-bad-arguments", case(None), "a=?", Outcome.INVALID_ARGUMENTS),
        ("any-calls-one-with-bad-arguments", case(None), "b a=?", Outcome.INVALID_ARGUMENTS),
        ("any-call-allowed-ones-left-out", case(None, extra="a"), "b a=?", Outcome.CORRECT),
        ("any-call-an-allowed-one-alone", case(None, extra="a"), "a=?", Outcome.INVALID_ARGUMENTS),
        ("any-call-not-offered", case(None), "-a", Outcome.UNOFFERED_TOOL),
        ("any-call-of-no-tool", case(None), "?a", Outcome.HALLUCINATED_TOOL),
        # Forbidden.
        ("forbidden-beside-the-answer", case("a", forbidden="b"), "a b", Outcome.EXTRA_CALL),
        ("forbidden-beside-in-a-superset", case("a", match=SUPERSET, forbidden="b"), "a b", Outcome.EXTRA_CALL),
        ("forbidden-instead", case("a", forbidden="b"), "b", Outcome.WRONG_TOOL),
        ("forbidden-instead-in-a-superset", case("a", match=SUPERSET, forbidden="b"), "b", Outcome.WRONG_TOOL),
        ("forbidden-for-nothing", case("", forbidden="b"), "b", Outcome.UNNEEDED_CALL),
        ("forbidden-beside-where-nothing-is-accepted", case("a", "", forbidden="b"), "a b", Outcome.UNNEEDED_CALL),
        ("forbidden-where-any-would-do", case(None, forbidden="b"), "b", Outcome.WRONG_TOOL),
        ("forbidden-beside-any", case(None, forbidden="b"), "a b", Outcome.EXTRA_CALL),
        ("forbidden-where-any-or-none-would-do", case(None, "", forbidden="b"), "b", Outcome.UNNEEDED_CALL),
        ("forbidden-goes-before-allowed", case("a", extra="b", forbidden="b"), "a b", Outcome.EXTRA_CALL),
        # Tools that are not there.
        ("of-no-catalog", case("a"), "?q", Outcome.HALLUCINATED_TOOL),
        ("of-no-catalog-beside-the-answer", case("a"), "a ?q", Outcome.HALLUCINATED_TOOL),
        ("of-no-catalog-in-a-superset", case("a", match=SUPERSET), "a ?q", Outcome.HALLUCINATED_TOOL),
        ("of-no-catalog-for-nothing", case(""), "?q", Outcome.HALLUCINATED_TOOL),
        ("of-no-catalog-goes-before-not-offered", case("a"), "-a ?q", Outcome.HALLUCINATED_TOOL),
        ("right-but-not-offered", case("a"), "-a", Outcome.UNOFFERED_TOOL),
        ("not-offered-beside-the-answer", case("a"), "a -b", Outcome.UNOFFERED_TOOL),
        ("not-offered-though-allowed", case("a", extra="b"), "a -b", Outcome.UNOFFERED_TOOL),
        ("not-offered-for-nothing", case(""), "-a", Outcome.UNOFFERED_TOOL),
        # Arguments.
        ("right-arguments", case("a=1"), "a=1", Outcome.CORRECT),
        ("wrong-arguments", case("a=1"), "a=2", Outcome.WRONG_ARGUMENTS),
        ("missing-argument", case("a=1"), "a", Outcome.WRONG_ARGUMENTS),
        ("against-the-schema", case("a=1"), "a=?", Outcome.INVALID_ARGUMENTS),
        ("against-the-schema-though-nothing-is-expected-of-them", case("a"), "a=?", Outcome.INVALID_ARGUMENTS),
        ("no-json", case("a"), "a=!", Outcome.INVALID_ARGUMENTS),
        ("no-json-and-no-schema", case("free"), "free=!", Outcome.INVALID_ARGUMENTS),
        ("required-by-the-schema", case("x"), "x", Outcome.INVALID_ARGUMENTS),
        ("one-against-the-schema-one-wrong", case("a=1 b=1"), "a=2 b=?", Outcome.INVALID_ARGUMENTS),
        ("names-go-before-arguments", case("a=1"), "b=?", Outcome.WRONG_TOOL),
        ("arguments-in-any-order", case("a=1 a=2"), "a=2 a=1", Outcome.CORRECT),
        ("arguments-twice-the-same", case("a=1 a=2"), "a=1 a=1", Outcome.WRONG_ARGUMENTS),
        ("an-unchecked-call-takes-what-is-left", case("a a=2"), "a=2 a=9", Outcome.CORRECT),
        ("arguments-choose-between-tools", case("a|b=1 a|b=2"), "b=2 a=1", Outcome.CORRECT),
        ("arguments-in-order", case("a=1 a=2", match=ORDERED), "a=1 a=2", Outcome.CORRECT),
        ("arguments-out-of-order", case("a=1 a=2", match=ORDERED), "a=2 a=1", Outcome.WRONG_ARGUMENTS),
        ("superset-takes-the-right-one", case("a=2", match=SUPERSET), "a=? a=1 a=2", Outcome.CORRECT),
        ("surplus-is-the-wrong-one", case("a=1", extra="a"), "a=? a=1", Outcome.CORRECT),
        ("the-valid-one-is-taken", case("a=1", extra="a"), "a=? a=2", Outcome.WRONG_ARGUMENTS),
        # Several answers.
        ("the-second-answer", case("a", "b"), "b", Outcome.CORRECT),
        ("right-beats-wrong-arguments", case("a=1", "a=2"), "a=2", Outcome.CORRECT),
        ("right-names-beat-wrong-ones", case("b", "a=1"), "a=2", Outcome.WRONG_ARGUMENTS),
        ("the-nearest-wrong-answer", case("a b c", "b"), "a b", Outcome.MISSING_CALL),
        ("no-answer", case("a", "b"), "c", Outcome.WRONG_TOOL),
        ("nothing-though-two-answers", case("a", "b"), "", Outcome.MISSING_CALL),
    ),
)  # fmt: skip
def test_E4_outcome(of: Case, made: str, outcome: Outcome) -> None:
    assert score(of, made).outcome is outcome


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sampled_from("abc"), max_size=7))
def test_V6_what_an_order_with_others_between_is(wanted: list[str], made: list[str]) -> None:
    rest = iter(made)
    is_subsequence = all(name in rest for name in wanted)
    right = {
        IN_ORDER: is_subsequence,
        STARTS_WITH: made[: len(wanted)] == wanted,
        SUPERSET: not Counter(wanted) - Counter(made),
    }
    for match, is_right in right.items():
        of = case(" ".join(wanted), match=match)
        assert (score(of, " ".join(made)).outcome is Outcome.CORRECT) == is_right
        counts = [SCORER.count_calls(of, calls(" ".join(made[:length]))) for length in range(len(made) + 1)]
        assert counts == sorted(counts)
        assert not is_right or counts[-1] == len(wanted)


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        (Ending.ERROR, Outcome.ERROR),
        (Ending.CONTEXT_OVERFLOW, Outcome.CONTEXT_OVERFLOW),
        (Ending.REFUSED, Outcome.REFUSED),
        (Ending.REQUEST_LIMIT, Outcome.GAVE_UP),
        (Ending.TRUNCATED, Outcome.TRUNCATED),
        (Ending.NO_CALL, Outcome.CORRECT),
        (Ending.STEPS, Outcome.CORRECT),
    ],
)
@pytest.mark.parametrize(
    ("of", "made"), [(case("a"), "a"), (case(""), ""), (case(None), "b")], ids=["call", "nothing", "any"]
)
def test_E4_how_a_trial_ended_goes_before_what_was_called(
    of: Case, made: str, ending: Ending, outcome: Outcome
) -> None:
    assert score(of, made, ending).outcome is outcome
    if outcome is not Outcome.CORRECT:
        assert score(of, "?q -a", ending).outcome is outcome


@pytest.mark.parametrize("ending", [Ending.ERROR, Ending.CONTEXT_OVERFLOW, Ending.REFUSED])
def test_E4_what_the_provider_said_is_the_reason(ending: Ending) -> None:
    assert SCORER.score(case("a"), [], ending, error="429: slow down").reason == "429: slow down"
    assert SCORER.score(case("a"), [], ending).reason.endswith(".")


@pytest.mark.parametrize(
    ("of", "made", "ending", "counts"),
    [
        pytest.param(case("a b"), "b c", Ending.STEPS, (1, 2, 2), id="one-of-two"),
        pytest.param(case("a"), "a a", Ending.STEPS, (1, 2, 1), id="once-too-often"),
        pytest.param(case("a"), "", Ending.NO_CALL, (0, 0, 1), id="nothing-called"),
        pytest.param(case(""), "", Ending.NO_CALL, (0, 0, 0), id="nothing-called-nothing-wanted"),
        pytest.param(case(""), "a b", Ending.STEPS, (0, 2, 0), id="called-for-nothing"),
        pytest.param(case("a", extra="c"), "c a c", Ending.STEPS, (1, 1, 1), id="permitted-surplus-is-not-counted"),
        pytest.param(case("a", match=SUPERSET), "b a c", Ending.STEPS, (1, 1, 1), id="nor-that-of-a-superset"),
        pytest.param(
            case("a", match=SUPERSET, forbidden="b"), "b a", Ending.STEPS, (1, 2, 1), id="forbidden-is-counted"
        ),
        pytest.param(case("a", match=SUPERSET), "a ?q -b", Ending.STEPS, (1, 3, 1), id="so-is-what-is-not-there"),
        pytest.param(case("a"), "-a", Ending.STEPS, (0, 1, 1), id="what-was-not-offered-hits-nothing"),
        pytest.param(case("a b", match=ORDERED), "b a", Ending.STEPS, (1, 2, 2), id="out-of-order"),
        pytest.param(case("a b c", "b"), "a b", Ending.STEPS, (2, 2, 3), id="of-the-nearest-answer"),
        pytest.param(case("a b"), "a", Ending.REQUEST_LIMIT, (1, 1, 2), id="gave-up-half-way"),
        pytest.param(case("a b"), "a", Ending.REFUSED, (1, 1, 2), id="refused-half-way"),
        pytest.param(case("a"), "a", Ending.ERROR, (None, None, None), id="unscored"),
        pytest.param(case("a"), "a", Ending.CONTEXT_OVERFLOW, (None, None, None), id="unscored-too"),
        pytest.param(case(None), "a", Ending.STEPS, (None, None, None), id="any-call-will-do"),
    ],
)
def test_E5_counts_for_precision_and_recall(
    of: Case, made: str, ending: Ending, counts: tuple[int | None, int | None, int | None]
) -> None:
    found = score(of, made, ending)
    assert (found.hits, found.made, found.wanted) == counts


@pytest.mark.parametrize(
    ("of", "made", "ending", "missing", "surplus"),
    [
        pytest.param(case("a b"), "b a", Ending.STEPS, "", "", id="all-is-right"),
        pytest.param(case("a"), "b", Ending.STEPS, "a", "b", id="one-for-another"),
        pytest.param(case("c a b"), "x b free", Ending.STEPS, "c a", "x free", id="each-in-its-order"),
        pytest.param(case("a b"), "", Ending.STEPS, "a b", "", id="nothing-called"),
        pytest.param(case("a a"), "a", Ending.STEPS, "a", "", id="once-of-twice"),
        pytest.param(case("b|a c"), "c", Ending.STEPS, "b", "", id="the-first-of-those-a-call-accepts"),
        pytest.param(case("a"), "a=? b=?", Ending.STEPS, "", "b", id="wrong-arguments-are-called-all-the-same"),
        pytest.param(case("a", extra="c"), "c b", Ending.STEPS, "a", "b", id="permitted-is-not-surplus"),
        pytest.param(case("a", match=SUPERSET), "b", Ending.STEPS, "a", "", id="nor-what-a-superset-permits"),
        pytest.param(case("a", match=SUPERSET, forbidden="b"), "b a", Ending.STEPS, "", "b", id="forbidden-is"),
        pytest.param(case("a"), "?made_up -b", Ending.STEPS, "a", "made_up b", id="so-is-what-is-not-there"),
        pytest.param(case("a"), "-a", Ending.STEPS, "a", "a", id="what-was-not-offered-is-both"),
        pytest.param(case("a b", match=ORDERED), "b a", Ending.STEPS, "a", "a", id="what-is-out-of-order-is-both"),
        pytest.param(case("a b c", "b x"), "a b", Ending.STEPS, "c", "", id="of-the-nearest-answer"),
        pytest.param(case("a", ""), "b", Ending.STEPS, "", "b", id="where-nothing-is-as-near"),
        pytest.param(case("", extra="c"), "a c", Ending.STEPS, "", "a", id="called-for-nothing"),
        pytest.param(case(None, forbidden="b"), "a b ?made_up", Ending.STEPS, "", "b", id="any-call-but-a-forbidden"),
        pytest.param(case(None), "", Ending.STEPS, "", "", id="any-call-and-none-was-made"),
        pytest.param(case("a b"), "a c", Ending.REQUEST_LIMIT, "b", "c", id="gave-up-half-way"),
        pytest.param(case("a b"), "", Ending.REFUSED, "a b", "", id="refused-at-once"),
        pytest.param(case("a"), "b", Ending.ERROR, "", "", id="unscored"),
        pytest.param(case("a"), "b", Ending.CONTEXT_OVERFLOW, "", "", id="unscored-too"),
    ],
)
def test_E6_which_calls_are_missing_and_which_are_surplus(
    of: Case, made: str, ending: Ending, missing: str, surplus: str
) -> None:
    found = score(of, made, ending)
    assert (found.missing, found.surplus) == (tuple(missing.split()), tuple(surplus.split()))


TOOL = st.sampled_from(["a", "b", "c", "x"])


@given(st.lists(TOOL, max_size=4), st.lists(TOOL, max_size=4), st.lists(TOOL, max_size=5), st.sampled_from(Matching))
def test_E6_what_is_missing_and_surplus_is_what_the_counts_leave(
    right: list[str], other: list[str], made: list[str], match: Matching
) -> None:
    found = score(case(" ".join(right), " ".join(other), match=match), " ".join(made))
    assert found.hits is not None
    assert found.made is not None
    assert found.wanted is not None
    assert (len(found.missing), len(found.surplus)) == (found.wanted - found.hits, found.made - found.hits)
    assert found.outcome.is_right_by_names == (not found.missing and not found.surplus)
    assert not Counter(found.surplus) - Counter(made)
    if match is EXACT:
        met = Counter(made) - Counter(found.surplus)
        assert met + Counter(found.missing) in (Counter(right), Counter(other))


@pytest.mark.parametrize(
    ("of", "made", "checked", "right"),
    [
        pytest.param(case("a=1 b"), "a=1 b=?", 2, 1, id="one-right-one-not"),
        pytest.param(case("a=1 a=2"), "a=2 a=3", 2, 1, id="laid-so-that-most-are-right"),
        pytest.param(case("free"), "free", 0, 0, id="nothing-to-hold-against"),
        pytest.param(case("free=1"), "free=1", 1, 1, id="an-expectation"),
        pytest.param(case("a"), "a", 1, 1, id="a-schema"),
        pytest.param(case("free"), "free=!", 1, 0, id="no-json-is-always-wrong"),
        pytest.param(case("a"), "b=1", 0, 0, id="of-a-wrong-tool"),
        pytest.param(case("a=1"), "a=1 b", 1, 1, id="of-the-right-call-beside-a-wrong-one"),
        pytest.param(case(None), "a b=?", 2, 1, id="any-call"),
        pytest.param(case(None), "free", 0, 0, id="any-call-without-a-schema"),
    ],
)
def test_E5_arguments_are_counted_by_call(of: Case, made: str, checked: int, right: int) -> None:
    found = score(of, made)
    assert (found.arguments_checked, found.arguments_right) == (checked, right)


@pytest.mark.parametrize(
    ("of", "made", "reason"),
    [
        (case("a b"), "a b", "Called a and b, as expected."),
        (case(""), "", "Called nothing, as expected."),
        (case("a|b c"), "c", "Did not call a or b."),
        (case("a"), "b c", "Called b and c instead of a."),
        (case("a b", match=ORDERED), "b a", "Called b and a in the wrong order; right is a and b."),
        (case("a"), "a b", "Called b beyond what was asked for."),
        (case(""), "a", "Called a, though nothing should be called."),
        (case("a", forbidden="b"), "a b", "Called b, which is forbidden."),
        (case("a"), "?made", "Called 'made', which is in no catalog."),
        (case("a"), "-a", "Called a, which was not offered."),
        (case(None), "", "Called nothing, though any call would do."),
        (
            case("a"),
            "a=?",
            "Called a with arguments that go against its schema: argument 'n': \"?\" is not of type \"integer\".",
        ),
        (case("a=1"), "a=2", "Called a with wrong arguments: argument 'n' is 2, not 1."),
        (case("a"), "b b b b b b", "Called b, b, b, b and 2 more instead of a."),
    ],
)  # fmt: skip
def test_E4_the_reason_is_one_sentence_that_names_tools_and_arguments(of: Case, made: str, reason: str) -> None:
    assert score(of, made).reason == reason


def test_E4_a_reason_is_short_however_long_names_and_arguments_are() -> None:
    long = SelectedTool(0, "n" * 5000, None, False, {"k" * 5000: "v" * 5000})
    assert len(SCORER.score(case("a"), [long] * 100, Ending.STEPS).reason) < 500
    assert len(SCORER.score(case("a"), [long] * 100, Ending.REQUEST_LIMIT).reason) < 500


def test_E3_fifty_parallel_calls_are_scored_at_once() -> None:
    of = case(" ".join(f"a={n}" for n in range(50)))
    started = time.process_time()
    assert score(of, " ".join(f"a={n}" for n in reversed(range(50)))).outcome is Outcome.CORRECT
    assert score(of, " ".join(f"a={n}" for n in range(1, 51))).outcome is Outcome.WRONG_ARGUMENTS
    assert time.process_time() - started < 5


LOOSE = {"null": None, "a-word-for-any": "dontcare", "text-for-a-number": "three"}


@pytest.mark.parametrize("rules", ArgumentRules)
@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in LOOSE.items()])
def test_E3_a_call_that_equals_its_label_is_right_even_against_the_schema(value: Any, rules: ArgumentRules) -> None:
    expected = ExpectedArguments({"n": (value,)}, rules=rules)
    of = Case("c", (), (ExpectedCall(("a",), expected),))

    def outcome(arguments: dict[str, Any]) -> Outcome:
        return SCORER.score(of, [SelectedTool(0, "a", "a", True, arguments)], Ending.STEPS).outcome

    assert outcome({"n": value}) is Outcome.CORRECT
    assert outcome({"n": [value]}) is Outcome.INVALID_ARGUMENTS, "neither what is right, nor what the schema takes"


@pytest.mark.parametrize(
    ("given", "exact", "outcome"),
    [
        pytest.param({"n": "x", "q": 5}, False, Outcome.INVALID_ARGUMENTS, id="what-no-label-names-is-held-against-it"),
        pytest.param({"n": "x"}, False, Outcome.INVALID_ARGUMENTS, id="what-is-required-is-missing"),
        pytest.param({"n": "x"}, True, Outcome.CORRECT, id="a-label-that-names-all-lacks-it-too"),
        pytest.param({"n": "x", "q": "a"}, False, Outcome.CORRECT, id="and-all-else-is-as-it-must-be"),
    ],
)
def test_E3_a_label_excuses_what_it_names_and_no_more(given: dict[str, Any], exact: bool, outcome: Outcome) -> None:
    properties = {"n": {"type": "integer"}, "q": {"type": "string"}}
    tool = Tool("t", id="t", parameters={"type": "object", "properties": properties, "required": ["q"]})
    scorer = Scorer(ArgumentSchemas(Catalog((Plugin("p", (tool,)),))))
    of = Case("c", (), (ExpectedCall(("t",), ExpectedArguments({"n": ("x",)}, exact=exact)),))
    assert scorer.score(of, [SelectedTool(0, "t", "t", True, given)], Ending.STEPS).outcome is outcome
