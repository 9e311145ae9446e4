"""Toolsets against models: counted once, compared as often as there are pairs."""

from __future__ import annotations

from collections import Counter

import pytest

from toolbelt import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.fit import Component, FitReason, FitVerdict
from toolbelt.loadouts.fit_text import describe_fit
from toolbelt.models.facts import ModelFacts
from toolbelt.models.fit import CandidateToolset, CountingMethod, FitCalculator, ModelToFit, compare
from toolbelt.models.provider_rules import find_tool_rules
from toolbelt.models.violation_text import violation_data

OBJECT = {"type": "object", "properties": {}}
CATALOG = Catalog(
    (
        Plugin("git", tuple(Tool(f"git_{number}", "Does.", OBJECT) for number in range(100))),
        Plugin("web", tuple(Tool(f"web_{number}", "Does.", OBJECT) for number in range(50))),
    )
)
WHOLE = CandidateToolset("whole", CATALOG.tools)
SOME = CandidateToolset("some", CATALOG.tools[:20], "some")
NONE = CandidateToolset("none", ())
OPENAI = ("o200k_base", "openai")
ANTHROPIC = ("o200k_base", "anthropic")


def comparer(
    tokens: int = 10, asked: Counter[CountingMethod] | None = None, catalog: Catalog = CATALOG
) -> FitCalculator:
    def count(counting: CountingMethod) -> ToolTokens:
        if asked is not None:
            asked[counting] += 1
        return ToolTokens({tool.id: tokens for tool in catalog.tools}, counting[0], exact=True, form=counting[1])

    return FitCalculator(catalog.wire_names, count, catalog.tools)


def ask(facts: ModelFacts, counting: CountingMethod = OPENAI, *, exact: bool = True) -> ModelToFit:
    return ModelToFit(facts, counting, exact)


def model(window: int | None = 128_000, reserve: int | None = 4_096, calls: bool | None = True) -> ModelFacts:
    return ModelFacts("m", "m", "nobody", "chat", window, output_reserve=reserve, tool_calling=calls)


@pytest.mark.parametrize(
    ("facts", "toolset", "verdict", "reason"),
    [
        pytest.param(model(), WHOLE, "fits", None, id="much-room-fits"),
        pytest.param(
            model(3_700, 0), WHOLE, "fits_degraded", "Definitions take 41% of the window, over 40%", id="over"
        ),
        pytest.param(model(3_750, 0), WHOLE, "fits", None, id="two-fifths-fit"),
        pytest.param(
            model(2_000, 500),
            WHOLE,
            "refuses",
            "Definitions of 1,500 tokens and 500 kept for the answer leave no room in a window of 2,000; "
            "the largest part: the definitions, of which 'git' takes 1,000.",
            id="no-room-after-the-reserve",
        ),
        pytest.param(model(2_001, 500), WHOLE, "fits_degraded", "Definitions take 75%", id="one-token-of-room"),
        pytest.param(
            model(1_000, 900),
            SOME,
            "refuses",
            "Definitions of 200 tokens and 900 kept for the answer leave no room in a window of 1,000; "
            "the largest part: the output reserve.",
            id="the-reserve-may-be-what-is-large",
        ),
        pytest.param(model(calls=False), WHOLE, "unsupported", "It does not call tools.", id="no-tool-calling"),
        pytest.param(model(1_000, calls=False), NONE, "refuses", "Definitions of 0 tokens", id="nothing-is-no-matter"),
        pytest.param(model(calls=False), NONE, "fits", None, id="no-tools-need-no-calling"),
        pytest.param(model(None), WHOLE, "unknown", "Its context window is unknown.", id="unknown-window"),
        pytest.param(model(None, calls=False), WHOLE, "unsupported", "It does", id="what-is-sure-goes-first"),
        pytest.param(model(calls=None), WHOLE, "fits", "Whether it calls tools is unknown.", id="unknown-is-not-no"),
        pytest.param(
            ModelFacts("gpt-4o", "gpt-4o", "openai", "chat", 128_000, tool_calling=True),
            WHOLE,
            "refuses",
            "A request may hold 128 tools; these are 150, 22 too many.",
            id="too-many-tools",
        ),
        pytest.param(
            ModelFacts("gpt-4o", "gpt-4o", "openai", "chat", None, tool_calling=True),
            WHOLE,
            "refuses",
            "A request may hold 128 tools",
            id="too-many-whatever-the-window",
        ),
        pytest.param(
            ModelFacts("gpt-4o", "gpt-4o", "openai", "chat", 128_000, tool_calling=True, max_tools=150),
            WHOLE,
            "fits",
            None,
            id="what-the-project-says-goes-before",
        ),
    ],
)
def test_the_verdict_and_its_reason(
    facts: ModelFacts, toolset: CandidateToolset, verdict: str, reason: str | None
) -> None:
    fit = comparer().fit(toolset, ask(facts))
    assert fit.verdict is FitVerdict(verdict)
    if reason is None:
        assert fit.reasons == ()
    else:
        assert describe_fit(fit)[0].startswith(reason)


