"""What a message must hold, whatever its sentence: wording itself is tested where it is made."""

from __future__ import annotations

import re


def mentions(text: str | BaseException | None, *data: object) -> bool:
    """Whether a text holds all the data, each as a whole word or number, in any order.

    Args:
        text: A text, or an error for its own; nothing is mentioned by `None`.
        data: Names, numbers, places: `2` is not in `20` or `2.5`, and `git` not in `digit`.
    """
    return text is not None and re.search(naming(*data), str(text)) is not None


def naming(*data: object) -> str:
    """The same for `pytest.raises(match=...)`: a pattern for texts that hold all the data."""
    return r"(?s)\A" + "".join(rf"(?=.*?{_whole(str(datum))})" for datum in data)


def _whole(datum: str) -> str:
    before = r"(?<!\w)(?<!\d[.,])" if datum[:1].isalnum() or datum[:1] == "_" else ""
    after = r"(?!\w|[.,]\d)" if datum[-1:].isalnum() or datum[-1:] == "_" else ""
    return before + re.escape(datum) + after
