"""The only module that imports jinja2: the page's own markup, with foreign text always escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from toolbelt.render.html import breakable
from toolbelt.text import visible, visible_lines

SCRIPTS = (
    "address.js",
    "texts.js",
    "data.js",
    "tables.js",
    "columns.js",
    "filters.js",
    "rows.js",
    "grid.js",
    "heat.js",
    "flips.js",
    "trial.js",
    "copying.js",
    "start.js",
)
"""In the order in which they stand in the page; they share one scope."""
_BLOCKS = "<!-- blocks -->"


@dataclass(frozen=True, slots=True)
class Frame:
    """A page without its blocks of data.

    Attributes:
        head: What comes before them.
        tail: What comes after them.
    """

    head: str
    tail: str


def render_frame(values: Mapping[str, Any], data: Any) -> Frame:
    """The page around its blocks.

    Every text among the values is escaped, and its invisible, turning and control characters are spelled out.

    Args:
        values: What the template shows, plain values.
        data: What the script receives, plain values for JSON.
    """
    style, script = _own("page.css"), _script()
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        loader=FunctionLoader(_own),  # not one of files: a package may be in a zip
    )
    environment.filters["lines"] = _lines
    environment.filters["breakable"] = breakable
    page = environment.get_template("page.html").render(
        values,
        policy=policy(style, script),
        style=Markup(style),  # noqa: S704  # our own
        script=Markup(script),  # noqa: S704
        data=Markup(inline_json(data)),  # noqa: S704  # cannot end its element
        blocks=Markup(_BLOCKS),  # noqa: S704
    )
    head, tail = page.split(_BLOCKS)
    return Frame(head, tail)


def page_digests() -> tuple[str, str]:
    """Of a page's style sheet and of its script, for the policy of a page that shows it in a frame."""
    return _digest(_own("page.css")), _digest(_script())


def policy(style: str, script: str) -> str:
    """The page's Content-Security-Policy: it runs its one script, uses its one style sheet, and shows embedded
    pictures.

    With `require-trusted-types-for`, the browser also refuses text inserted as HTML.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def inline_json(data: Any) -> str:
    """JSON that is safe in a `script` element: it holds neither the element's end nor the start of a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _lines(text: str) -> Markup:
    """Text whose line breaks and indents stay."""
    return escape(visible_lines(text))


def _script() -> str:
    parts = "\n".join(_own(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def _own(name: str) -> str:
    return files("toolbelt.evals.viewer").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