def test_components_are_told() -> None:
    fit = comparer().fit(WHOLE, ask(model(10_000, 600)))
    assert (fit.tokens, fit.tools, fit.room) == (1_500, 150, 7_900)
    assert fit.by_plugin == (("git", 1_000), ("web", 500))
    assert fit.largest is Component.DEFINITIONS


def test_tools_are_counted_once_for_each_means() -> None:
    counts: Counter[CountingMethod] = Counter()
    toolsets = [CandidateToolset(str(number), CATALOG.tools[: number * 20]) for number in range(7)]
    models = [ask(model(1_000 * number), ANTHROPIC if number % 2 else OPENAI) for number in range(1, 51)]
    fits = compare(toolsets, models, comparer(asked=counts))
    assert (len(fits), {len(row) for row in fits}) == (7, {50})
    assert counts == {OPENAI: 1, ANTHROPIC: 1}


def test_toolsets_that_are_made_anew_do_not_take_each_others_place() -> None:
    compared = comparer()
    for number in range(1, 30):
        assert compared.fit(CandidateToolset("t", CATALOG.tools[:number]), ask(model())).tokens == number * 10


def test_an_estimate_is_told_from_a_count() -> None:
    assert comparer().fit(SOME, ask(model(), exact=True)).exact
    assert not comparer().fit(SOME, ask(model(), exact=False)).exact


def _picky() -> Catalog:
    barred = {"type": "object", "properties": {"a": {"type": "array"}}}
    return Catalog(
        (
            Plugin("a", (Tool("fine", "Does.", OBJECT), Tool("dotted.name", "Does.", OBJECT))),
            Plugin("b", (Tool("bare", "Does.", barred), Tool("dash-ed", "", OBJECT))),
        )
    )


@pytest.mark.parametrize(
    ("provider", "to_repair", "api"),
    [
        pytest.param("openai", 1, "OpenAI's chat API", id="names-are-sent-legal-arrays-are-not"),
        pytest.param("bedrock", 1, "Bedrock's Converse API", id="no-description"),
        pytest.param("anthropic", 0, "Anthropic's messages API", id="nothing-to-mend"),
        pytest.param("cohere", 0, "Cohere's chat API", id="what-is-only-doubtful-is-not-sure"),
        pytest.param("nobody", 0, None, id="no-rules-known"),
    ],
)
def test_tools_that_are_sure_to_be_refused_are_counted(provider: str, to_repair: int, api: str | None) -> None:
    catalog = _picky()
    facts = ModelFacts("m", "m", provider, "chat", 128_000, tool_calling=True)
    fit = comparer(catalog=catalog).fit(CandidateToolset("all", catalog.tools), ask(facts))
    assert (fit.to_repair, fit.api, fit.verdict) == (to_repair, api, FitVerdict.FITS)
    assert fit.reasons == ((FitReason.BROKEN_RULES,) if to_repair else ())
    assert not to_repair or describe_fit(fit)[0].startswith(f"1 tool breaks a rule of {api}")


def test_violations_name_the_tool_the_rule_and_the_place() -> None:
    catalog = _picky()
    facts = ModelFacts("m", "m", "openai", "chat")
    named, bare = comparer(catalog=catalog).inspected.find_violations(find_tool_rules(facts))
    assert (named.tool, named.rule) == ("a/dotted.name", "tool-name")
    data = violation_data(bare)
    assert {key: data[key] for key in ("tool", "rule", "effect", "mended", "places")} == {
        "tool": "b/bare",
        "rule": "array-items",
        "effect": "refused",
        "mended": False,
        "places": [["properties", "a"]],
    }
    assert data["sources"][0]["url"].startswith("https://")
