"""V9: which models are current is read from the table, and nobody keeps a list."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from toolbelt.models.facts import describe_end
from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.current_models import SHOWN_VENDORS, list_current, list_defaults
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import find_facts
from toolbelt.providers.tokenizers import find_tokenizer

HOSTS = ("azure", "bedrock", "openrouter", "vertex_ai")


def entry(price: float = 1e-6, provider: str = "openai", **more: Any) -> dict[str, Any]:
    return {
        "litellm_provider": provider,
        "mode": "chat",
        "max_input_tokens": 200_000,
        "supports_function_calling": True,
        "input_cost_per_token": price,
        "output_cost_per_token": price,
        **more,
    }


def served(name: str, price: float = 1e-6, **more: Any) -> dict[str, Any]:
    """A model of OpenAI's that other providers serve, too."""
    return {name: entry(price, **more), **{f"{host}/{name}": entry(price, host) for host in HOSTS}}


def make_table(folder: Path, entries: object, today: str = "2030-06-01", cache: Path | None = None) -> ModelTable:
    source = folder / "table.json"
    source.write_text(json.dumps(entries))
    return ModelTable(cache, source, today=date.fromisoformat(today))


def current(folder: Path, entries: object, today: str = "2030-06-01") -> tuple[str, ...]:
    return list_current(make_table(folder, entries, today)).get("openai", ())


SPRING = {**served("oak-3-small", 1e-7), **served("oak-3-large", 5e-6), **served("oak-2-large", 9e-6)}
SUMMER = {
    **SPRING,
    **served("oak-3.5-large", 4e-6, deprecation_date="2031-02-01"),
    "oak-3-large": entry(5e-6, deprecation_date="2030-08-15", successor_model="oak-3.5-large"),
}
WINTER = {
    **SUMMER,
    **served("oak-4-middle", 1e-6),
    **served("oak-4-small-preview", 5e-8),
    "oak-large-latest": {"alias_of": "oak-3.5-large"},
}


@pytest.mark.parametrize(
    ("table", "today", "names"),
    [
        pytest.param(SPRING, "2030-03-01", ("oak-3-small", "oak-3-large"), id="in-spring"),
        pytest.param(SUMMER, "2030-07-01", ("oak-3-small", "oak-3.5-large"), id="in-summer-a-successor"),
        pytest.param(SUMMER, "2030-12-01", ("oak-3-small",), id="a-table-kept-too-long-names-none-that-goes"),
        pytest.param(WINTER, "2030-10-01", ("oak-3-small", "oak-4-middle"), id="in-winter-no-dearer-old-one"),
    ],
)
def test_V9_tables_of_three_dates(table: dict[str, Any], today: str, names: tuple[str, ...], tmp_path: Path) -> None:
    assert current(tmp_path, table, today) == names


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        pytest.param({**served("elm-5"), "elm-5-2030-01-05": entry()}, ("elm-5",), id="snapshots-are-left-out"),
        pytest.param({**served("elm-4.20"), **served("elm-4.7")}, ("elm-4.7",), id="version-4.20-is-older-than-4.7"),
        pytest.param({**served("elm-9"), **served("elm-10")}, ("elm-10",), id="version-10-is-newer-than-9"),
        pytest.param(
            {**served("elm-7"), **served("elm-8"), "elm-latest": {"alias_of": "elm-7"}},
            ("elm-7",),
            id="the-tables-own-alias-says-which-is-newest",
        ),
        pytest.param({**served("elm-5"), "elm-5-law": entry(9e-6)}, ("elm-5",), id="one-provider-is-too-few"),
        pytest.param({**served("elm-5"), **served("elm-6-beta")}, ("elm-5",), id="a-beta-is-not-available"),
        pytest.param(
            {**served("elm-5"), **served("elm-6", supports_function_calling=None)}, ("elm-5",), id="it-calls-tools"
        ),
        pytest.param({**served("elm-5"), **served("elm-6", successor_model="elm-5")}, ("elm-5",), id="nor-superseded"),
        pytest.param({**served("elm-5"), **served("ash-70b")}, ("elm-5",), id="a-build-of-a-size-beside-plain-names"),
        pytest.param(served("ash-70b"), ("ash-70b",), id="a-build-of-a-size-alone"),
        pytest.param({**served("elm-5"), "elm-6": "nonsense", "elm-7": None}, ("elm-5",), id="odd-entries"),
        pytest.param({}, (), id="an-empty-table"),
    ],
)
def test_V9_the_newest_available_model_of_each_family(
    entries: dict[str, Any], names: tuple[str, ...], tmp_path: Path
) -> None:
    assert current(tmp_path, entries) == names


