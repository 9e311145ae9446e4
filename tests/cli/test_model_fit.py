"""`toolbelt model fit`, and the verdicts of `loadout inspect --model` by the same function."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import each_mentions, mentions
from toolbelt.models.json_patches import restore_definition
from toolbelt.models.wire_form import WireMap

OWN = """\
catalog: small.yaml
models:
  - gpt-4o
  - {name: tiny, context_window: 150, output_reserve: 40, tool_calling: true}
  - {name: mute, context_window: 9000, tool_calling: false}
  - {name: few, context_window: 9000, max_tools: 3, tool_calling: true}
"""


@pytest.fixture
def own(small: Path) -> Path:
    """The small catalog, with models of the project's own."""
    (small / "toolbelt.yaml").write_text(OWN)
    return small


def test_every_toolset_against_every_model(toolbelt: Toolbelt, own: Path) -> None:
    ran = toolbelt("model", "fit", "--json")
    assert ran.code == 0
    data = ran.json
    assert data["catalog"] == "small"
    assert [one["toolset"] for one in data["toolsets"]][:1] == ["the whole catalog"]
    assert data["toolsets"][0] == {"toolset": "the whole catalog", "loadout": None, "tools": 6}
    assert [one["model"] for one in data["models"]] == ["gpt-4o", "tiny", "mute", "few"]
    assert len(data["fits"]) == len(data["toolsets"]) * len(data["models"])
    whole = {one["model"]: one for one in data["fits"] if one["toolset"] == "the whole catalog"}
    assert {name: one["verdict"] for name, one in whole.items()} == {
        "gpt-4o": "fits",
        "tiny": "refuses",
        "mute": "unsupported",
        "few": "refuses",
    }
    assert each_mentions(whole["few"]["reasons"], ("3 tools", 6, 3))
    assert whole["tiny"]["largest"] == "definitions"
    assert whole["tiny"]["by_plugin"][0]["tokens"] >= whole["tiny"]["by_plugin"][1]["tokens"]
    violation = next(one for one in data["violations"] if one["tool"] == "docker/run.container")
    assert (violation["api"], violation["rule"]) == ("OpenAI's chat API", "tool-name")
    assert (violation["mend"], violation["mended"]) == ("sent as 'run_container'", True)
    assert all(source["url"].startswith("https://") and source["read"] for source in violation["sources"])


def test_inspect_gives_the_same_verdict_with_reasons(toolbelt: Toolbelt, own: Path) -> None:
    fits = toolbelt("model", "fit", "--loadout", "minimal", "--json").json["fits"]
    inspected = toolbelt("loadout", "inspect", "minimal", "--json").json["models"]
    assert [{key: value for key, value in fit.items() if key != "toolset"} for fit in fits] == inspected
    assert {"model", "context_window", "fraction", "verdict", "reasons"} <= set(inspected[0])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["-m", "tiny"], 0, id="looking-is-no-failure"),
        pytest.param(["-m", "gpt-4o", "--check"], 0, id="what-fits-passes"),
        pytest.param(["-m", "gpt-4o", "-m", "tiny", "--check"], 1, id="one-that-does-not-fit-fails"),
        pytest.param(["-m", "mute", "--check"], 1, id="nor-does-one-that-calls-no-tools"),
        pytest.param(["-m", "nobody/knows", "--check"], 3, id="unknown-is-no-pass"),
        pytest.param(["-m", "nobody/knows", "-m", "tiny", "--check"], 1, id="what-is-sure-goes-first"),
        pytest.param(["-m", "nobody/knows"], 0, id="unknown-may-be-looked-at"),
        pytest.param(["-m", "bedrock/amazon.nova-pro-v1:0", "--check"], 0, id="broken-rules-are-told"),
        pytest.param(["-l", "no_such", "-m", "gpt-4o"], 2, id="no-such-loadout"),
        pytest.param(["-l", "auto", "-m", "gpt-4o"], 2, id="auto-is-for-inspect"),
        pytest.param(["--fix", "x.json"], 2, id="fix-is-for-one-model"),
    ],
)
def test_E9_exit_codes(toolbelt: Toolbelt, own: Path, arguments: list[str], code: int) -> None:
    ran = toolbelt("model", "fit", *arguments)
    assert ran.code == code, ran.err


@pytest.mark.parametrize("reference", ["#/$defs/nowhere", "https://example.com/place.json"])
def test_E9_strict_fails_where_some_models_refuse_a_tool(toolbelt: Toolbelt, own: Path, reference: str) -> None:
    parameters = {"type": "object", "properties": {"a": {"$ref": reference}}}
    (own / "tools.json").write_text(json.dumps([{"name": "go", "description": "Goes.", "parameters": parameters}]))
    for model, code in (("gpt-4o", 1), ("claude-sonnet-4-5", 1), ("xai/grok-4.5", 0)):
        assert toolbelt("model", "fit", "-c", "tools.json", "-m", model, "--strict").code == code
        assert toolbelt("model", "fit", "-c", "tools.json", "-m", model, "--check").code == 0


