"""The site: every page is in its navigation, and the reference pages hold what they are made from."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import toolbelt
import toolbelt.evals
from tests.cli.test_options import COMMANDS, LEAVES
from tests.documents import PAGES, ROOT

MADE = {f"reference/{name}.md" for name in ("commands", "variables", "toolbelt", "evals")}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "docs" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _pages(nav: Any) -> Iterator[str]:
    for entry in nav:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else _pages(target)


def test_every_page_is_in_the_navigation_once() -> None:
    config = tomllib.loads((ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8"))["project"]
    committed = {page.removeprefix("docs/") for page in PAGES if page.startswith("docs/")}
    assert sorted(_pages(config["nav"])) == sorted(committed | MADE)
    assert config["theme"]["font"] is False, "nothing is loaded from another host"


def test_C_every_command_and_flag_is_in_the_reference(generator: ModuleType) -> None:
    page, variables = generator.commands_page(), generator.variables_page()
    assert re.findall(r"^##+ toolbelt (.+)$", page, re.MULTILINE) == [*_in_order(COMMANDS)]
    for name, command in LEAVES.items():
        section = page.partition(f"## toolbelt {name}\n")[2].partition("\n##")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert f"{max(parameter.opts, key=len)}" in section, name
            if parameter.envvar:
                assert f"`{parameter.envvar}`" in section
                assert f"\n- `{parameter.envvar}`: " in variables


def _in_order(names: dict[str, Any]) -> list[str]:
    """Each group before its commands, where `COMMANDS` has it after them."""
    order = {name: number for number, name in enumerate(names)}

    def first(name: str) -> tuple[int, int]:
        below = [order[other] for other in names if other.startswith(f"{name} ")]
        return min([order[name], *below]), len(name.split())

    return sorted(names, key=first)


@pytest.mark.parametrize("module", [toolbelt, toolbelt.evals], ids=lambda module: module.__name__)
def test_C_every_public_name_is_in_the_reference_with_its_meaning(generator: ModuleType, module: ModuleType) -> None:
    page = generator.python_page(module)
    sections = dict(re.findall(r"^## (\w+)\n\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert list(sections) == list(module.__all__)
    assert all(len(section) > 15 for section in sections.values())
    assert not re.search(r"^(Args|Returns|Raises|Attributes):", page, re.MULTILINE)


def test_the_folder_is_complete(generator: ModuleType, tmp_path: Any) -> None:
    generator.main(tmp_path)
    pages = {str(path.relative_to(tmp_path / "pages")) for path in (tmp_path / "pages").rglob("*.md")}
    assert pages == {page.removeprefix("docs/") for page in PAGES if page.startswith("docs/")} | MADE
    assert (tmp_path / "pages" / "images" / "tradeoff.png").is_file()
    generator.main(tmp_path)  # again, over what is there
