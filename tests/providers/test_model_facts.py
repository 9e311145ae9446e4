"""What is known of models is what toolbelt.yaml says, else litellm's table; the rest is unknown."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from toolbelt.models.facts import ModelFacts, ModelPrices
from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.litellm_loading import load_litellm
from toolbelt.providers.litellm_table import PRICE_TABLE, ModelTable, find_litellm_file, write_extract
from toolbelt.providers.model_facts import (
    TALKING_MODES,
    find_facts,
    is_known,
    list_models,
)

PLAIN = {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 100_000, "max_output_tokens": 9_000}
CALLS = {**PLAIN, "supports_function_calling": True, "supports_tool_choice": True}
PRICED = {"input_cost_per_token": 1.1e-6, "output_cost_per_token": 2e-6}


@cache
def litellm_table() -> dict[str, dict[str, Any]]:
    """The table, read without our code."""
    path = find_litellm_file(PRICE_TABLE)
    assert path is not None
    table: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    del table["sample_spec"]
    return table


def _facts(folder: Path, entries: dict[str, object], *own: ProjectModel, model: str = "m") -> ModelFacts:
    source = folder / "table.json"
    source.write_text(json.dumps(entries))
    return find_facts(model, ModelTable(source=source, own=own))


def test_efforts_are_those_that_litellm_reads_in_its_table() -> None:
    places = ("litellm_core_utils", "router_utils")  # newer and older releases
    place = next(place for place in places if find_litellm_file(f"{place}/reasoning_effort_capability.py"))
    load_litellm()  # which fetches nothing
    capability = import_module(f"litellm.{place}.reasoning_effort_capability")
    known = 0
    for name, entry in litellm_table().items():
        efforts = capability.resolve_supported_reasoning_efforts({**entry, "key": name}, deployment_is_mapped=False)
        if efforts is None or entry.get("alias_of"):
            continue
        if entry.get("thinking_always_on"):
            efforts = tuple(effort for effort in efforts if effort != "none")
        if "claude" in name and not entry.get("supports_minimal_reasoning_effort"):  # litellm sends low
            efforts = tuple(effort for effort in efforts if effort != "minimal")
        assert find_facts(name, ModelTable()).efforts == efforts, name
        known += 1
    assert known > 300


@pytest.mark.parametrize(
    ("entry", "efforts", "default"),
    [
        pytest.param({}, None, None, id="nothing-said"),
        pytest.param({"supports_reasoning": True}, None, None, id="reasons-in-unknown-efforts"),
        pytest.param({"supports_reasoning": False}, (), None, id="does-not-reason"),
        pytest.param({"reasoning_effort_levels": ["max", "low", "deep"]}, ("low", "max"), None, id="a-list"),
        pytest.param(
            {"supports_none_reasoning_effort": False, "default_reasoning_effort": "medium"},
            ("minimal", "low", "medium", "high"),
            "medium",
            id="a-denied-level",
        ),
        pytest.param(
            {"supports_max_reasoning_effort": True, "thinking_always_on": True},
            ("minimal", "low", "medium", "high", "max"),
            None,
            id="one-that-always-thinks",
        ),
        pytest.param({"litellm_provider": "anthropic", "supports_reasoning": True}, None, "none", id="an-older-claude"),
        pytest.param(
            {"litellm_provider": "anthropic", "supports_reasoning": True, "supports_adaptive_thinking": True},
            None,
            None,
            id="a-claude-that-may-think-by-itself",
        ),
    ],
)
def test_V5_efforts_of_an_entry(
    tmp_path: Path, entry: dict[str, Any], efforts: tuple[str, ...] | None, default: str | None
) -> None:
    facts = _facts(tmp_path, {"m": {**PLAIN, **entry}})
    assert (facts.efforts, facts.default_effort) == (efforts, default)


@pytest.mark.parametrize(
    ("entry", "own", "known", "source"),
    [
        pytest.param({"supports_tool_search": True}, None, True, "litellm", id="the-table"),
        pytest.param({}, None, None, None, id="nobody"),
        pytest.param({"litellm_provider": "anthropic"}, None, True, "provider rules", id="claude-by-its-vendors-page"),
        pytest.param({"litellm_provider": "anthropic"}, False, False, "toolbelt.yaml", id="the-project"),
    ],
)
def test_S1_whose_vendor_searches(
    tmp_path: Path, entry: dict[str, Any], own: bool | None, known: bool | None, source: str | None
) -> None:
    facts = _facts(tmp_path, {"m": {**PLAIN, **entry}}, ProjectModel("m", tool_search=own))
    assert (facts.tool_search, facts.sources.get("tool_search")) == (known, source)


def test_V5_the_project_knows_better_which_efforts_a_model_takes(tmp_path: Path) -> None:
    entry = {**PLAIN, "supports_reasoning": False, "supports_sampling_params": False}
    facts = _facts(tmp_path, {"m": entry}, ProjectModel("m", efforts=("high",), sampling=True))
    assert (facts.efforts, facts.reasoning, facts.sampling) == (("high",), True, True)
    assert facts.sources["efforts"] == "toolbelt.yaml"


def test_V5_a_build_of_another_provider_has_the_efforts_of_its_twin(tmp_path: Path) -> None:
    twin = {**PLAIN, "supports_xhigh_reasoning_effort": True}
    facts = _facts(tmp_path, {"azure/m": {**PLAIN, "litellm_provider": "azure"}, "m": twin}, model="azure/m")
    assert facts.efforts == ("minimal", "low", "medium", "high", "xhigh")


def test_every_fact_is_litellms(tmp_path: Path) -> None:
    for table in (ModelTable(), ModelTable(tmp_path), ModelTable(tmp_path)):  # none, a fresh and a kept extract
        for name, written in litellm_table().items():
            facts = find_facts(name, table)
            assert (facts.known_as, facts.alias_of) == (written.get("alias_of", name), written.get("alias_of"))
            entry = litellm_table().get(written.get("alias_of", ""), written)
            assert facts.provider == entry.get("litellm_provider")
            assert facts.context_window == (entry.get("max_input_tokens") or None)
            assert facts.output_limit == (entry.get("max_output_tokens") or None)
            if facts.tool_calling is not False or entry.get("mode") in TALKING_MODES:
                assert facts.tool_calling == entry.get("supports_function_calling")
            if facts.tool_calling:
                assert facts.parallel_calls == entry.get("supports_parallel_function_calling")
                is_free = entry.get("supports_forced_tool_use") is False
                assert facts.tool_choice == (False if is_free else entry.get("supports_tool_choice"))
            assert facts.reasoning == entry.get("supports_reasoning", facts.reasoning)
            if facts.prices is not None and "tiered_pricing" not in entry:
                assert facts.prices.input == pytest.approx(entry["input_cost_per_token"] * 1e6)
                assert facts.prices.output == pytest.approx(entry.get("output_cost_per_token", 0) * 1e6)


@pytest.mark.parametrize(
    "model",
    ["gpt-4o", "openai/gpt-5", "claude-sonnet-4-5", "gemini/gemini-2.5-pro", "o3", "groq/openai/gpt-oss-20b", "gpt-4"],
)
def test_litellm_itself_says_the_same(model: str, shared_cache: Path) -> None:
    told = load_litellm().get_model_info(model)
    facts = find_facts(model, ModelTable(shared_cache))
    assert (facts.provider, facts.mode) == (told["litellm_provider"], told["mode"])
    assert (facts.context_window, facts.output_limit) == (told["max_input_tokens"], told["max_output_tokens"])
    assert (facts.tool_calling, facts.tool_choice) == (told["supports_function_calling"], told["supports_tool_choice"])
    assert facts.prices is not None
    assert facts.prices.input == pytest.approx(told["input_cost_per_token"] * 1e6)
    assert facts.prices.cache_read == pytest.approx((told["cache_read_input_token_cost"] or 0) * 1e6) or (
        facts.prices.cache_read is None and not told["cache_read_input_token_cost"]
    )


def test_what_the_table_leaves_out_is_many_a_time_not_no() -> None:
    """The ground for reading what is missing as unknown: models that do call tools, and are not said to."""
    chats = {name: entry for name, entry in litellm_table().items() if entry.get("mode") == "chat"}
    silent = [name for name, entry in chats.items() if "supports_function_calling" not in entry]
    assert len(silent) > len(chats) / 10
    assert any("llama-3.1" in name.lower() or "o3-mini" in name for name in silent)
    says_no = [entry for entry in chats.values() if entry.get("supports_function_calling") is False]
    assert says_no  # who means no, says so


@pytest.mark.parametrize(
    ("entry", "known"),
    [
        pytest.param(PLAIN, {"tool_calling": None, "tool_choice": None}, id="what-is-missing-is-unknown"),
        pytest.param(
            {**PLAIN, "supports_function_calling": None, "supports_parallel_function_calling": None},
            {"tool_calling": None, "parallel_calls": None},
            id="null-is-unknown",
        ),
        pytest.param(CALLS, {"tool_calling": True, "tool_choice": True, "parallel_calls": None}, id="what-is-said"),
        pytest.param(
            {**CALLS, "supports_parallel_function_calling": False}, {"parallel_calls": False}, id="false-is-no"
        ),
        pytest.param(
            {**PLAIN, "supports_tool_choice": True, "supports_parallel_function_calling": True},
            {"tool_calling": None, "tool_choice": None, "parallel_calls": None},
            id="a-choice-of-tools-is-no-ground-for-tools",
        ),
        pytest.param(
            {**PLAIN, "supports_function_calling": False, "supports_tool_choice": True},
            {"tool_calling": False, "tool_choice": False, "parallel_calls": False},
            id="without-tools-there-is-nothing-to-choose",
        ),
        pytest.param({**PLAIN, "supports_function_calling": "yes"}, {"tool_calling": None}, id="a-word-is-no-answer"),
        pytest.param(
            {**PLAIN, **PRICED, "cache_read_input_token_cost": 1e-7}, {"caching": True}, id="who-charges-caches"
        ),
        pytest.param(
            {**PLAIN, **PRICED, "cache_read_input_token_cost": 1e-7, "supports_prompt_caching": False},
            {"caching": False},
            id="unless-it-is-said-not-to",
        ),
        pytest.param(
            {**PLAIN, **PRICED, "cache_read_input_token_cost": 0}, {"caching": None}, id="nothing-says-nothing"
        ),
        pytest.param({**PLAIN, "max_output_tokens": 0}, {"output_limit": None}, id="zero-is-unknown"),
        pytest.param({**PLAIN, "max_output_tokens": True}, {"output_limit": None}, id="true-is-no-number"),
        pytest.param({**PLAIN, "mode": 7, "litellm_provider": []}, {"mode": None, "provider": None}, id="other-types"),
        pytest.param({**PLAIN, **PRICED}, {"prices": ModelPrices(1.1, 2.0)}, id="prices-are-of-a-million"),
        pytest.param(
            {**PLAIN, **PRICED, "cache_read_input_token_cost": 1e-7, "cache_creation_input_token_cost": 0},
            {"prices": ModelPrices(1.1, 2.0, 0.1, 0.0)},
            id="prices-of-a-cache",
        ),
        pytest.param(
            {**PLAIN, **PRICED, "input_cost_per_request": 1}, {"prices": None}, id="prices-of-more-than-tokens"
        ),
        pytest.param(
            {
                "tiered_pricing": [
                    {**PRICED, "input_cost_per_token": 9e-6, "range": [10, 99]},
                    {**PRICED, "cache_read_input_token_cost": 1e-7, "range": [0, 10]},
                ]
            },
            {"prices": ModelPrices(1.1, 2.0, 0.1), "caching": True},
            id="the-first-step-of-prices",
        ),
        pytest.param({}, {"context_window": None, "prices": None, "known_as": "m"}, id="nothing-said"),
        pytest.param([], {"context_window": None, "tool_calling": None}, id="an-entry-of-another-shape"),
        pytest.param(None, {"context_window": None, "output_reserve": 4096}, id="an-empty-entry"),
    ],
)
def test_an_entry(entry: object, known: dict[str, object], tmp_path: Path) -> None:
    facts = _facts(tmp_path, {"m": entry})
    assert {key: getattr(facts, key) for key in known} == known


@pytest.mark.parametrize(
    ("own", "known"),
    [
        pytest.param({"context_window": 7}, {"context_window": 7, "output_limit": 9_000}, id="one-fact-alone"),
        pytest.param({"context_window": 7}, {"output_reserve": 1}, id="the-reserve-goes-by-it"),
        pytest.param({"output_reserve": 9}, {"output_reserve": 9}, id="a-reserve-of-ones-own"),
        pytest.param(
            {"tool_calling": False},
            {"tool_calling": False, "tool_choice": False, "parallel_calls": False},
            id="no-tools-at-all",
        ),
        pytest.param({"tool_choice": False}, {"tool_calling": True, "tool_choice": False}, id="tools-but-no-choice"),
        pytest.param({"prices": ModelPrices(5, 6)}, {"prices": ModelPrices(5, 6)}, id="prices-as-a-whole"),
        pytest.param({"provider": "hosted_vllm"}, {"provider": "hosted_vllm"}, id="a-provider"),
        pytest.param({"max_tools": 64}, {"max_tools": 64}, id="the-most-tools"),
        pytest.param({"caching": True}, {"caching": True}, id="caching"),
    ],
)
def test_the_project_knows_better(own: dict[str, Any], known: dict[str, object], tmp_path: Path) -> None:
    facts = _facts(tmp_path, {"m": {**CALLS, **PRICED}}, ProjectModel("m", **own))
    assert {key: getattr(facts, key) for key in known} == known
    assert all(facts.sources[key] == "toolbelt.yaml" for key in own)
    assert {facts.sources[key] for key in ("mode", "output_limit")} == {"litellm"}


def test_a_model_of_ones_own_is_found_whatever_its_case(tmp_path: Path) -> None:
    assert _facts(tmp_path, {}, ProjectModel("Mine/X", context_window=5), model="mine/x").context_window == 5


def test_what_makes_several_calls_calls_though_the_table_does_not_know(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {"m": PLAIN}, ProjectModel("m", parallel_calls=True))
    assert (facts.tool_calling, facts.parallel_calls) == (True, True)


@pytest.mark.parametrize(
    ("model", "own", "most", "source"),
    [
        pytest.param("gpt-4o", [], 128, "provider rules", id="a-rule-of-the-provider"),
        pytest.param(
            "gpt-4o", [ProjectModel("gpt-4o", max_tools=9)], 9, "toolbelt.yaml", id="the-project-knows-better"
        ),
        pytest.param("mine", [ProjectModel("mine", base="gpt-4o")], 128, "provider rules", id="an-alias-has-its-rules"),
        pytest.param("openai/a-server-of-my-own", [], None, None, id="a-server-that-speaks-openais-language"),
        pytest.param("ollama/llama3", [], None, None, id="no-rule-is-known"),
    ],
)
def test_the_most_tools(model: str, own: list[ProjectModel], most: int | None, source: str | None) -> None:
    facts = find_facts(model, ModelTable(own=own))
    assert (facts.max_tools, facts.sources.get("max_tools")) == (most, source)


def test_every_fact_that_is_known_has_a_source(tmp_path: Path) -> None:
    own = ProjectModel("m", context_window=5, max_tools=3)
    entry = {**CALLS, **PRICED, "supports_parallel_function_calling": True, "supports_prompt_caching": True}
    facts = _facts(tmp_path, {"m": entry}, own)
    assert dict(facts.sources) == {
        "provider": "litellm",
        "mode": "litellm",
        "context_window": "toolbelt.yaml",
        "output_limit": "litellm",
        "output_reserve": "default",
        "max_tools": "toolbelt.yaml",
        "tool_calling": "litellm",
        "parallel_calls": "litellm",
        "tool_choice": "litellm",
        "caching": "litellm",
        "prices": "litellm",
    }
    assert dict(_facts(tmp_path, {}).sources) == {"output_reserve": "default"}


BASES: dict[str, object] = {
    "azure/gpt": {**CALLS, **PRICED, "litellm_provider": "azure", "supports_prompt_caching": True},
    "small": {"max_input_tokens": 8},
}


def test_an_alias_is_what_it_stands_for(tmp_path: Path) -> None:
    for name in ("mine", "azure/mine"):
        facts = _facts(tmp_path, BASES, ProjectModel(name, base="azure/gpt"), model=name)
        assert (facts.known_as, facts.provider, facts.context_window) == ("azure/gpt", "azure", 100_000)
        assert (facts.tool_calling, facts.caching, facts.prices) == (True, True, ModelPrices(1.1, 2.0))
        assert facts.sources["context_window"] == "litellm (azure/gpt)"


def test_what_another_provider_serves_has_other_prices(tmp_path: Path) -> None:
    own = ProjectModel("hosted_vllm/gpt-awq", base="azure/gpt", context_window=32_000)
    facts = _facts(tmp_path, BASES, own, model=own.name)
    assert (facts.provider, facts.sources["provider"]) == ("hosted_vllm", "name")
    assert (facts.context_window, facts.output_limit, facts.tool_calling) == (32_000, 9_000, True)
    assert (facts.prices, facts.caching) == (None, None)


def test_the_provider_may_be_said(tmp_path: Path) -> None:
    own = ProjectModel("mine", base="azure/gpt", provider="openai")
    assert _facts(tmp_path, BASES, own, model="mine").prices is None


def test_what_the_table_says_of_the_model_goes_before_its_base(tmp_path: Path) -> None:
    facts = _facts(tmp_path, BASES, ProjectModel("small", base="azure/gpt"), model="small")
    assert (facts.context_window, facts.output_limit) == (8, 9_000)


def test_a_base_may_have_one_itself(tmp_path: Path) -> None:
    chain = (ProjectModel("a", base="b"), ProjectModel("b", base="azure/gpt", context_window=7))
    facts = _facts(tmp_path, BASES, *chain, model="a")
    assert (facts.context_window, facts.sources["context_window"]) == (7, "toolbelt.yaml (b)")
    assert (facts.output_limit, facts.prices) == (9_000, ModelPrices(1.1, 2.0))


def test_a_cycle_ends(tmp_path: Path) -> None:
    chain = (ProjectModel("a", base="b"), ProjectModel("b", base="a", context_window=7))
    assert _facts(tmp_path, {}, *chain, model="a").context_window == 7


def test_an_unknown_base_says_nothing(tmp_path: Path) -> None:
    facts = _facts(tmp_path, BASES, ProjectModel("a", base="nobody"), model="a")
    assert (facts.known_as, facts.context_window) == (None, None)


@pytest.mark.parametrize("model", ["nobody/knows-this", "", "gpt-4o-but-not-quite", "sample_spec", "mycloud/gpt-4o"])
def test_of_an_unknown_model_nothing_is_known(model: str) -> None:
    table = ModelTable()
    assert not is_known(model, table)
    facts = find_facts(model, table)
    assert facts == ModelFacts(model, output_reserve=4096, sources={"output_reserve": "default"})


def test_a_model_that_is_newer_than_the_table_has_a_provider_all_the_same() -> None:
    facts = find_facts("hosted_vllm/whatever", ModelTable())
    assert (facts.provider, facts.sources["provider"], facts.context_window) == ("hosted_vllm", "name", None)


def test_our_own_model_calls_tools_and_is_free() -> None:
    facts = find_facts("local/bm25", ModelTable())
    assert (facts.tool_calling, facts.context_window, facts.prices) == (True, None, ModelPrices(0, 0))
    assert (
        find_facts("local/bm25", ModelTable(own=[ProjectModel("local/bm25", tool_calling=False)])).tool_calling is False
    )


@pytest.mark.parametrize(
    ("mode", "calls"),
    [
        pytest.param("embedding", False, id="an-embedding-calls-no-tools"),
        pytest.param("audio_transcription", False, id="nor-does-a-transcription"),
        pytest.param("chat", None, id="of-a-chat-model-it-is-unknown"),
        pytest.param("realtime", None, id="of-live-talk-too-where-most-models-do"),
        pytest.param("image_generation", None, id="and-of-pictures-where-some-do"),
    ],
)
def test_what_holds_no_conversation_calls_no_tools(mode: str, calls: bool | None, tmp_path: Path) -> None:
    facts = _facts(tmp_path, {"m": {"mode": mode, "max_input_tokens": 9000}})
    assert facts.tool_calling is calls
    assert facts.sources.get("tool_calling") == (None if calls is None else "litellm")
    told = _facts(tmp_path, {"m": {"mode": mode}}, ProjectModel("m", tool_calling=True))
    assert (told.tool_calling, told.sources["tool_calling"]) == (True, "toolbelt.yaml")  # the project knows better


def test_models_that_do_not_talk_are_not_listed() -> None:
    listed = set(list_models(ModelTable()))
    assert {"gpt-4o", "o3-pro"} < listed
    assert not listed & {"text-embedding-3-small", "whisper-1", "fireworks-ai-default", "sample_spec"}
    assert len(listed) > 2000


@pytest.mark.parametrize(
    "spoilt",
    [
        [],
        {},
        [1, 1, 1, True, True, True, True, None],
        ["chat", -1, 1, None, None, None, None, None],
        ["chat", 1, 1, "yes", None, None, None, None],
        ["chat", 1, 1, None, None, None, None, [None, 1, 1, 1]],
    ],
)
def test_a_spoilt_extract_is_made_anew(spoilt: object, tmp_path: Path) -> None:
    source, cache_folder = tmp_path / "table.json", tmp_path / "cache"
    source.write_text(json.dumps({"m": {**CALLS, **PRICED}}))
    first = find_facts("m", ModelTable(cache_folder, source))
    extract = cache_folder / "model-facts.json"
    kept: dict[str, Any] = json.loads(extract.read_text())
    for text in ("", "{}", "\x00", write_extract(kept["of"], {"m": spoilt})):
        extract.write_text(text)
        assert find_facts("m", ModelTable(cache_folder, source)) == first
        assert json.loads(extract.read_text()) == kept


def test_the_rules_of_providers_are_loaded_where_a_model_is_asked_about(tmp_path: Path) -> None:
    for arguments, loaded in ((("list",), False), (("show", "minimal"), False), (("inspect", "minimal"), True)):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "toolbelt", "loadout", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ("toolbelt.models.provider_rules" in done.stderr) is loaded
