"""The words that tools are found by: the words of a text, of a name, of a tool's fields."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from toolbelt.catalog.ranking.ranker import Field
from toolbelt.catalog.tool import Tool


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = _set(
    "a about above after again all also am an and any are as at be because been before being below between both but by "
    "can cannot could did do does doing done down during each either else etc ever every few for from further get gets "
    "give given gives got had has have having he hello help helps her here hers hey hi him his how i if in into is it "
    "its itself just kindly least less let lets like ll may me might mine more most much must my myself need needs no "
    "nor not now of off ok okay on once only onto or other our ours out over own per please quite rather re really s "
    "same shall she should so some such sure t tell than thank thanks that the their theirs them then there these they "
    "this those through thus to too under until up upon us use used uses using various ve very via want wants was we "
    "were what when where whether which while who whom whose why will wish with within without would yes yet you your "
    "yours"
)
"""English words that say nothing about what is wanted."""

_CJK = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|(?:[^\W_{_CJK}])+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_VOWEL = re.compile(r"[aeiouy]")


def search_words(text: str) -> list[str]:
    """The words that a text is found by, repeats kept.

    Case, accents, English stop words, plurals and the commonest verb endings are dropped; Chinese, Japanese and
    Korean, which set no blanks between words or glue endings to them, are cut into overlapping pairs of characters.
    """
    if text.isascii():
        return [_stem(word) for word in _RUN.findall(text.lower()) if word not in STOP_WORDS]
    words: list[str] = []
    plain = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
    for run in _RUN.findall(unicodedata.normalize("NFKC", plain).casefold()):
        if run[0] >= "\u3040" and _is_cjk(run):
            words.extend(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        elif run not in STOP_WORDS:
            words.append(_stem(run))
    return words


def find_words(text: str) -> dict[str, str]:
    """The search word of each word of a text, by how it is written there; pairs of characters stand for themselves."""
    found: dict[str, str] = {}
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        words = search_words(run)
        found.update({run: words[0]} if len(words) == 1 else {word: word for word in words})
    return found


def split_name(name: str) -> str:
    """`getHTTPStatus_code` as `get HTTP Status code`."""
    return _HUMP.sub(" ", name).replace("_", " ").replace("-", " ")


def tool_text(tool: Tool) -> str:
    """What a tool is found by: its name in words, twice, its description, its parameters' names and descriptions."""
    return describe(tool.name, tool.description, tool.parameters)


def describe(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """As `tool_text`, of a tool that is known by its definition alone, whatever the state of its schema."""
    words = split_name(name)
    # A name says more than a word in passing.
    return "\n".join((words, words, description, *_argument_texts(parameters)))


def split_fields(tool: Tool) -> dict[Field, str]:
    """The text of each field of a tool."""
    return {
        Field.NAME: split_name(tool.name),
        Field.DESCRIPTION: tool.description,
        Field.ARGUMENTS: "\n".join(_argument_texts(tool.parameters)),
    }


def _argument_texts(parameters: Mapping[str, Any]) -> Iterator[str]:
    properties = parameters.get("properties")
    for key, schema in properties.items() if isinstance(properties, Mapping) else ():
        yield split_name(str(key))
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            yield schema["description"]


def _is_cjk(run: str) -> bool:
    return re.fullmatch(f"[{_CJK}]+", run) is not None


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """The word without what most often follows its stem; all its forms are to come out alike, word or not."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _replaced(word, _PLURALS)
    stem = _replaced(word, _ENDINGS)
    if stem != word and len(stem) > _SHORTEST and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        stem = stem[:-1]  # running, planned
    return stem[:-1] if stem.endswith("e") and len(stem) > _SHORTEST else stem


_SHORTEST = 3
"""Letters that are left at the least."""
_PLURALS = (
    ("news", "news"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ies", "y"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)
_ENDINGS = (
    ("ied", "y"),
    ("ying", "y"),
    ("ing", ""),
    ("ed", ""),
    ("ations", "at"),
    ("ation", "at"),
    ("ator", "at"),
    ("ction", "ct"),
    ("rtion", "rt"),
    ("etion", "et"),
    ("ersion", "ert"),
    ("ly", ""),
    ("ment", ""),
)


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """With the first ending that it has replaced, if enough is left and that has a vowel."""
    for ending, instead in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if len(rest + instead) >= _SHORTEST and _VOWEL.search(rest) else word
    return word
