"""What axe-core finds in a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_GRAVE = ("serious", "critical")


def grave_problems(page: Page) -> list[tuple[str, str, list[str]]]:
    """Serious and critical ones: rule, what it asks for, and where it is broken."""
    found = Axe().run(page).response["violations"]
    return [
        (one["id"], one["help"], [" ".join(map(str, node["target"])) for node in one["nodes"][:5]])
        for one in found
        if one["impact"] in _GRAVE
    ]