def test_strict_fails_where_a_tool_is_sure_to_be_refused(toolbelt: Toolbelt, own: Path) -> None:
    tools = [
        {
            "name": "list",
            "description": "Lists.",
            "parameters": {"type": "object", "properties": {"a": {"type": "array"}}},
        }
    ]
    (own / "tools.json").write_text(json.dumps(tools))
    arguments = ("model", "fit", "-c", "tools.json", "-m", "gpt-4o")
    assert toolbelt(*arguments, "--check").code == 0
    assert toolbelt(*arguments, "--strict").code == 1
    assert toolbelt(*arguments, "-m", "xai/grok-4.5", "--strict").code == 1
    assert toolbelt("model", "fit", "-c", "tools.json", "-m", "xai/grok-4.5", "--strict").code == 0


def test_a_legend_and_reasons_on_a_narrow_screen(
    toolbelt: Toolbelt, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns in ("80", "118"):
        monkeypatch.setenv("COLUMNS", columns)
        ran = toolbelt("model", "fit")
        assert max(map(len, ran.out.split("\n"))) <= int(columns)
        assert "largest that fits" in " ".join(ran.out.split())
        assert mentions(" ".join(ran.out.split()), "few", "refuses", "3 tools")


def test_the_fixed_form_is_written_with_the_way_back(toolbelt: Toolbelt, own: Path) -> None:
    (own / "toolbelt.yaml").write_text("catalog: small.yaml\nloadouts: {all: {plugins: [git, docker]}}\n")
    model = "gemini/gemini-2.5-flash"
    ran = toolbelt("model", "fit", "-l", "all", "-m", model, "--fix", "wire.json", "--json")
    assert (ran.code, ran.json["tools"], ran.json["output"]) == (0, 4, "wire.json")
    written = json.loads((own / "wire.json").read_text())
    assert (written["model"], written["loadout"], written["api"]) == (model, "all", "the Gemini API")
    back = WireMap(**written["map"])
    names = [tool["function"]["name"] for tool in written["tools"]]
    assert names == ["git__status", "push", "run_container", "docker__status"]
    assert {back.find_tool(name) for name in names} == {
        "git/status",
        "git/push",
        "docker/run.container",
        "docker/status",
    }
    assert {row["place"] for row in written["changes"]} == {"name"}
    again = toolbelt("model", "fit", "-l", "all", "-m", model, "-o", "wire.json")
    assert (again.code, "use --force" in again.err) == (2, True)
    assert toolbelt("model", "fit", "-l", "all", "-m", model, "-o", "wire.json", "--force").code == 0


def test_without_a_loadout_the_whole_catalog_is_fixed(toolbelt: Toolbelt, own: Path) -> None:
    ran = toolbelt("model", "fit", "-m", "gpt-4o", "--fix", "wire.json", "--format", "anthropic")
    assert ran.code == 0
    written = json.loads((own / "wire.json").read_text())
    assert (written["loadout"], len(written["tools"])) == (None, 6)
    assert "input_schema" in written["tools"][0]


def test_what_no_form_mends_is_said(toolbelt: Toolbelt, own: Path) -> None:
    ran = toolbelt("model", "fit", "-l", "minimal", "-m", "mute", "--fix", "wire.json")
    assert ran.code == 0
    assert "does not call tools" in ran.err
    assert mentions(ran.err, "API", "mute")
    again = ("model", "fit", "-l", "minimal", "-m", "mute", "--fix", "wire.json", "--force")
    assert toolbelt(*again, "--check").code == 1


def test_a_loadout_that_matches_nothing_is_a_warning(toolbelt: Toolbelt, own: Path) -> None:
    (own / "toolbelt.yaml").write_text("catalog: small.yaml\nloadouts: {bare: {description: Nothing.}}\n")
    ran = toolbelt("model", "fit", "-l", "bare", "-m", "gpt-4o", "--json")
    assert (ran.code, ran.json["toolsets"][0]["tools"], ran.json["models"][0]["largest_fitting"]) == (0, 0, None)
    assert mentions(ran.err, "bare", "small")


def test_an_8k_window_refuses_the_large_catalog_before_anything_is_sent(toolbelt: Toolbelt, project: Path) -> None:
    data = toolbelt("model", "fit", "-c", "tiered", "-m", "ollama/llama3", "--json").json
    whole = data["fits"][0]
    assert (whole["toolset"], whole["context_window"], whole["verdict"]) == ("the whole catalog", 8_192, "refuses")
    assert mentions(whole["reasons"][0], "8,192")


def test_a_dash_writes_to_standard_output_and_nothing_else(toolbelt: Toolbelt, own: Path) -> None:
    arguments = ("model", "fit", "--loadout", "minimal", "--model", "gpt-4o", "--fix")
    ran = toolbelt(*arguments, "-")
    assert ran.code == 0
    assert not (own / "-").exists()
    assert toolbelt(*arguments, "fixed.json").code == 0
    assert ran.json == json.loads((own / "fixed.json").read_text(encoding="utf-8"))
    assert toolbelt(*arguments, "-", "--json").json == ran.json


@pytest.mark.parametrize("command", [("model", "fit"), ("loadout", "inspect", "minimal")], ids=" ".join)
def test_a_model_without_a_name_is_refused(command: tuple[str, ...], toolbelt: Toolbelt, own: Path) -> None:
    ran = toolbelt(*command, "--model", " ")
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "model's name", "toolbelt model list")


