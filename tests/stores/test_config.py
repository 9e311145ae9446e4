"""The files of a project are found where a user expects them (rule L11)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sessions.test_agent import ASSISTANT
from tests.toolkits.test_reader import DYNAMIC
from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.stores.config import Config, examine_config, find_config, read_config


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def _names(config: Config) -> list[str]:
    return [one.loadout.name for one in config.loadouts]


def test_L11_nothing_there_is_no_configuration(tmp_path: Path) -> None:
    found = read_config(tmp_path)
    assert (found.path, found.catalog, found.tokenizer, found.models, found.loadouts) == (None, None, None, (), ())


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_L11_the_file_is_found_upward(tmp_path: Path, depth: int) -> None:
    _write(tmp_path, toolbelt__yaml="catalog: tiered")
    folder = tmp_path.joinpath(*"abcdefgh"[:depth])
    folder.mkdir(parents=True, exist_ok=True)
    assert find_config(folder) == tmp_path / "toolbelt.yaml"
    assert read_config(folder).catalog == "tiered"


def test_L11_the_nearest_file_wins(tmp_path: Path) -> None:
    _write(tmp_path, toolbelt__yaml="catalog: tiered")
    _write(tmp_path / "a", toolbelt__yml="catalog: assistant")
    assert read_config(tmp_path / "a").catalog == "assistant"
    assert read_config(tmp_path).catalog == "tiered"


def test_L11_a_folder_of_that_name_is_passed_over(tmp_path: Path) -> None:
    _write(tmp_path, toolbelt__yaml="catalog: tiered")
    (tmp_path / "a" / "toolbelt.yaml").mkdir(parents=True)
    assert read_config(tmp_path / "a").catalog == "tiered"


def test_L11_loadout_files_beside_the_file_are_read_and_others_are_not(tmp_path: Path) -> None:
    _write(
        tmp_path,
        toolbelt__yaml="loadouts: {one: {extends: minimal}}",
        two__loadout__yaml="extends: minimal",
        file__loadout__yml="name: three\nextends: minimal",
        other__yaml="extends: minimal",
    )
    _write(tmp_path / "below", four__loadout__yaml="extends: minimal")
    assert sorted(_names(read_config(tmp_path))) == ["one", "three", "two"]
    assert sorted(_names(read_config(tmp_path / "below"))) == ["one", "three", "two"]


def test_L11_loadout_files_alone_are_read_from_the_working_directory(tmp_path: Path) -> None:
    _write(tmp_path, mine__loadout__yaml="extends: minimal")
    (tmp_path / "below").mkdir()
    assert _names(read_config(tmp_path)) == ["mine"]
    assert _names(read_config(tmp_path / "below")) == []


def test_L11_a_file_named_by_hand_goes_before_the_nearest(tmp_path: Path) -> None:
    _write(tmp_path, toolbelt__yaml="catalog: tiered")
    _write(tmp_path / "else", special__yaml="models: [m]", x__loadout__yaml="extends: full")
    found = read_config(tmp_path, str(tmp_path / "else" / "special.yaml"))
    assert (found.catalog, found.models, _names(found)) == (None, ("m",), ["x"])


def test_a_file_named_by_hand_that_is_missing_names_the_nearest(tmp_path: Path) -> None:
    _write(tmp_path, toolbelt__yaml="catalog: tiered")
    with pytest.raises(NotFoundError, match=r"Did you mean '.*toolbelt\.yaml'") as caught:
        read_config(tmp_path, str(tmp_path / "toolbet.yaml"))
    assert caught.value.kind == "file"


def test_a_loadout_file_as_the_file_by_hand_is_not_read_twice(tmp_path: Path) -> None:
    _write(tmp_path, one__loadout__yaml="loadouts: {a: {extends: minimal}}")
    assert _names(read_config(tmp_path, str(tmp_path / "one.loadout.yaml"))) == ["a"]


def test_L10_mistakes_of_all_files_come_together_with_their_lines(tmp_path: Path) -> None:
    _write(
        tmp_path,
        toolbelt__yaml="catalogue: x\nmodels: gpt-4\nloadouts:\n  a:\n    extend: minimal\n  b: [x]\n",
        one__loadout__yaml="plugins: git\n",
        two__loadout__yaml="a: 1\na: 2\n",
    )
    with pytest.raises(InvalidFileError) as caught:
        read_config(tmp_path)
    assert [(finding.file, finding.line, finding.rule) for finding in caught.value.findings] == [
        ("one.loadout.yaml", 1, "wrong-type"),
        ("toolbelt.yaml", 1, "unknown-key"),
        ("toolbelt.yaml", 2, "wrong-type"),
        ("toolbelt.yaml", 5, "unknown-key"),
        ("toolbelt.yaml", 6, "wrong-type"),
        ("two.loadout.yaml", 1, "unknown-key"),
        ("two.loadout.yaml", 2, "duplicate-key"),
    ]
    messages = "\n".join(finding.message for finding in caught.value.findings)
    assert "Did you mean 'catalog'?" in messages
    assert "Did you mean 'extends'?" in messages


def test_D1_toolkits_and_agents_are_read_as_they_are_written(tmp_path: Path) -> None:
    _write(tmp_path, toolbelt__yaml=f"{DYNAMIC}{ASSISTANT}models: [m]\n")
    found = read_config(tmp_path)
    assert [(kit.key, kit.member_tools) for kit in found.toolkits] == [
        ("devops", ("docker", "aws_lambda", "github")),
        ("research", ("duckduckgo", "arxiv", "wikipedia")),
    ]
    assert [(agent.name, agent.initial_toolkits) for agent in found.agents] == [("helper", ("research",))]
    assert found.models == ("m",)


@pytest.mark.parametrize("text", ["agents: {a: {allowed_toolkits: [b]}}", "toolkits: {b: 5}"])
def test_D1_one_section_is_read_without_the_other(tmp_path: Path, text: str) -> None:
    _write(tmp_path, toolbelt__yaml=text)
    assert len(examine_config(tmp_path).findings) == 1


def test_D1_mistakes_in_both_sections_come_with_those_of_loadouts(tmp_path: Path) -> None:
    _write(
        tmp_path,
        toolbelt__yaml="agents:\n  a: {allowed_toolkits: [c]}\ntoolkits:\n  b: {tools: x}\nloadouts:\n  d: {ext: x}\n",
    )
    with pytest.raises(InvalidFileError) as caught:
        read_config(tmp_path)
    assert [(finding.line, finding.rule) for finding in caught.value.findings] == [
        (2, "unknown-toolkit"),
        (4, "wrong-type"),
        (6, "unknown-key"),
    ]


@pytest.mark.cold
@pytest.mark.parametrize(("text", "loaded"), [("models: [m]", False), ("toolkits: {}", True)])
def test_what_reads_toolkits_is_loaded_only_where_some_are_written(tmp_path: Path, text: str, loaded: bool) -> None:
    _write(tmp_path, toolbelt__yaml=text)
    code = (
        "import sys; from pathlib import Path; from toolbelt.stores.config import read_config; read_config(Path('.'));"
        "print(any(name.startswith(('toolbelt.toolkits', 'toolbelt.sessions')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.strip() == str(loaded)


@pytest.mark.parametrize("where", [".", "below/deeper"])
def test_a_catalog_is_relative_to_its_file_and_shown_from_here(tmp_path: Path, where: str) -> None:
    _write(tmp_path, toolbelt__yaml="catalog: data/tools.json")
    folder = tmp_path / where
    folder.mkdir(parents=True, exist_ok=True)
    catalog = read_config(folder).catalog
    assert catalog is not None
    assert (folder / catalog).resolve() == (tmp_path / "data" / "tools.json").resolve()


@pytest.mark.parametrize("name", ["toolbelt.yaml", "a.loadout.yaml"])
def test_L11_a_link_that_leads_nowhere_is_not_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(tmp_path / "gone")
    with pytest.raises(InvalidFileError, match="leads nowhere"):
        read_config(tmp_path)


@pytest.mark.parametrize("kind", [str, Path])
def test_L11_a_folder_or_a_file_is_given_as_text_or_path_and_searched_upward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Callable[[str], str | Path]
) -> None:
    below = tmp_path / "tb" / "below"
    below.mkdir(parents=True)
    (tmp_path / "tb" / "toolbelt.yaml").write_text("models: [gpt-4o]\n")
    (tmp_path / "tb" / "mine.loadout.yaml").write_text("extends: minimal\n")
    for folder, place in ((tmp_path, "tb"), (tmp_path, "tb/toolbelt.yaml"), (below, "."), (tmp_path / "tb", ".")):
        monkeypatch.chdir(folder)
        config = read_config(kind(place))
        assert config.models == ("gpt-4o",)
        assert [written.loadout.name for written in config.loadouts] == ["mine"]
    with pytest.raises(NotFoundError):
        read_config(kind("nowhere"))


def test_L10_what_is_no_file_hides_no_mistake_of_another(tmp_path: Path) -> None:
    (tmp_path / "a.loadout.yaml").symlink_to(tmp_path / "gone")
    (tmp_path / "b.loadout.yaml").write_text("extnds: minimal\n")
    (tmp_path / "toolbelt.yaml").write_text("tokenizr: x\n")
    assert [finding.rule for finding in examine_config(tmp_path).findings] == [
        "not-a-file",
        "unknown-key",
        "unknown-key",
    ]
