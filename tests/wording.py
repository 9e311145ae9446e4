"""What a message must hold, whatever its sentence: wording itself is tested where it is made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


def mentions(text: str | BaseException | None, *data: object) -> bool:
    """Whether a text holds all the data, each as a whole word or number, in any order.

    Args:
        text: A text, or an error for its own; `None` mentions nothing.
        data: Names, numbers, places, or tuples of them: `2` is not in `20` or `2.5`, and `git` not in `digit`.
    """
    return text is not None and re.search(naming(*data), str(text)) is not None


def each_mentions(texts: Iterable[str], *data: object) -> bool:
    """Whether there are as many texts as data, and each text mentions its own, in the same order."""
    listed = list(texts)
    return len(listed) == len(data) and all(map(mentions, listed, data))


def naming(*data: object) -> str:
    """The same for `pytest.raises(match=...)`: a pattern for texts that hold all the data."""
    return r"(?s)\A" + "".join(rf"(?=.*?{_whole(str(datum))})" for datum in _flat(data))


def _flat(data: tuple[object, ...]) -> Iterator[object]:
    for datum in data:
        if isinstance(datum, tuple):
            yield from _flat(datum)
        else:
            yield datum


def _whole(datum: str) -> str:
    before = r"(?<!\w)(?<!\d[.,])" if re.match(r"\w", datum) else ""
    after = r"(?!\w|[.,]\d)" if re.search(r"\w\Z", datum) else ""
    return before + re.escape(datum) + after
