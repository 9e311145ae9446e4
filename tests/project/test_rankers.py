"""Rule S1, S2: the ranker that a setting names is opened."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.servers.running import OpenAIServer, openai_server
from tests.wording import mentions
from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.spec import parse_rank
from toolbelt.catalog.ranking.words import LARGE
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.mcp.configs.approvals import Approvals
from toolbelt.project.rankers import open_ranker
from toolbelt.providers.embeddings import EmbeddingOptions
from toolbelt.reporter import Reporter
from toolbelt.servers.spec import Approvable, PythonReference
from toolbelt.stores.files import state_folder

__all__ = ["openai_server"]  # a fixture
TOOLS = (Tool("read_file", "Reads"), Tool("send_mail", "Sends"))


class Notes(Reporter):
    """What a user reads."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_S2_a_ranker_by_embedding_asks_its_model_and_reports_the_cost(
    openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(tmp_path))
    name, reporter = f"embedding:openai/embedder@{tmp_path.name}", Notes()
    options = EmbeddingOptions(openai_server.url, 10.0)
    ranker = open_ranker(parse_rank(name), embedding=options, reporter=reporter)
    assert ranker.name == name
    assert [hit.tool.name for hit in ranker.index(TOOLS).search("what sends", 1)] == ["send_mail"]
    assert [mentions(note, "2 tools", "1 request") for note in reporter.notes] == [True]


@pytest.mark.parametrize("name", ["words", "regex"])
def test_S1_a_ranker_has_the_name_that_opened_it(name: str) -> None:
    ranker = open_ranker(parse_rank(name))
    assert ranker.name == name
    assert [hit.tool.name for hit in ranker.index(TOOLS).search("mail", 5)] == ["send_mail"]


def test_S2_the_index_of_a_large_catalog_is_stored_and_a_damaged_one_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(tmp_path))
    tools = [Tool(f"tool_{number}", id=str(number)) for number in range(LARGE)]
    for damage in (None, b"", b"PK"):
        hits = open_ranker(parse_rank("words")).index(tools).search("tool 77", 1)
        assert [hit.tool.id for hit in hits] == ["77"]
        (stored,) = (tmp_path / "indexes").iterdir()
        assert stored.stat().st_size > LARGE
        if damage is not None:
            stored.write_bytes(damage)
    open_ranker(parse_rank("words")).index(tools[1:])  # not large
    assert list((tmp_path / "indexes").iterdir()) == [stored]


@pytest.fixture
def module(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    name = f"ranking_{abs(hash(request.node.name))}"
    code = "def make(tools):\n    return lambda text, k: [(tool.id, len(tool.name)) for tool in tools]\n\nNUMBER = 3\n"
    (tmp_path / f"{name}.py").write_text(code)
    return name


def test_M2_code_is_imported_only_if_it_is_approved(module: str, tmp_path: Path) -> None:
    spec = parse_rank(f"python:{module}:make")
    with pytest.raises(ToolbeltError) as refused:
        open_ranker(spec, folder=tmp_path)
    assert mentions(str(refused.value), f"{module}:make", "not approved")
    reference = PythonReference(spec.target, str(tmp_path))
    Approvals(state_folder(os.environ)).add([reference], os.environ)
    ranker = open_ranker(spec, folder=tmp_path)
    assert ranker.name == str(spec)
    assert [hit.tool.name for hit in ranker.index(TOOLS).search("x", 5)] == ["read_file", "send_mail"]


def test_M2_who_opens_a_ranker_may_ask_for_approval(module: str, tmp_path: Path) -> None:
    asked: list[Approvable] = []

    def approve(specs: Sequence[Approvable]) -> None:
        asked.extend(specs)

    config = tmp_path / "toolbelt.yaml"
    open_ranker(parse_rank(f"python:{module}:make"), folder=tmp_path, source="a", files=[config], approve=approve)
    assert asked == [PythonReference(f"{module}:make", str(tmp_path), "a", (str(config),))]


@pytest.mark.parametrize(
    ("attribute", "error"),
    [pytest.param("mak", NotFoundError, id="unknown"), pytest.param("NUMBER", ToolbeltError, id="number")],
)
def test_S2_what_is_no_function_is_refused(
    module: str, tmp_path: Path, attribute: str, error: type[ToolbeltError]
) -> None:
    with pytest.raises(error):
        open_ranker(parse_rank(f"python:{module}:{attribute}"), folder=tmp_path, approve=lambda specs: None)
