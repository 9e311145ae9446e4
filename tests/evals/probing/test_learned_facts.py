"""What a probe shows, in the words of `toolbelt.yaml`: no more than it shows."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.probing.probes import make_probe
from tests.wording import mentions
from toolbelt.evals.probing.checks import EVERY, FIRST
from toolbelt.evals.probing.learned_facts import News, find_news, format_entry, learned_facts, make_entry, seen_beside
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult
from toolbelt.models.facts import ModelFacts, ModelPrices
from toolbelt.models.project_models import ProjectModel, read_models
from toolbelt.sources import parse_yaml

O = CheckOutcome  # noqa: E741  a table of them


def result(**outcomes: CheckOutcome) -> ProbeResult:
    checks = tuple(CheckResult(key, outcomes[key]) for key in EVERY if key in outcomes)
    return ProbeResult("20260101-000000-aaaa", "2026-01-01", "m", "finished", checks, EVERY)


@pytest.mark.parametrize(
    ("outcomes", "shown"),
    [
        pytest.param({}, {}, id="nothing-of-nothing"),
        pytest.param({"one_tool": O.UNKNOWN}, {}, id="nothing-of-no-answer"),
        pytest.param({"one_tool": O.WORKS}, {"tool_calling": True}, id="a-call-made"),
        pytest.param({"one_tool": O.REFUSED}, {"tool_calling": False}, id="tools-refused"),
        pytest.param({"one_tool": O.FAILS}, {}, id="a-model-that-would-not-once-shows-nothing"),
        pytest.param({"one_tool": O.FAILS, "long_name": O.WORKS}, {"tool_calling": True}, id="any-call-shows-it"),
        pytest.param({"none_fits": O.WORKS, "choice_none": O.WORKS}, {}, id="what-works-without-a-call-does-not"),
        pytest.param({"parallel_calls": O.FAILS}, {}, id="parallel-open"),
        pytest.param(
            {"parallel_calls": O.WORKS}, {"tool_calling": True, "parallel_calls": True}, id="two-calls-at-once"
        ),
        pytest.param(
            {"parallel_calls": O.PARTLY}, {"tool_calling": True, "parallel_calls": False}, id="one-after-the-other"
        ),
        pytest.param(
            {"choice_required": O.WORKS, "choice_named": O.WORKS},
            {"tool_calling": True, "tool_choice": True},
            id="both-demands-work",
        ),
        pytest.param({"choice_required": O.REFUSED, "choice_named": O.REFUSED}, {"tool_choice": False}, id="refused"),
        pytest.param({"choice_required": O.FAILS, "choice_named": O.FAILS}, {}, id="not-kept-to-once-is-open"),
        pytest.param({"choice_required": O.WORKS, "choice_named": O.REFUSED}, {"tool_calling": True}, id="half"),
        pytest.param({"choice_required": O.REFUSED}, {}, id="the-other-was-not-tried"),
        pytest.param({"cached_tokens": O.WORKS}, {"caching": True}, id="cached"),
        pytest.param({"cached_tokens": O.FAILS}, {}, id="not-cached-shows-nothing"),
    ],
)
def test_no_more_is_learned_than_was_shown(outcomes: dict[str, CheckOutcome], shown: dict[str, object]) -> None:
    assert learned_facts(result(**outcomes)) == shown


WINDOW = "It is more than the context window holds: This model's maximum context length is 8192 tokens."


@pytest.mark.parametrize(
    ("refusals", "window"),
    [
        pytest.param([CheckResult("tools_256", O.TOO_LARGE, WINDOW, 1)], 8192, id="told"),
        pytest.param([CheckResult("tools_256", O.TOO_LARGE, "too long", 1)], None, id="not-told"),
        pytest.param([CheckResult("tools_256", O.TOO_LARGE, WINDOW)], None, id="not-asked"),
        pytest.param([CheckResult("tools_256", O.REFUSED, WINDOW, 1)], None, id="refused-for-another-reason"),
        pytest.param(
            [
                CheckResult("tools_128", O.TOO_LARGE, WINDOW, 1),
                CheckResult("tools_256", O.TOO_LARGE, WINDOW.replace("8192", "4096"), 1),
            ],
            None,
            id="told-to-be-two",
        ),
    ],
)
def test_L15_a_window_is_learned_where_the_provider_names_it(refusals: list[CheckResult], window: int | None) -> None:
    made = ProbeResult("20260101-000000-aaaa", "2026-01-01", "m", "finished", tuple(refusals), EVERY)
    assert learned_facts(made).get("context_window") == window


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        pytest.param("At most 200 tools are taken.", {"max_tools": 200}, id="named"),
        pytest.param("Too many tools.", {}, id="what-was-taken-is-no-limit"),
    ],
)
def test_L15_the_most_tools_are_learned_where_the_api_names_them(said: str, shown: dict[str, int]) -> None:
    checks = (CheckResult("tools_128", O.WORKS), CheckResult("tools_256", O.REFUSED, said, 1))
    made = ProbeResult("20260101-000000-aaaa", "2026-01-01", "m", "finished", checks, EVERY)
    assert learned_facts(made) == {"tool_calling": True, **shown}


@given(st.dictionaries(st.sampled_from(EVERY), st.sampled_from(CheckOutcome)))
def test_whatever_came_is_what_a_model_can_be_said_to_be(outcomes: dict[str, CheckOutcome]) -> None:
    shown = learned_facts(result(**outcomes))
    assert set(shown) <= {field.name for field in fields(ProjectModel)}
    assert shown.get("caching") is not False
    if outcomes.get(FIRST) is CheckOutcome.REFUSED:
        assert shown == {"tool_calling": False}
    assert ProjectModel("m", **shown).calls_tools is shown.get("tool_calling")


FACTS = ModelFacts(
    "m", tool_calling=True, parallel_calls=True, sources={"tool_calling": "litellm", "parallel_calls": "litellm"}
)
_FLAGS = st.none() | st.booleans()
WORKS, PARTLY, REFUSED = CheckOutcome.WORKS, CheckOutcome.PARTLY, CheckOutcome.REFUSED


def probed(**outcomes: CheckOutcome) -> ProbeResult:
    checks = tuple(CheckResult(key, outcome, requests=1) for key, outcome in outcomes.items())
    return make_probe("m", checks=checks, planned=tuple(outcomes))


def probed_of(most: int, **outcomes: CheckOutcome) -> ProbeResult:
    """By an API that names how many tools it takes."""
    said = f"At most {most} tools are taken."
    checks = (CheckResult(key, outcome, said if outcome is REFUSED else "", 1) for key, outcome in outcomes.items())
    return make_probe("m", checks=tuple(checks), planned=tuple(outcomes))


@pytest.mark.parametrize(
    ("known", "told", "news"),
    [
        pytest.param(128, 128, [], id="as-known"),
        pytest.param(128, 200, [(200, "")], id="more-than-known"),
        pytest.param(250, 200, [(200, "")], id="fewer-than-known"),
        pytest.param(512, 200, [(200, "")], id="what-is-known-was-refused"),
        pytest.param(None, 200, [(200, "")], id="nothing-known"),
    ],
)
def test_L15_a_limit_in_the_apis_own_words_is_news_unless_it_is_known(
    known: int | None, told: int, news: list[tuple[int, str]]
) -> None:
    facts = ModelFacts("m", tool_calling=True, max_tools=known)
    found = find_news(probed_of(told, tools_128=WORKS, tools_256=REFUSED), facts)
    assert [(one.seen, one.note) for one in found] == news


def test_L15_of_a_limit_that_is_known_wrongly_it_is_told_that_what_was_seen_is_none() -> None:
    outcomes = {"tools_128": WORKS, "tools_256": REFUSED}
    [fewer] = find_news(probed(**outcomes), ModelFacts("m", tool_calling=True, max_tools=64))
    assert fewer.seen == 128
    assert mentions(fewer.note, 128, 256)
    [more] = find_news(probed(tools_128=WORKS), ModelFacts("m", tool_calling=True, max_tools=64))
    assert (more.seen, more.note) == (128, "it may take more")
    assert find_news(probed(one_tool=WORKS, tools_16=REFUSED), ModelFacts("m", tool_calling=True, max_tools=64)) == ()


def test_what_was_known_is_no_news() -> None:
    assert find_news(probed(one_tool=WORKS), FACTS) == ()
    assert find_news(make_probe(checks=()), FACTS) == ()


@pytest.mark.parametrize(("known", "is_news"), [(None, True), (131_072, True), (8192, False), (8193, False)])
def test_a_window_that_is_told_is_news_unless_it_is_known_but_for_a_token(known: int | None, is_news: bool) -> None:
    said = "maximum context length is 8192 tokens"
    check = CheckResult("tools_256", CheckOutcome.TOO_LARGE, said, requests=1)
    news = find_news(make_probe("m", checks=(check,)), ModelFacts("m", context_window=known))
    assert [(one.key, one.known, one.seen) for one in news] == [("context_window", known, 8192)] * is_news


def test_a_reserve_that_a_told_window_does_not_hold_is_left_out_of_the_entry() -> None:
    own, small = ProjectModel("m", context_window=32_000, output_reserve=9000), News("context_window", 32_000, "", 8192)
    assert make_entry("m", [small], own) == {"name": "m", "context_window": 8192}
    assert make_entry("m", [News("caching", None, "", True)], own)["output_reserve"] == 9000


def test_what_is_otherwise_contradicts_and_what_was_unknown_adds() -> None:
    news = find_news(probed(one_tool=WORKS, parallel_calls=PARTLY, tools_128=WORKS, tools_256=REFUSED), FACTS)
    assert news == (News("parallel_calls", True, "litellm", False),), "what was taken is no limit"
    [told] = find_news(probed_of(200, tools_128=WORKS, tools_256=REFUSED), FACTS)
    assert (told, told.is_contradiction) == (News("max_tools", None, "", 200), False)


@pytest.mark.parametrize(
    ("known", "outcomes", "seen"),
    [
        pytest.param(200, {"tools_128": WORKS, "tools_256": REFUSED}, None, id="a-limit-between-the-two-is-borne-out"),
        pytest.param(128, {"tools_128": WORKS, "tools_256": REFUSED}, None, id="so-is-the-lower"),
        pytest.param(256, {"tools_128": WORKS, "tools_256": REFUSED}, 128, id="the-higher-was-refused"),
        pytest.param(64, {"tools_128": WORKS, "tools_256": REFUSED}, 128, id="more-than-the-limit-were-taken"),
        pytest.param(128, {"tools_128": WORKS, "tools_256": WORKS}, 256, id="more-than-the-limit-and-none-refused"),
        pytest.param(512, {"tools_128": WORKS, "tools_256": WORKS}, None, id="fewer-than-the-limit-say-nothing"),
        pytest.param(None, {"tools_128": WORKS, "tools_256": WORKS}, None, id="no-limit-was-seen"),
    ],
)
def test_the_most_tools_are_news_only_where_the_limit_that_is_known_is_wrong(
    known: int | None, outcomes: dict[str, CheckOutcome], seen: int | None
) -> None:
    facts = ModelFacts("m", tool_calling=True, max_tools=known)
    assert [one.seen for one in find_news(probed(**outcomes), facts)] == ([] if seen is None else [seen])
    beside = seen_beside(probed(**outcomes), facts).get("max_tools")
    assert beside == seen or beside == known == 128, "what is borne out stands beside it, and no other limit does"


def test_an_entry_keeps_what_the_project_says() -> None:
    own = ProjectModel("m", context_window=8192, parallel_calls=True, prices=ModelPrices(1, 2))
    entry = make_entry("m", [News("parallel_calls", True, "litellm", False)], own)
    assert (entry["name"], entry["context_window"], entry["parallel_calls"]) == ("m", 8192, False)
    assert entry["prices"] == {"input": 1, "output": 2}


_SEEN = {"tool_calling": st.booleans(), "parallel_calls": st.booleans(), "max_tools": st.integers(1, 999)}
_SAID = {"context_window": st.none() | st.integers(9000, 10**6), "tool_calling": _FLAGS, "caching": _FLAGS}
_NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(_NAMES, st.fixed_dictionaries({}, optional=_SEEN), st.builds(ProjectModel, name=st.just("m"), **_SAID))
def test_what_is_to_be_pasted_is_read_as_what_was_meant(name: str, seen: dict[str, bool], own: ProjectModel) -> None:
    entry = make_entry(name, [News(key, None, "", value) for key, value in seen.items()], own)
    text = format_entry(entry)
    names, [made], findings = read_models(parse_yaml(f"models:\n{text}", "toolbelt.yaml"), "models")
    assert (names, findings) == ([name], [])
    assert {key: getattr(made, key) for key in entry} == entry


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("ollama/llama3:8b", id="a-colon"),
        pytest.param("a: b # c", id="a-colon-and-a-comment"),
        pytest.param("'it''s' \"so\"", id="quotes"),
        pytest.param("модель-模型", id="unicode"),
        pytest.param("yes", id="a-word-yaml-means-something-by"),
        pytest.param("1.0", id="a-number"),
        pytest.param("a\u202eb\x1b[2J", id="what-a-terminal-obeys"),
    ],
)
def test_an_entry_can_be_pasted_whatever_the_name(name: str) -> None:
    text = format_entry({"name": name, "max_tools": 64})
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert parse_yaml(text, "toolbelt.yaml").data == [{"name": name, "max_tools": 64}]