def test_V9_the_same_from_a_kept_extract_and_anew_from_a_broken_one(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = list_current(make_table(tmp_path, WINTER, cache=cache))
    kept = cache / "current-models.json"
    assert first == list_current(make_table(tmp_path, WINTER, cache=cache))
    kept.write_text(kept.read_text().replace("true", "7"))
    assert first == list_current(ModelTable(cache, tmp_path / "table.json", today=date(2030, 6, 1)))


@pytest.mark.parametrize("today", ["2026-11-28", "2026-12-15"])
def test_V9_what_is_listed_and_shown_of_the_installed_table_stays(today: str, shared_cache: Path) -> None:
    table = ModelTable(shared_cache, today=date.fromisoformat(today))
    listed = list_current(table)
    assert {"openai", "anthropic", "gemini", "groq"} <= set(listed)
    for name in (name for names in listed.values() for name in names):
        facts = find_facts(name, table)
        assert describe_end(facts) is None
        assert facts.tool_calling
        assert facts.context_window
        assert facts.prices
    defaults = list_defaults(table)
    assert len(defaults) == len(SHOWN_VENDORS)
    assert set(defaults) <= {name for names in listed.values() for name in names}


def test_V5_an_alias_has_every_fact_of_what_it_stands_for(tmp_path: Path) -> None:
    ends: dict[str, Any] = {"deprecation_date": "2030-06-11", "successor_model": "fir-2"}
    table = make_table(tmp_path, {"fir-1": entry(2e-6, **ends), "fir-latest": {"alias_of": "fir-1"}, "fir-2": entry()})
    facts = find_facts("openai/fir-latest", table)
    target = find_facts("fir-1", table)
    assert (facts.alias_of, facts.known_as, target.alias_of) == ("fir-1", "fir-1", None)
    for key in ("provider", "mode", "context_window", "tool_calling", "prices", "days_left", "successor"):
        assert getattr(facts, key) == getattr(target, key) is not None
        assert facts.sources[key] == "litellm"
    assert table.find_name("openai/fir-latest") == "fir-latest"
    table = make_table(tmp_path, {"gpt-4o": entry(), "fir-latest": {"alias_of": "gpt-4o"}})
    assert find_tokenizer("openai/fir-latest", table) == find_tokenizer("gpt-4o") == "o200k_base"
    assert find_facts("mine", ModelTable(source=table.source, own=[ProjectModel("mine", base="fir-latest")])).alias_of


@pytest.mark.parametrize(
    ("day", "successor", "sentence"),
    [
        pytest.param("2030-05-31", "b", "a was switched off on 2030-05-31; its successor is b.", id="gone"),
        pytest.param("2030-06-01", None, "a was switched off on 2030-06-01.", id="today"),
        pytest.param("2030-06-02", "b", "a is switched off on 2030-06-02, in 1 day; its successor is b.", id="next"),
        pytest.param("2030-08-30", "gone", "a is switched off on 2030-08-30, in 90 days; its successor is b.", id="90"),
        pytest.param("2030-08-31", "b", None, id="after-91-days"),
        pytest.param("soon", "b", None, id="no-day"),
        pytest.param(None, "b", None, id="never"),
    ],
)
def test_V9_a_warning_names_the_day_and_the_successor_that_there_still_is(
    day: str | None, successor: str | None, sentence: str | None, tmp_path: Path
) -> None:
    ends: dict[str, Any] = {"deprecation_date": day, "successor_model": successor}
    gone = entry(deprecation_date="2029-01-01", successor_model="b")
    table = make_table(tmp_path, {"a": entry(**ends), "gone": gone, "b": entry()})
    assert describe_end(find_facts("a", table)) == sentence