def test_what_holds_no_conversation_is_unsupported(toolbelt: Toolbelt, own: Path) -> None:
    ran = toolbelt("model", "fit", "--loadout", "minimal", "--model", "text-embedding-3-small", "--check", "--json")
    assert ran.code == 1
    assert [one["verdict"] for one in ran.json["fits"]] == ["unsupported"]


def test_what_toolbelt_yaml_gives_and_does_not_fit_is_a_warning(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text(
        "models:\n- {name: ollama/mistral, toolset: 'loadout:Full'}\n- {name: gpt-6-luna, toolset: full}\n"
        "- {name: gpt-6-sol, toolset: 'loadout:developer'}\n- {name: gpt-6-astra, toolset: tiered}\n"
    )
    ran = toolbelt("model", "fit", "--json")
    assert each_mentions(
        ran.err.splitlines(),
        ("warning: toolbelt.yaml", "'ollama/mistral' 'loadout:Full'", "not fit"),
        ("warning: toolbelt.yaml", "'gpt-6-luna' 'full'", "not fit"),
    )
    assert [row["toolset"] for row in ran.json["models"]] == ["loadout:Full", "full", "loadout:developer", "tiered"]


def test_a_name_that_nobody_knows_is_told_when_fixing_too(toolbelt: Toolbelt, own: Path) -> None:
    ran = toolbelt("model", "fit", "-l", "minimal", "-m", "gpt-4o-min", "--fix", "wire.json")
    assert ran.code == 0
    assert mentions(ran.err, "gpt-4o-min", "gpt-4o-mini")


def test_the_written_file_leads_back_to_each_tools_own_definition(toolbelt: Toolbelt, own: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"x y": {"type": "string"}, "z": {"$ref": "#/properties/x y"}},
        "dependentRequired": {"x y": ["z"]},
    }
    tool = {"name": "do.it", "description": "Does it.", "parameters": schema}
    (own / "tools.json").write_text(json.dumps([tool]))
    arguments = ("model", "fit", "-c", "tools.json", "-m", "claude-sonnet-4-5", "--fix", "-", "--format", "anthropic")
    written = toolbelt(*arguments).json
    (sent,) = written["tools"]
    assert sent["input_schema"]["properties"]["z"] == {"$ref": "#/properties/x_y"}
    assert sent["input_schema"]["dependentRequired"] == {"x_y": ["z"]}
    restored = restore_definition(sent, written["originals"][sent["name"]])
    assert restored == {"name": "do.it", "description": "Does it.", "input_schema": schema}
    assert {row["place"] for row in written["changes"]} == {
        "name",
        "parameters.properties.x y",
        "parameters.properties.z.$ref",
        "parameters.dependentRequired.x y",
        "parameters.dependentRequired.x_y",
    }


def test_what_toolbelt_yaml_gives_is_marked(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text(
        "models:\n- {name: gpt-4, toolset: 'loadout:minimal'}\n- {name: gpt-4o, toolset: tiered}\n"
    )
    lines = toolbelt("model", "fit").out.splitlines()
    rows = {line.split()[0]: line for line in reversed(lines) if line.startswith(("gpt-4 ", "gpt-4o "))}
    assert (rows["gpt-4"].count("="), rows["gpt-4o"].count("=")) == (1, 0)
    assert "= what toolbelt.yaml gives it" in " ".join(lines)
    (project / "toolbelt.yaml").write_text("models:\n- gpt-4\n")
    assert "toolbelt.yaml gives" not in toolbelt("model", "fit").out
