"""`toolbelt loadout inspect` and `why`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Toolbelt
from tests.conftest import SHARED_DATA, needs_shared_data
from tests.wording import mentions
from toolbelt.catalog.definitions import definition_text
from toolbelt.models.token_rates import find_rate
from toolbelt.providers.tokenizers import make_counter

MINE = "description: Mine.\nextends: developer\ncategories: [money]\ndiscoverable: [file*]\ndisabled: [git/push]\n"


@pytest.fixture
def mine(small: Path) -> Path:
    (small / "mine.loadout.yaml").write_text(MINE)
    return small


def test_the_whole_picture(toolbelt: Toolbelt, mine: Path, expected: Callable[[str], str]) -> None:
    ran = toolbelt("loadout", "inspect", "mine")
    assert (ran.code, ran.out) == (0, expected("loadout_inspect.txt"))


def test_C_inspect_as_json(toolbelt: Toolbelt, mine: Path) -> None:
    data = toolbelt("loadout", "inspect", "MINE", "--json", "--model", "gpt-4o", "--model", "no/such").json
    assert {"loadout", "catalog", "lineage", "active", "discoverable", "disabled", "hidden", "tokens", "models"} <= {
        *data
    }
    assert data["catalog"] == "small"
    assert data["lineage"] == ["minimal", "developer", "mine"]
    assert [row["plugin"] for row in data["active"]] == ["git", "file", "payments"]
    assert [row["category"] for row in data["active"]] == ["git", "filesystem", "money"]
    assert [[tool["name"] for tool in row["tools"]] for row in data["active"]] == [["status"], ["read"], ["pay"]]
    assert all(row["reasons"] for row in data["active"])
    assert (data["discoverable"], data["disabled"], data["hidden"]) == (["docker"], [], [])
    tokens = data["tokens"]
    assert tokens["active"] == sum(tool["tokens"] for row in data["active"] for tool in row["tools"])
    assert tokens["active"] < tokens["full"]
    assert tokens["saved_fraction"] == pytest.approx(1 - tokens["active"] / tokens["full"])
    assert tokens["tokenizer"] == "o200k_base"
    known, unknown = data["models"]
    assert (known["model"], known["context_window"], known["verdict"]) == ("gpt-4o", 128_000, "fits")
    assert known["fraction"] == pytest.approx(known["tokens"] / 128_000)
    assert known["tokens"] < tokens["active"], "OpenAI's models are shown less than the JSON that is sent"
    assert (unknown["context_window"], unknown["fraction"], unknown["verdict"]) == (None, None, "unknown")


@pytest.mark.parametrize(
    "arguments", [("mine", "-m", "gpt-4o"), (), ("auto", "-m", "gpt-4o"), ("auto", "-m", "no/such")]
)
def test_C_the_json_of_inspect_is_as_its_schema_says(
    toolbelt: Toolbelt, mine: Path, arguments: tuple[str, ...]
) -> None:
    schema = toolbelt("loadout", "inspect", "--schema").json
    Draft202012Validator(schema).validate(toolbelt("loadout", "inspect", *arguments, "--json").json)


def test_L15_an_unknown_model_is_said_to_be_unknown(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt("loadout", "inspect", "mine", "--model", "gpt-4o-minni")
    assert ran.code == 0
    assert "unknown" in ran.out
    assert mentions(ran.err, "gpt-4o-minni", "gpt-4o-mini")


def test_L10_a_loadout_that_matches_nothing_is_a_warning(toolbelt: Toolbelt, small: Path) -> None:
    (small / "none.loadout.yaml").write_text("discoverable: [git]\n")
    ran = toolbelt("loadout", "inspect", "none", "--json")
    assert ran.code == 0
    assert ran.json["active"] == []
    assert "matches nothing of catalog 'small'" in ran.err
    text = toolbelt("loadout", "inspect", "none").out
    assert " tokens of 182  by o200k_base\n" in text
    assert "saved" not in text
    assert "gpt-4o" not in text


@pytest.mark.parametrize(
    ("model", "loadout", "outcome"),
    [
        pytest.param("gpt-4o", None, "catalog", id="a-small-catalog-goes-whole"),
        pytest.param("no/such", None, "unknown", id="an-unknown-window-is-never-guessed"),
    ],
)
def test_L15_auto(toolbelt: Toolbelt, small: Path, model: str, loadout: str | None, outcome: str) -> None:
    ran = toolbelt("loadout", "inspect", "auto", "--model", model, "--json")
    assert ran.code == 0
    data = ran.json
    assert {"loadout", "catalog", "lineage", "active", "discoverable", "disabled", "hidden", "tokens", "models"} <= {
        *data
    }
    assert (data["loadout"], data["auto"]["outcome"]) == (loadout, outcome)
    assert ("is unknown" in ran.err) is (outcome == "unknown")


def test_L15_auto_says_that_it_chose_the_whole_catalog(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("loadout", "inspect", "auto", "--model", "gpt-4o")
    assert ran.code == 0
    assert ran.out.startswith("auto chose the whole catalog  over catalog small\n")


def test_C_without_a_name_the_whole_catalog_is_inspected(toolbelt: Toolbelt, small: Path) -> None:
    data = toolbelt("loadout", "inspect", "--json").json
    assert data["loadout"] is None
    assert [row["plugin"] for row in data["active"]] == ["git", "file", "docker", "payments"]
    assert data["tokens"]["active"] == data["tokens"]["full"] > 0
    assert (data["tokens"]["saved_fraction"], data["differing_tools"]) == (0.0, [])
    assert "auto" not in data
    assert toolbelt("loadout", "inspect").out.startswith("the whole catalog  over catalog small\n")


def test_C_tools_that_fare_otherwise_than_their_plugin_are_in_the_json(toolbelt: Toolbelt, mine: Path) -> None:
    data = toolbelt("loadout", "inspect", "mine", "--json").json
    assert data["differing_tools"] == [{"id": "git/push", "plugin": "git", "status": "disabled"}]


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0"])
def test_C_claude_is_counted_in_the_format_of_its_api(toolbelt: Toolbelt, small: Path, model: str) -> None:
    claude, gpt = toolbelt("loadout", "inspect", "-m", model, "-m", "gpt-4o", "--json").json["models"]
    definitions = toolbelt("loadout", "export", "--format", "anthropic").json
    counted = sum(make_counter("o200k_base").count([definition_text(one) for one in definitions]))
    rate = find_rate(model)
    assert (claude["tokens"], claude["error"]) == (rate.estimate(counted, len(definitions)), rate.error)
    assert (claude["exact"], gpt["exact"]) == (False, True)
    auto = toolbelt("loadout", "inspect", "auto", "-m", model, "--json").json
    assert (auto["tokens"]["active"], auto["auto"]["tokens"]) == (counted, claude["tokens"])


@pytest.mark.parametrize(
    ("model", "same"),
    [
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", "anthropic.claude-3-5-sonnet-20240620-v1:0"),
        ("GPT-4o", "gpt-4o"),
        ("OpenAI/GPT-4o", "gpt-4o"),
        ("gemini/gpt-4o", None),
    ],
    ids=["a-provider-before-it", "another-case", "both", "of-another-provider"],
)
def test_L15_a_window_is_found_whatever_the_spelling(
    toolbelt: Toolbelt, small: Path, model: str, same: str | None
) -> None:
    asked = [model, same] if same else [model]
    flags = [part for name in asked for part in ("-m", name)]
    windows = [row["context_window"] for row in toolbelt("loadout", "inspect", *flags, "--json").json["models"]]
    assert len(set(windows)) == 1
    assert (windows[0] is None) is (same is None)


def test_L15_auto_steps_down_until_half_a_window_is_enough(toolbelt: Toolbelt, small: Path) -> None:
    # gpt-4 has 8,192: a catalog of one large plugin leaves `minimal`, which is of the small one.
    description = " word" * 5000
    (small / "large.yaml").write_text(
        "plugins:\n  - {name: file, tools: [{name: read}]}\n"
        f"  - {{name: git, tools: [{{name: push, description: '{description}'}}]}}\n"
    )
    ran = toolbelt("loadout", "inspect", "auto", "--model", "gpt-4", "-c", "large.yaml", "--json")
    assert ran.json["loadout"] == "minimal"
    assert len(ran.json["auto"]["reasons"]) == 4
    text = toolbelt("loadout", "inspect", "auto", "--model", "gpt-4", "-c", "large.yaml").out
    assert "auto chose minimal" in text


@pytest.mark.parametrize("models", [[], ["gpt-4", "gpt-4o"]])
def test_L15_auto_wants_one_model(toolbelt: Toolbelt, small: Path, models: list[str]) -> None:
    ran = toolbelt("loadout", "inspect", "auto", *(part for model in models for part in ("--model", model)))
    assert (ran.code, ran.out) == (2, "")
    assert "give one model" in ran.err


@pytest.mark.parametrize(("subject", "file"), [("git", "loadout_why_plugin.txt"), ("git/push", "loadout_why_tool.txt")])
def test_L8_why(toolbelt: Toolbelt, mine: Path, expected: Callable[[str], str], subject: str, file: str) -> None:
    ran = toolbelt("loadout", "why", "mine", subject)
    assert (ran.code, ran.out, ran.err) == (0, expected(file), "")


def test_L8_why_takes_a_wire_name(toolbelt: Toolbelt, mine: Path) -> None:
    assert toolbelt("loadout", "why", "mine", "git__status").out == toolbelt("loadout", "why", "mine", "git/status").out


def test_L8_why_as_json_for_what_is_absent(toolbelt: Toolbelt, mine: Path) -> None:
    data = toolbelt("loadout", "why", "minimal", "payments/pay", "--json").json
    assert (data["kind"], data["status"], data["plugin"], data["category"]) == (
        "tool",
        "discoverable",
        "payments",
        "money",
    )
    assert [reason["text"] for reason in data["reasons"]] == ["minimal makes '*' discoverable"]
    assert [step["loadout"] for step in data["chain"]] == ["minimal"]


def test_a_bare_name_of_several_tools_lists_the_candidates(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("loadout", "why", "minimal", "status")
    assert ran.code == 2
    assert mentions(ran.err, "Error", "2 tools", "status", "git/status", "docker/status")


def test_tools_are_named_or_counted(toolbelt: Toolbelt, small: Path) -> None:
    assert "\n    read\n" in toolbelt("loadout", "inspect", "minimal", "--tools").out
    assert "\n    read\n" not in toolbelt("loadout", "inspect", "minimal", "--no-tools").out


@needs_shared_data
@pytest.mark.parametrize(("name", "tools"), [("github_mcp", 117), ("livemcpbench", 527), ("seal_tools", 4076)])
def test_nothing_of_a_public_catalog_is_lost(toolbelt: Toolbelt, name: str, tools: int) -> None:
    catalog = str(SHARED_DATA / name)
    stats = toolbelt("catalog", "stats", "-c", catalog, "--json").json
    assert stats["tools"] == tools == sum(row["tools"] for row in stats["by_plugin"].values())
    assert stats["tokens"] == sum(row["tokens"] for row in stats["by_category"].values())
    assert len(stats["shared_names"]) == (13 if name == "livemcpbench" else 0)
    inspected = toolbelt("loadout", "inspect", "full", "-c", catalog, "--json").json
    assert inspected["tokens"]["full"] == stats["tokens"]
    assert toolbelt("catalog", "lint", "-c", catalog, "--json").json["findings"]


@pytest.mark.parametrize(
    ("toolset", "loadout", "outcome", "named"),
    [
        pytest.param("loadout:mine", "mine", "loadout", "toolbelt.yaml", id="a-loadout"),
        pytest.param("full", None, "catalog", "toolbelt.yaml", id="all"),
        pytest.param("tiered", None, "catalog", "tiered", id="no-loadout"),
    ],
)
def test_L15_auto_gives_what_toolbelt_yaml_does(
    toolbelt: Toolbelt, small: Path, toolset: str, loadout: str | None, outcome: str, named: object
) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: small.yaml\nloadouts: {mine: {plugins: [git]}}\n"
        f"models:\n- {{name: m, base: gpt-4o, toolset: '{toolset}'}}"
    )
    data = toolbelt("loadout", "inspect", "auto", "--model", "m", "--json").json
    assert (data["loadout"], data["auto"]["outcome"]) == (loadout, outcome)
    assert mentions(data["auto"]["reasons"][0], named)
    assert mentions(toolbelt("loadout", "inspect", "auto", "--model", "m").out, named)


def test_L15_auto_gives_nothing_that_cannot_fit(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: small.yaml\nloadouts: {mine: {plugins: [git]}}\n"
        "models:\n- {name: m, context_window: 2000, max_tools: 2, toolset: full}\n"
    )
    data = toolbelt("loadout", "inspect", "auto", "--model", "m", "--json").json
    assert data["auto"]["loadout"] == "minimal"
    assert mentions(data["auto"]["reasons"][0], "2 tools", "these are 6", 4)


@pytest.mark.parametrize(("window", "is_chosen"), [(8_192, True), (200, False)])
def test_L15_auto_says_that_what_the_project_gives_is_no_loadout_whatever_it_chooses(
    toolbelt: Toolbelt, small: Path, window: int, is_chosen: bool
) -> None:
    (small / "toolbelt.yaml").write_text(
        f"models:\n- {{name: tight, context_window: {window}, tool_calling: true, toolset: tiered}}\n"
    )
    told = "toolbelt.yaml gives this model 'tiered', which is no loadout: the ladder decides."
    ran = toolbelt("loadout", "inspect", "auto", "--model", "tight")
    assert (ran.code, f"  {told}\n" in ran.out) == (0, True), ran.out
    assert ("auto chose" in ran.out) is is_chosen
    reasons = toolbelt("loadout", "inspect", "auto", "--model", "tight", "--json").json["auto"]["reasons"]
    assert reasons[0] == told


def test_M5_tools_that_no_server_has_are_named_as_not_served(toolbelt: Toolbelt) -> None:
    ran = toolbelt("loadout", "inspect", "developer", "--serve", "--json")
    assert ran.json["served"]["tools"] == []
    assert mentions(ran.err, "not served", 201, "toolbelt catalog sync")
