"""An editor with the schema says what the reader says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolbelt.loadouts.reader import read_loadout_file
from toolbelt.models.project_models import MODEL_KEYS, PRICE_KEYS
from toolbelt.sessions.agent import AGENT_KEYS
from toolbelt.sources import Document
from toolbelt.stores.config_reader import CONFIG_KEYS, ConfigReader, read_loadout_definitions
from toolbelt.stores.config_schema import config_schema, format_loadout
from toolbelt.toolkits.reader import POLICY_KEYS, RULE_KEYS, TOOLKIT_KEYS

ACCEPTED: dict[str, Any] = {
    "nothing": None,
    "no-keys": {},
    "every-key": {"catalog": "x", "tokenizer": "estimate", "models": ["gpt-4o"], "loadouts": {"a": {}}},
    "keys-without-values": dict.fromkeys(CONFIG_KEYS),
    "no-models": {"models": []},
    "a-loadout-that-says-nothing": {"loadouts": {"a": None}},
    "a-loadout-without-values": {"loadouts": {"a": {"extends": None, "plugins": None, "description": None}}},
    "a-blank-description": {"loadouts": {"a": {"description": ""}}},
    "a-category-of-a-catalog": {"loadouts": {"a": {"categories": ["git", "Git", "payments"]}}},
    "an-entry-twice": {"loadouts": {"a": {"plugins": ["git", "git"]}}},
    "a-tool-and-a-pattern": {"loadouts": {"a": {"plugins": ["git/push", "git/st*"], "discoverable": ["*", "d*"]}}},
    "a-shadowed-built-in": {"loadouts": {"developer": {"extends": "minimal"}}},
    "a-name-with-auto-in-it": {"loadouts": {"automatic": {}, "my auto": {}}},
}
ACCEPTED |= {
    "no-toolkits-or-agents": {"toolkits": None, "agents": None},
    "empty-sections": {"toolkits": {}, "agents": {}},
    "a-toolkit-and-an-agent-that-say-nothing": {"toolkits": {"a": None}, "agents": {"b": None}},
    "toolkit-keys-without-values": {"toolkits": {"a": dict.fromkeys(TOOLKIT_KEYS)}},
    "agent-keys-without-values": {"agents": {"a": dict.fromkeys(AGENT_KEYS)}},
    "switches": {"agents": {"a": {"tools_config": {"shell": False, "git": True, "web": None}}}},
    "tools-with-and-without-overrides": {
        "toolkits": {"a": {"tools": ["x", {"y": None}, {"z": {}}, {"v": {"w": [1]}}]}}
    },
    "a-toolkit-with-everything": {
        "toolkits": {
            "a": {
                "label": "A",
                "description": "",
                "default_on": False,
                "tools": ["x", "y/z"],
                "policy": {"text": "T", "tools": {"x": "X"}, "unavailable": "U"},
                "directive": [{"when": "w"}, {"when": ["v", "w"], "tools": ["x"], "tool_choice": "x"}],
            }
        }
    },
    "a-policy-as-a-text": {"toolkits": {"a": {"policy": "Be brief."}}},
    "parts-without-values": {
        "toolkits": {
            "a": {
                "policy": {"text": None, "tools": None, "unavailable": None},
                "directive": [{"when": "w", "tools": None, "tool_choice": None}],
            }
        }
    },
    "an-agent-with-everything": {
        "toolkits": {"a": {"tools": ["x"]}},
        "agents": {
            "b": {
                "display_name": "B",
                "role": "",
                "model": "m",
                "tools": ["y", {"z": {"v": 1}}],
                "allowed_toolkits": ["a"],
                "initial_toolkits": ["a"],
                "rooms": ["lobby"],
            }
        },
    },
}
ACCEPTED |= {
    "a-model-with-everything": {
        "models": [
            "gpt-4o",
            {
                "name": "m",
                "base": "gpt-4o",
                "provider": "ollama",
                "context_window": 8192,
                "output_limit": 1024.0,
                "output_reserve": 1,
                "max_tools": 64,
                "tool_calling": True,
                "parallel_calls": False,
                "tool_choice": True,
                "caching": False,
                "prices": {"input": 0, "output": 1.5, "cache_read": 0.1, "cache_write": 2},
                "token_rate": {"factor": 1.31, "fixed": 480, "each": 0.5, "error": 0.04, "tokenizer": "estimate"},
                "toolset": "loadout:developer",
            },
        ]
    },
    "a-model-of-which-nothing-is-said": {"models": [{"name": "m"}]},
    "model-keys-without-values": {"models": [{**dict.fromkeys(MODEL_KEYS), "name": "m"}]},
    "cache-prices-without-values": {
        "models": [{"name": "m", "prices": {"input": 1, "output": 2, "cache_read": None, "cache_write": None}}]
    },
    "every-sort-of-toolset": {
        "models": [
            {"name": toolset, "toolset": toolset}
            for toolset in ("full", " Tiered ", "LOADOUT : auto", "loadout:in no catalog", "dynamic", "loadout:a*b: c")
        ]
    },
    "an-agent-of-the-file": {"agents": {"A": None}, "models": [{"name": "m", "toolset": "dynamic:a"}]},
    "a-name-twice-of-which-nothing-is-said": {"models": ["m", "m"]},
}
READER_ALONE_REFUSES: dict[str, Any] = {
    "an-unknown-toolkit": {"agents": {"a": {"allowed_toolkits": ["x"]}}},
    "an-initial-toolkit-that-is-not-allowed": {"toolkits": {"t": {}}, "agents": {"a": {"initial_toolkits": ["t"]}}},
    "a-tool-in-another-case": {"toolkits": {"a": {"tools": ["x", "X"]}}},
    "a-tool-with-overrides-and-without": {"toolkits": {"a": {"tools": ["x", {"x": {"y": 1}}]}}},
    "a-name-in-another-case": {"agents": {"a": None, "A": None}},
    "a-policy-for-no-member": {"toolkits": {"a": {"policy": {"tools": {"x": "X"}}}}},
    "a-rule-for-no-member": {"toolkits": {"a": {"directive": [{"when": "w", "tools": ["x"]}]}}},
    "a-choice-of-no-member": {"toolkits": {"a": {"directive": [{"when": "w", "tool_choice": "x"}]}}},
    "a-model-twice": {"models": ["m", {"name": "m"}]},
    "a-model-twice-but-for-its-case": {"models": [{"name": "m"}, {"name": "M"}]},
    "models-based-on-each-other": {"models": [{"name": "a", "base": "b"}, {"name": "b", "base": "a"}]},
    "a-model-based-on-itself": {"models": [{"name": "a", "base": "a"}]},
    "parallel-calls-without-tools": {"models": [{"name": "a", "tool_calling": False, "parallel_calls": True}]},
    "a-reserve-that-leaves-nothing": {"models": [{"name": "a", "context_window": 8, "output_reserve": 8}]},
    "a-toolset-for-what-calls-no-tools": {"models": [{"name": "a", "tool_calling": False, "toolset": "full"}]},
    "an-agent-that-is-not-there": {"agents": {"a": None}, "models": [{"name": "m", "toolset": "dynamic:b"}]},
    "a-price-without-end": {"models": [{"name": "a", "prices": {"input": float("inf"), "output": 0}}]},
    "a-price-that-is-no-number": {"models": [{"name": "a", "prices": {"input": 0, "output": float("nan")}}]},
    "a-conflict": {
        "toolkits": {"t": {"tools": ["x"]}},
        "agents": {"a": {"tools": [{"x": {"y": 1}}], "allowed_toolkits": ["t"], "initial_toolkits": ["t"]}},
    },
}
"""What is wrong between one place and another, which JSON Schema has no words for."""
REFUSED: dict[str, Any] = {
    "a-list": [],
    "a-text": "x",
    "an-unknown-key": {"catalogue": "x"},
    "a-catalog-that-is-no-text": {"catalog": 1},
    "a-blank-catalog": {"catalog": " "},
    "an-empty-catalog": {"catalog": ""},
    "a-tokenizer-that-is-no-text": {"tokenizer": True},
    "a-tokenizer-that-is-not-there": {"tokenizer": "o100k"},
    "models-as-one-text": {"models": "gpt-4"},
    "a-model-that-is-no-text": {"models": [4]},
    "a-blank-model": {"models": ["\t"]},
    "a-null-as-a-model": {"models": [None]},
    "models-as-a-mapping": {"models": {"gpt-4o": {"context_window": 1}}},
    "a-model-keyed-by-its-name": {"models": [{"gpt-4o": {"context_window": 1}}]},
    "a-model-without-a-name": {"models": [{"context_window": 1}]},
    "an-empty-model": {"models": [{}]},
    "a-model-with-null-for-a-name": {"models": [{"name": None}]},
    "a-model-with-a-blank-name": {"models": [{"name": " "}]},
    "an-unknown-key-of-a-model": {"models": [{"name": "m", "max_input_tokens": 1}]},
    "a-window-as-a-text": {"models": [{"name": "m", "context_window": "128k"}]},
    "a-window-of-nothing": {"models": [{"name": "m", "context_window": 0}]},
    "a-window-below-nothing": {"models": [{"name": "m", "context_window": -1}]},
    "half-a-token": {"models": [{"name": "m", "output_limit": 0.5}]},
    "a-window-as-a-switch": {"models": [{"name": "m", "context_window": True}]},
    "tool-calling-as-a-text": {"models": [{"name": "m", "tool_calling": "yes"}]},
    "a-blank-base": {"models": [{"name": "m", "base": ""}]},
    "prices-as-a-number": {"models": [{"name": "m", "prices": 1}]},
    "a-rate-as-a-number": {"models": [{"name": "m", "token_rate": 1.3}]},
    "a-rate-without-error": {"models": [{"name": "m", "token_rate": {"factor": 1.3}}]},
    "a-rate-of-no-tokenizer": {"models": [{"name": "m", "token_rate": {"factor": 1, "error": 0, "tokenizer": "gpt"}}]},
    "prices-without-output": {"models": [{"name": "m", "prices": {"input": 1}}]},
    "prices-with-null-for-input": {"models": [{"name": "m", "prices": {"input": None, "output": 1}}]},
    "a-price-below-nothing": {"models": [{"name": "m", "prices": {"input": -1, "output": 1}}]},
    "a-price-as-a-text": {"models": [{"name": "m", "prices": {"input": "$1", "output": 1}}]},
    "an-unknown-price": {"models": [{"name": "m", "prices": {"input": 1, "output": 1, "image": 1}}]},
    **{
        f"a-toolset-named-{name!r}": {"models": [{"name": "m", "toolset": name}]}
        for name in ("", "ful", "oracle", "oracle+9:near", "loadout", "loadout:", "loadout:*", "loadout:d*", "full:")
    },
    **{
        f"a-toolset-named-{name!r}": {"models": [{"name": "m", "toolset": name}]}
        for name in ("dynamic:", "dynamic:*", "search:*", "developer", "t\u0131ered", "full,tiered", 4, ["full"])
    },
    "loadouts-as-a-list": {"loadouts": ["a"]},
    "a-loadout-as-a-text": {"loadouts": {"a": "minimal"}},
    "a-loadout-as-a-list": {"loadouts": {"a": []}},
    "a-blank-name": {"loadouts": {" ": {}}},
    "an-empty-name": {"loadouts": {"": {}}},
    "a-loadout-named-auto": {"loadouts": {"auto": {}}},
    "a-loadout-named-AUTO": {"loadouts": {"AUTO": None}},
    "an-unknown-key-of-a-loadout": {"loadouts": {"a": {"parent": "minimal"}}},
    "a-name-inside-toolbelt.yaml": {"loadouts": {"a": {"name": "a"}}},
    "a-blank-parent": {"loadouts": {"a": {"extends": ""}}},
    "two-parents": {"loadouts": {"a": {"extends": ["minimal", "full"]}}},
    "plugins-as-one-text": {"loadouts": {"a": {"plugins": "git"}}},
    "a-blank-plugin": {"loadouts": {"a": {"plugins": [""]}}},
    "a-number-as-a-pattern": {"loadouts": {"a": {"discoverable": [1]}}},
    "a-mapping-as-a-category": {"loadouts": {"a": {"categories": [{"git": None}]}}},
    "a-blank-category": {"loadouts": {"a": {"categories": [" "]}}},
    "a-null-among-the-disabled": {"loadouts": {"a": {"disabled": [None]}}},
    "a-description-that-is-no-text": {"loadouts": {"a": {"description": 3}}},
}
REFUSED |= {
    "toolkits-as-a-list": {"toolkits": ["a"]},
    "agents-as-a-text": {"agents": "a"},
    "a-toolkit-as-a-list": {"toolkits": {"a": ["x"]}},
    "an-agent-as-a-text": {"agents": {"a": "x"}},
    "a-blank-toolkit": {"toolkits": {" ": {}}},
    "a-blank-agent": {"agents": {"": {}}},
    "a-toolkit-with-a-reserved-name": {"toolkits": {"Dynamic_Tools": {}}},
    "an-unknown-key-of-a-toolkit": {"toolkits": {"a": {"member_tools": []}}},
    "an-unknown-key-of-an-agent": {"agents": {"a": {"toolkits": []}}},
    "a-tool-as-a-number": {"toolkits": {"a": {"tools": [1]}}},
    "a-null-as-a-tool": {"agents": {"a": {"tools": [None]}}},
    "a-blank-tool": {"toolkits": {"a": {"tools": [" "]}}},
    "a-tool-with-a-reserved-name": {"agents": {"a": {"tools": ["LOAD_TOOLS"]}}},
    "a-reserved-name-with-overrides": {"toolkits": {"a": {"tools": [{"unload_tools": {}}]}}},
    "two-tools-in-an-entry": {"toolkits": {"a": {"tools": [{"x": {}, "y": {}}]}}},
    "no-tool-in-an-entry": {"toolkits": {"a": {"tools": [{}]}}},
    "overrides-as-a-list": {"toolkits": {"a": {"tools": [{"x": []}]}}},
    "overrides-as-a-text": {"agents": {"a": {"tools": [{"x": "y"}]}}},
    "a-blank-tool-with-overrides": {"agents": {"a": {"tools": [{"": {}}]}}},
    "a-tool-twice": {"toolkits": {"a": {"tools": ["x", "x"]}}},
    "a-toolkit-twice": {"toolkits": {"t": {}}, "agents": {"a": {"allowed_toolkits": ["t", "t"]}}},
    "a-blank-label": {"toolkits": {"a": {"label": ""}}},
    "a-default-as-a-text": {"toolkits": {"a": {"default_on": "true"}}},
    "a-default-as-a-number": {"toolkits": {"a": {"default_on": 1}}},
    "a-blank-policy": {"toolkits": {"a": {"policy": " "}}},
    "a-policy-as-a-list": {"toolkits": {"a": {"policy": ["x"]}}},
    "an-unknown-key-of-a-policy": {"toolkits": {"a": {"policy": {"texts": "x"}}}},
    "a-line-as-a-number": {"toolkits": {"a": {"tools": ["x"], "policy": {"tools": {"x": 1}}}}},
    "a-line-as-a-null": {"toolkits": {"a": {"tools": ["x"], "policy": {"tools": {"x": None}}}}},
    "a-directive-as-a-mapping": {"toolkits": {"a": {"directive": {"when": "w"}}}},
    "a-rule-as-a-text": {"toolkits": {"a": {"directive": ["w"]}}},
    "a-rule-as-a-null": {"toolkits": {"a": {"directive": [None]}}},
    "a-rule-without-words": {"toolkits": {"a": {"directive": [{"tools": []}]}}},
    "a-rule-with-null-for-words": {"toolkits": {"a": {"directive": [{"when": None}]}}},
    "a-rule-with-no-words": {"toolkits": {"a": {"directive": [{"when": []}]}}},
    "a-rule-with-a-blank-word": {"toolkits": {"a": {"directive": [{"when": [" "]}]}}},
    "an-unknown-key-of-a-rule": {"toolkits": {"a": {"directive": [{"when": "w", "then": "x"}]}}},
    "a-blank-model-of-an-agent": {"agents": {"a": {"model": ""}}},
    "rooms-as-one-text": {"agents": {"a": {"rooms": "lobby"}}},
    "a-role-as-a-list": {"agents": {"a": {"role": []}}},
}


def _reader_accepts(data: Any, folder: Path) -> bool:
    file = folder / "toolbelt.yaml"
    file.write_text(yaml.safe_dump(data, allow_unicode=True))
    reader = ConfigReader(folder)
    reader.read_config_file(file)
    return not reader.findings


def _schema_accepts(data: Any) -> bool:
    return bool(Draft202012Validator(config_schema()).is_valid(data))


def test_the_schema_is_a_schema_and_explains_every_key() -> None:
    schema = config_schema()
    Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == set(CONFIG_KEYS)
    parts = [schema, *schema["$defs"].values()]
    described = [described for part in parts for described in part["properties"].values()]
    assert list(schema["$defs"]) == ["model", "loadout", "toolkit", "agent", "search", "server"]
    assert all(entry["description"].endswith(".") for entry in described)


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_L10_reader_and_schema_accept(data: Any, tmp_path: Path) -> None:
    assert (_reader_accepts(data, tmp_path), _schema_accepts(data)) == (True, True)


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_L10_reader_and_schema_refuse(data: Any, tmp_path: Path) -> None:
    assert (_reader_accepts(data, tmp_path), _schema_accepts(data)) == (False, False)


@pytest.mark.parametrize("data", READER_ALONE_REFUSES.values(), ids=READER_ALONE_REFUSES)
def test_D1_what_is_wrong_between_two_places_only_the_reader_refuses(data: Any, tmp_path: Path) -> None:
    assert (_reader_accepts(data, tmp_path), _schema_accepts(data)) == (False, True)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", " ", "git", "auto", "Auto", "minimal", "d*"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["", "a", "auto", "extends", "plugins", "categories", "description", "name", "loadouts"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


parts = st.recursive(
    st.none() | st.booleans() | st.sampled_from(["", "x", "X", "load_tools", "required"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["x", "X", "t", "load_tools", *TOOLKIT_KEYS, *AGENT_KEYS, *POLICY_KEYS, *RULE_KEYS]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(st.fixed_dictionaries({}, optional={"toolkits": parts, "agents": parts}))
def test_D1_what_the_reader_accepts_an_editor_does_too(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("both")
    assert _schema_accepts(data) or not _reader_accepts(data, folder)


@given(st.dictionaries(st.sampled_from(["catalog", "tokenizer", "models", "loadouts", "other"]), values, max_size=3))
def test_L10_reader_and_schema_agree_on_whatever_is_written(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("both")
    assert _reader_accepts(data, folder) == _schema_accepts(data)


toolsets = st.sampled_from(["full", "loadout", "dynamic", "oracle", ":", "*", " ", "\n", "x", "auto", "TIERED"])
said_of_models = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 9)
    | st.sampled_from(["", "x", "y", 0.5, 2.0])
    | st.lists(toolsets, max_size=4).map("".join),
    lambda inner: st.dictionaries(st.sampled_from(["name", *MODEL_KEYS, *PRICE_KEYS, "z"]), inner, max_size=4),
    max_leaves=6,
)


@given(st.lists(said_of_models, max_size=1))
def test_L10_what_the_reader_accepts_of_models_an_editor_does_too(
    tmp_path_factory: pytest.TempPathFactory, models: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("both")
    assert _schema_accepts({"models": models}) or not _reader_accepts({"models": models}, folder)


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"]), min_size=1).filter(
    lambda text: bool(text.strip())
)


@given(names.filter(lambda name: name.casefold() != "auto"), st.lists(names, max_size=3), st.text(max_size=30))
def test_a_formatted_loadout_reads_back_as_what_it_was(
    tmp_path_factory: pytest.TempPathFactory, name: str, plugins: list[str], description: str
) -> None:
    keys = {"description": description, "extends": name, "plugins": plugins}
    wanted, findings = read_loadout_file(Document(keys, "x"), name)
    assert wanted is not None
    assert not findings
    file = tmp_path_factory.mktemp("schema") / "a.loadout.yaml"
    file.write_text(format_loadout(name, keys), encoding="utf-8", newline="")
    assert [one.loadout for one in read_loadout_definitions(str(file))] == [wanted.loadout]
