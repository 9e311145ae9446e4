"""A prompt as people give it: a text, or a file of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolbelt.errors import NotFoundError
from toolbelt.stores.prompts import read_prompt


@pytest.mark.parametrize(
    "text",
    ["", "Hi.", "You help.", "Answer in JSON: {}", "Read the file a.md first", "x" * 5000, "a\nb/c.md"],
    ids=["nothing", "a-word", "words", "marks", "a-file-in-words", "too-long-for-a-path", "lines"],
)
def test_a_text_is_the_prompt(text: str, tmp_path: Path) -> None:
    assert read_prompt(text, tmp_path) == text


@pytest.mark.parametrize("name", ["agent.md", "prompts/agent", "in words"])
def test_a_file_is_read_without_the_ends_of_its_last_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("Be short.\n\nAlways.\n")
    assert read_prompt(name, tmp_path) == read_prompt(str(tmp_path / name)) == "Be short.\n\nAlways."


@pytest.mark.parametrize("name", ["agnt.md", "./agent", "prompts\\agent", "agent.prompt"])
def test_a_file_that_is_not_there_is_no_prompt(name: str, tmp_path: Path) -> None:
    (tmp_path / "agent.md").write_text("Be short.")
    with pytest.raises(NotFoundError):
        read_prompt(name, tmp_path)
