"""Whether the texts of a page can be told from what is behind them."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

# Of each piece of text that is shown: its colour, how much of it shows, and the nearest ground that is not clear.
_TEXTS = """
() => {
  const found = [];
  const all = document.querySelector("dialog[open]") ?? document.body;
  const walker = document.createTreeWalker(all, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const own = walker.currentNode.parentElement;
    if (!text || own.closest("script, style, option, noscript, :disabled") || !own.getClientRects().length) continue;
    let ground = "rgb(255, 255, 255)";
    let opacity = 1;
    for (let one = own; one; one = one.parentElement) opacity *= Number(getComputedStyle(one).opacity);
    for (let one = own; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (colour.startsWith("rgb(")) { ground = colour; break; }
    }
    found.push([text.slice(0, 40), getComputedStyle(own).color, opacity, ground]);
  }
  return found;
}
"""
_ENOUGH = 4.5


def faint_texts(page: Page) -> list[tuple[str, float]]:
    """Texts, of the dialog if one is open, whose contrast is below what WCAG 2 asks for at level AA."""
    page.wait_for_timeout(200)  # what slides in is there by then
    texts: list[Any] = page.evaluate(_TEXTS)
    assert texts
    rated = {
        (text, round(_contrast(_colour(own), opacity, _colour(ground)), 2)) for text, own, opacity, ground in texts
    }
    return sorted(one for one in rated if one[1] < _ENOUGH)


def _colour(text: str) -> list[float]:
    return [float(part) for part in text.partition("(")[2].rstrip(")").split(",")[:3]]


def _contrast(own: list[float], opacity: float, ground: list[float]) -> float:
    mixed = [one * opacity + other * (1 - opacity) for one, other in zip(own, ground, strict=True)]
    light, dark = sorted((_luminance(mixed), _luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: list[float]) -> float:
    red, green, blue = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
