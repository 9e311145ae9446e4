from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files

import pytest
from jinja2 import UndefinedError

from tests.evals.viewer.reading import Read
from tests.evals.viewer.runs import HOSTILE, small_run
from tests.evals.viewer.writing import page_text
from toolbelt.evals.viewer.rendering import SCRIPTS, inline_json, render_frame


def test_the_policy_permits_the_one_script_and_style_by_their_content_and_nothing_else() -> None:
    read = Read.of(page_text(small_run()))
    (meta,) = [one for one in read.find("meta") if one.attributes.get("http-equiv") == "Content-Security-Policy"]
    policy = dict(part.split(" ", 1) for part in (meta.attributes["content"] or "").split("; "))
    (script,) = [one for one in read.find("script") if "type" not in one.attributes]
    (style,) = read.find("style")
    assert policy == {
        "default-src": "'none'",
        "script-src": f"'sha256-{_hash(script.text)}'",
        "style-src": f"'sha256-{_hash(style.text)}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    # It holds for what comes after it.
    first = next(one for one in read.elements if one.tag in ("script", "style", "img", "link"))
    assert read.elements.index(meta) < read.elements.index(first)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("text", HOSTILE)
def test_json_in_the_page_cannot_end_its_element_and_is_read_as_it_was(text: str) -> None:
    inline = inline_json({"a": [text]})
    assert inline.isascii()
    assert not set("<>&") & set(inline)
    assert json.loads(inline) == {"a": [text]}


def test_every_script_of_the_room_is_in_the_page() -> None:
    assert sorted(SCRIPTS) == sorted(
        one.name for one in files("toolbelt.evals.viewer").iterdir() if one.name.endswith(".js")
    )
    for name in SCRIPTS:
        text = files("toolbelt.evals.viewer").joinpath(name).read_text(encoding="utf-8")
        assert "</script" not in text
        assert "<!--" not in text


def test_a_value_that_the_template_misses_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render_frame({}, {})
