"""Settings: flag over environment over toolbelt.yaml over default; keys from a .env (C: Settings)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Toolbelt
from toolbelt.command.environment import read_dotenv
from toolbelt.errors import ToolbeltError

LAYERS = ("flag", "environment", "file")


@pytest.fixture
def catalogs(project: Path) -> Path:
    for layer in LAYERS:
        (project / f"{layer}.yaml").write_text(SMALL.replace("name: small", f"name: {layer}"))
    return project


@pytest.mark.parametrize("first", range(4), ids=[*LAYERS, "default"])
def test_C_the_catalog_is_taken_from_the_first_layer_that_names_one(
    toolbelt: Toolbelt, catalogs: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    given = LAYERS[first:]
    if "environment" in given:
        monkeypatch.setenv("TOOLBELT_CATALOG", "environment.yaml")
    (catalogs / ".env").write_text("TOOLBELT_CATALOG=dotenv.yaml\n")  # which sets nothing
    if "file" in given:
        (catalogs / "toolbelt.yaml").write_text("catalog: file.yaml\n")
    flag = ["--catalog", "flag.yaml"] if "flag" in given else []
    wanted = given[0] if given else "assistant"
    (catalogs / "dotenv.yaml").write_text(SMALL.replace("name: small", "name: dotenv"))
    assert toolbelt("catalog", "stats", "--json", *flag).json["catalog"] == wanted


def test_C_the_same_order_holds_for_the_tokenizer(
    toolbelt: Toolbelt, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def used(*flags: str) -> object:
        return toolbelt("catalog", "stats", "--json", *flags).json["tokenizer"]

    assert used() == "o200k_base"
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\ntokenizer: estimate\n")
    assert used() == "estimate"
    monkeypatch.setenv("TOOLBELT_TOKENIZER", "cl100k_base")
    assert used() == "cl100k_base"
    assert used("--tokenizer", "o200k_base") == "o200k_base"


def test_C_models_of_a_flag_go_before_those_of_the_file(
    toolbelt: Toolbelt, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(*flags: str) -> list[str]:
        return [row["model"] for row in toolbelt("loadout", "inspect", "full", "--json", *flags).json["models"]]

    assert shown() == ["gpt-4o"]
    monkeypatch.setenv("TOOLBELT_MODEL", "gpt-4 gpt-5")
    assert shown() == ["gpt-4", "gpt-5"]
    assert shown("-m", "o3", "-m", "o3") == ["o3"]


def test_C_json_may_be_asked_for_in_the_environment(
    toolbelt: Toolbelt, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_JSON", "1")
    assert json.loads(toolbelt("catalog", "stats").out)["catalog"] == "small"


def test_C_a_dotenv_sets_nothing_in_a_process_of_its_own(spawn: Toolbelt, small: Path) -> None:
    (small / ".env").write_text("# settings\nexport TOOLBELT_TOKENIZER='estimate'\nOPENAI_API_KEY=secret\n")
    ran = spawn("catalog", "stats", "--json")
    assert ran.json["tokenizer"] == "o200k_base"
    assert ran.err.count("TOOLBELT_TOKENIZER") == 1
    assert "secret" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(b"OPENAI_API_KEY=\xff\n", 2, id="not-utf8"),
        pytest.param(b"OPENAI_API_KEY=a\x00b\n", 2, id="a-nul-character"),
        pytest.param(b"OTHER=a\x00b\n", 0, id="a-nul-that-is-not-ours"),
        pytest.param(b"", 0, id="empty"),
        pytest.param(b'OPENAI_API_KEY="abc\n', 2, id="a-quote-left-open"),
        pytest.param(b"not an assignment\n=x\nOPENAI_API_KEY\n", 0, id="lines-that-say-nothing"),
    ],
)
def test_a_dotenv_of_any_content(toolbelt: Toolbelt, small: Path, raw: bytes, code: int) -> None:
    (small / ".env").write_bytes(raw)
    ran = toolbelt("catalog", "stats")
    assert ran.code == code
    assert (".env" in ran.err) is (code == 2)


def test_a_folder_called_dotenv_is_passed_over(toolbelt: Toolbelt, small: Path) -> None:
    (small / ".env").mkdir()
    assert toolbelt("catalog", "stats").code == 0


def test_what_servers_ask_a_person_for_is_taken_and_none_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TOOLBELT_INPUT_A=1\nTOOLBELT_INPUT_B=2\nOTHER=3\nTOOLBELT_CLIENT_SECRET=4\n")
    environment = {"TOOLBELT_INPUT_A": "kept"}
    assert read_dotenv(environment, str(tmp_path)) == ()
    assert environment == {"TOOLBELT_INPUT_A": "kept", "TOOLBELT_INPUT_B": "2", "TOOLBELT_CLIENT_SECRET": "4"}


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("OPENAI_API_KEY", True),
        ("ANTHROPIC_AUTH_TOKEN", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("AWS_REGION", True),
        ("HF_TOKEN", True),
        ("OPENAI_BASE_URL", False),
        ("ANTHROPIC_API_BASE", False),
        ("HTTPS_PROXY", False),
        ("PATH", False),
        ("DATABASE_URL", False),
        ("GITHUB_TOKEN", False),
    ],
)
def test_C_keys_of_providers_are_taken_from_the_dotenv_and_nothing_unrelated(
    tmp_path: Path, name: str, taken: bool
) -> None:
    (tmp_path / ".env").write_text(f"{name}=from-the-file\n")
    environment: dict[str, str] = {}
    read_dotenv(environment, str(tmp_path))
    assert environment == ({name: "from-the-file"} if taken else {})


@pytest.mark.parametrize(
    "line",
    [
        *(
            f"TOOLBELT_{name}=1"
            for name in (
                "YES",
                "WRITE",
                "UNDO",
                "HTTP",
                "LOG_ARGUMENTS",
                "UNLOCKED",
                "NO_TOKEN",
                "FORCE",
                "TOOLS",
                "TLS_KEY",
            )
        ),
        *(
            f"TOOLBELT_{name}=1"
            for name in (
                "CACHE_DIR",
                "STATE_DIR",
                "MARGIN",
                "ALLOW_MIXED",
                "MAX_COST",
                "MODEL",
                "CATALOG",
                "STORE",
                "TAG",
            )
        ),
        *(f"TOOLBELT_{name}=1" for name in ("HTTP_TOKEN", "TOKEN_FILE", "BEHIND_PROXY", "ALLOW_HOST", "ALLOW_ORIGIN")),
        *(
            f"{name}=http://evil.example"
            for name in ("TOOLBELT_API_BASE", "TOOLBELT_ENGINE", "AZURE_API_BASE", "DATABRICKS_API_BASE")
        ),
        *(f"{name}=http://evil.example" for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")),
        "AWS_REGION_NAME=evil.example/",
        "VERTEXAI_LOCATION=evil.example#",
        "GOOGLE_APPLICATION_CREDENTIALS=theirs.json",
    ],
)
def test_C_settings_and_addresses_are_never_taken_from_the_dotenv(tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text(f"{line}\nDEEPSEEK_API_KEY=theirs\n")
    environment: dict[str, str] = {}
    name = line.partition("=")[0]
    assert read_dotenv(environment, str(tmp_path)) == (name,)
    assert environment == {"DEEPSEEK_API_KEY": "theirs"}
    assert read_dotenv({name: "the user's own"}, str(tmp_path)) == ()


def test_C_what_is_ignored_is_noted_and_the_flag_and_the_environment_still_count(
    toolbelt: Toolbelt, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small / ".env").write_text("TOOLBELT_API_BASE=http://evil.example\n")
    ran = toolbelt("catalog", "stats", "--json")
    assert ran.code == 0
    assert ran.err.count("TOOLBELT_API_BASE") == 1
    assert "evil" not in ran.err
    monkeypatch.setenv("TOOLBELT_API_BASE", "http://127.0.0.1:1")
    assert "TOOLBELT_API_BASE" not in toolbelt("catalog", "stats", "--json").err


@pytest.mark.cold
def test_C_litellm_reads_no_dotenv_at_all(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://evil.example\n")
    code = (
        "import os, sys; sys.ps1 = ''\n"  # as in a notebook, where it looks in the working directory
        "from toolbelt.providers.litellm_loading import load_litellm; load_litellm()\n"
        "print(os.environ.get('OPENAI_BASE_URL'), os.environ.get('LITELLM_MODE'))"
    )
    unset = ("OPENAI_BASE_URL", "LITELLM_MODE")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "None None\n"


def test_C_a_key_of_the_environment_wins_over_the_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=file\n")
    environment = {"OPENAI_API_KEY": "environment"}
    read_dotenv(environment, str(tmp_path))
    assert environment == {"OPENAI_API_KEY": "environment"}


def test_C_a_key_with_an_open_quote_is_a_mistake_and_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text('A=1\nexport OPENAI_API_KEY="sk-secret\n')
    with pytest.raises(ToolbeltError, match=r"\.env:2") as caught:
        read_dotenv({}, str(tmp_path))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("line", ["TOOLBELT_MODEL=openai/${OPENAI_API_KEY}", "DEEPSEEK_API_KEY=${OPENAI_API_KEY}"])
def test_C_the_dotenv_passes_on_no_key_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    environment = {"OPENAI_API_KEY": "a-key"}
    via = line.replace("OPENAI_API_KEY}", "VIA}")
    for text in (line, f"VIA=${{OPENAI_API_KEY}}\n{via}", "MINE=mine\nMISTRAL_API_KEY=${MINE}"):
        (tmp_path / ".env").write_text(text)
        ignored = read_dotenv(environment, str(tmp_path))
        assert ignored == (() if "MINE" in text else (line.partition("=")[0],))
    assert environment == {"OPENAI_API_KEY": "a-key", "MISTRAL_API_KEY": "mine"}
