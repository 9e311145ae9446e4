"""Characters that are not what they seem to whoever reads them: they move, hide or turn around what is shown."""

from __future__ import annotations

import re

CONTROL = "\\x00-\\x1f\\x7f-\\x9f"
"""Control characters, the escape that terminals obey among them."""
INVISIBLE = (
    "\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"
    "\\ud800-\\udfff\\U000e0000-\\U000e0fff"
)
"""Invisible ones, those that turn text around, half characters, and tags that only a model would read."""
UNSAFE = re.compile(f"[{CONTROL}{INVISIBLE}]")
"""What is never shown raw."""
