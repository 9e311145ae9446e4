"""The pages of the documentation: their blocks of code, headings and links."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
"""What a user reads."""

_BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|\bsrc(?:set)?=\"([^\"]+)\"")


@dataclass(frozen=True)
class Command:
    """A line of a console.

    Attributes:
        text: The command, without its comment.
        code: With which it exits: 0, unless the comment has "exits with N".
        shown: What the page shows of its output.
    """

    text: str
    code: int
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        language: As fenced: `console` is run, `sh` is only checked, `python` is run unless it has a title.
        title: The file that holds it; empty if none.
        text: What it holds.
    """

    language: str
    title: str
    text: str

    def commands(self) -> list[Command]:
        """The commands of toolbelt in a console."""
        found: list[Command] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                text, _, comment = line.removeprefix("$ ").partition("  #")
                code = re.search(r"exits with (\d+)", comment)
                found.append(Command(text.strip(), int(code[1]) if code else 0))
            elif line.strip() not in {"", "…"}:
                found[-1] = replace(found[-1], shown=(*found[-1].shown, line.rstrip()))
        return [command for command in found if command.text.startswith("toolbelt ")]


def read(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str = "") -> list[Block]:
    """The blocks of a page, or those of one language."""
    every = [Block(*found) for found in _BLOCK.findall(read(page))]
    return [block for block in every if language in ("", block.language)]


def titled(page: str, title: str) -> list[str]:
    """What a page shows of a file, as often as it does."""
    return [block.text for block in blocks(page) if block.title == title]


def _prose(page: str) -> str:
    return re.sub(r"`[^`\n]+`", "", _BLOCK.sub("", read(page)))


def links(page: str) -> list[str]:
    """What the links and pictures of a page lead to."""
    return [found[1] or found[2] for found in _LINK.finditer(_prose(page))]


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", read(page)), re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower())) for heading in headings}
