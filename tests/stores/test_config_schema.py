"""An editor with the schema says what the reader says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolbelt.documents import Document
from toolbelt.loadouts.written import read_loadout
from toolbelt.stores.config_reader import CONFIG_KEYS, ConfigReader, read_loadout_definitions
from toolbelt.stores.config_schema import config_schema, format_loadout

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
    described = [*schema["properties"].values(), *schema["$defs"]["loadout"]["properties"].values()]
    assert all(entry["description"].endswith(".") for entry in described)


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_L10_reader_and_schema_accept(data: Any, tmp_path: Path) -> None:
    assert (_reader_accepts(data, tmp_path), _schema_accepts(data)) == (True, True)


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_L10_reader_and_schema_refuse(data: Any, tmp_path: Path) -> None:
    assert (_reader_accepts(data, tmp_path), _schema_accepts(data)) == (False, False)


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


@given(st.dictionaries(st.sampled_from([*CONFIG_KEYS, "other"]), values, max_size=3))
def test_L10_reader_and_schema_agree_on_whatever_is_written(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("both")
    assert _reader_accepts(data, folder) == _schema_accepts(data)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: bool(text.strip()))


@given(names.filter(lambda name: name.casefold() != "auto"), st.lists(names, max_size=3), st.text(max_size=30))
def test_a_formatted_loadout_reads_back_as_what_it_was(
    tmp_path_factory: pytest.TempPathFactory, name: str, plugins: list[str], description: str
) -> None:
    keys = {"description": description, "extends": name, "plugins": plugins}
    wanted, findings = read_loadout(Document({}, "x"), name, keys, name)
    assert wanted is not None
    assert not findings
    file = tmp_path_factory.mktemp("schema") / "a.loadout.yaml"
    file.write_text(format_loadout(name, keys), encoding="utf-8", newline="")
    assert [one.loadout for one in read_loadout_definitions(str(file))] == [wanted.loadout]
