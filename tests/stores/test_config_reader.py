"""Reading strictly: what is refused, where, and with which advice (rule L10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wording import mentions
from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.stores.config_reader import ConfigReader, read_loadout_definitions

BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
)


def _config(folder: Path, text: str | bytes) -> ConfigReader:
    file = folder / "toolbelt.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    reader = ConfigReader(folder)
    reader.read_config_file(file)
    return reader


@pytest.mark.parametrize(
    ("text", "rule", "line", "named"),
    [
        pytest.param("- a", "wrong-type", 1, "a mapping", id="a-list-is-no-config"),
        pytest.param("just text", "wrong-type", 1, "a mapping", id="a-text-is-no-config"),
        pytest.param("\nloadout: {}", "unknown-key", 2, "Did you mean 'loadouts'?", id="unknown-key-names-the-nearest"),
        pytest.param("catalog: [x]", "wrong-type", 1, "`catalog` must be text", id="catalog-is-text"),
        pytest.param("catalog: ' '", "wrong-type", 1, "`catalog` must be text", id="catalog-is-not-blank"),
        pytest.param("tokenizer: o200k", "unknown-tokenizer", 1, "Did you mean 'o200k_base'", id="tokenizer-is-known"),
        pytest.param("tokenizer: 7", "wrong-type", 1, "`tokenizer` must be text", id="tokenizer-is-text"),
        pytest.param("models: gpt-4", "wrong-type", 1, "a list of names", id="models-are-a-list"),
        pytest.param("models:\n- a\n- 7", "wrong-type", 3, "`models[1]`", id="models-are-texts"),
        pytest.param("models: ['']", "wrong-type", 1, "`models[0]` must be", id="models-are-not-blank"),
        pytest.param("loadouts: [a]", "wrong-type", 1, ("mapping", "loadouts"), id="loadouts-are-a-mapping"),
        pytest.param("loadouts:\n  ' ': {}", "blank-name", 2, "not blank", id="a-blank-name"),
        pytest.param("loadouts:\n  Auto: {}", "reserved-name", 2, "another name", id="auto-is-reserved"),
        pytest.param("loadouts:\n  a: minimal", "wrong-type", 2, "must be a mapping", id="a-loadout-is-a-mapping"),
        pytest.param(
            "loadouts:\n  a:\n    included_categories: [git]",
            "unknown-key",
            3,
            "It is written 'categories' here",
            id="the-words-of-the-python-api-are-known",
        ),
        pytest.param("loadouts:\n  a:\n    plugins: git", "wrong-type", 3, "must be a list", id="one-name-is-no-list"),
        pytest.param("loadouts:\n  a:\n    plugins:\n    - git\n    - False", "wrong-type", 5, "quotes", id="false"),
        pytest.param("loadouts:\n  a:\n    extends: ''", "wrong-type", 3, "must be text", id="a-blank-parent"),
        pytest.param("loadouts:\n  a: {}\n  a: {}", "duplicate-key", 3, "stands here twice", id="a-name-twice"),
        pytest.param("a: [", "syntax", None, "Not YAML", id="no-yaml"),
        pytest.param(BOMB, "alias-bomb", None, "write it out", id="a-yaml-bomb"),
        pytest.param("a: " + "[" * 5000, "too-deep", 1, "deep", id="nested-without-end"),
        pytest.param("a: !!python/object:os.system x", "tag", 1, "plain values", id="a-tag-that-runs-code"),
        pytest.param(b"catalog: \xff\n", "not-utf8", 1, "Not UTF-8", id="not-utf8"),
        pytest.param("catalog: x".encode("utf-16"), "not-utf8", 1, "UTF-16", id="utf16-is-named"),
        pytest.param(b"catalog: a\x00b", "bad-character", 1, "leave it out", id="a-nul-byte"),
    ],
)
def test_L10_what_is_refused(tmp_path: Path, text: str | bytes, rule: str, line: int | None, named: object) -> None:
    reader = _config(tmp_path, text)
    found = [finding for finding in reader.findings if finding.rule == rule]
    assert len(found) == 1, reader.findings
    assert mentions(found[0].message, named)
    assert found[0].file == "toolbelt.yaml"
    assert line is None or found[0].line == line
    with pytest.raises(InvalidFileError):
        reader.refuse()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("# nothing yet\n", id="only-a-comment"),
        pytest.param("catalog:\ntokenizer:\nmodels:\nloadouts:\n", id="keys-without-values"),
        pytest.param("loadouts:\n  a:\n", id="a-loadout-that-says-nothing"),
        pytest.param("\ufeffmodels: []", id="a-byte-order-mark"),
    ],
)
def test_what_is_read_without_complaint(tmp_path: Path, text: str) -> None:
    assert _config(tmp_path, text).findings == []


def test_everything_a_file_can_say(tmp_path: Path) -> None:
    reader = _config(
        tmp_path,
        "catalog: tiered\ntokenizer: estimate\nmodels: [gpt-4o, x/y]\n"
        "loadouts:\n  mine:\n    description: d\n    extends: minimal\n    categories: [GIT, Money]\n"
        "    plugins: [a, b/c]\n    discoverable: [d*, '*']\n    disabled: [e/f*]\n",
    )
    reader.refuse()
    assert (reader.catalog, reader.tokenizer, reader.models) == ("tiered", "estimate", ("gpt-4o", "x/y"))
    loadout = reader.loadouts[0].loadout
    assert loadout.name == "mine"
    assert loadout.description == "d"
    assert loadout.parent_loadout_name == "minimal"
    assert loadout.included_categories == {"git", "Money"}
    assert loadout.default_plugins == {"a", "b/c"}
    assert loadout.discoverable_patterns == ("d*", "*")
    assert loadout.disabled_plugins == {"e/f*"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("switches.yaml", "shell: false\ngit: true\n", id="yaml"),
        pytest.param("switches.json", '{"shell": false,\t"git": true}', id="json"),
    ],
)
def test_K8_an_agent_has_switches_in_place_or_in_a_file_beside(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    reader = _config(
        tmp_path, f"agents:\n  a: {{tools_config: {{shell: false, git: true}}}}\n  b: {{tools_config: {name}}}\n"
    )
    reader.refuse()
    assert [agent.tools_config for agent in reader.agents] == [{"shell": False, "git": True}] * 2


@pytest.mark.parametrize(
    ("switches", "text", "rule", "place"),
    [
        pytest.param("{shell: 'false'}", "", "wrong-type", "toolbelt.yaml:3", id="a-text-is-no-switch"),
        pytest.param("[shell]", "", "wrong-type", "toolbelt.yaml:3", id="a-list"),
        pytest.param("switchs.yaml", "", "unknown-file", "toolbelt.yaml:3", id="no-such-file"),
        pytest.param("switches.yaml", "a: true\nb: 7", "wrong-type", "switches.yaml:2", id="a-number-in-the-file"),
        pytest.param("switches.yaml", "- shell", "wrong-type", "switches.yaml:1", id="a-list-in-the-file"),
        pytest.param("switches.yaml", "a: [", "syntax", "switches.yaml:1", id="no-yaml-in-the-file"),
    ],
)
def test_K8_wrong_switches_of_an_agent_have_a_place(
    tmp_path: Path, switches: str, text: str, rule: str, place: str
) -> None:
    (tmp_path / "switches.yaml").write_text(text)
    reader = _config(tmp_path, f"agents:\n  a:\n    tools_config: {switches}\n")
    assert [(finding.rule, finding.place) for finding in reader.findings] == [(rule, place)]


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        pytest.param("a.loadout.yaml", "extends: full", ["a"], id="named-by-its-file"),
        pytest.param("a.loadout.yml", "name: B\nextends: full", ["B"], id="named-by-itself"),
        pytest.param("a.loadout.yaml", "loadouts: {c: {}, d: {}}", ["c", "d"], id="several-in-a-loadout-file"),
        pytest.param("old.yaml", "loadouts: {c: {}}", ["c"], id="a-config-of-any-name"),
        pytest.param("empty.yaml", "", [], id="an-empty-config"),
    ],
)
def test_the_loadouts_of_one_file(tmp_path: Path, name: str, text: str, names: list[str]) -> None:
    (tmp_path / name).write_text(text)
    assert [one.loadout.name for one in read_loadout_definitions(str(tmp_path / name))] == names


@pytest.mark.parametrize("text", ["", "- a", "text", "name: ''", "name: 7", "name: auto"])
def test_L10_a_loadout_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.loadout.yaml").write_text(text)
    with pytest.raises(InvalidFileError) as caught:
        read_loadout_definitions(str(tmp_path / "a.loadout.yaml"))
    assert [finding.line for finding in caught.value.findings] == [1]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="This is a folder"):
        read_loadout_definitions(str(tmp_path))


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "toolbelt.yaml").write_text("")
    with pytest.raises(NotFoundError, match=r"Did you mean '.*toolbelt\.yaml'"):
        read_loadout_definitions(str(tmp_path / "toolbelt.yml"))
