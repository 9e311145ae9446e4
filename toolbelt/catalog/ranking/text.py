"""The words that tools are found by: the words of a text, of a name, of a tool's fields."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any


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
"""English words that say little or nothing about what is wanted."""
FUNCTION_WORDS = STOP_WORDS & _set(
    "a an and are as at be but by for from if in into is it its me my of on or our so that the their them then there "
    "these they this to us was we were will with you your i"
)
"""Those that never say anything. The others name what some tools do: `get`, `use`, `before`."""

_CJK = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|(?:[^\W_{_CJK}])+")
_ASCII_RUN = re.compile(r"[0-9A-Za-z]+")  # twice as fast
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_COMPOUND = re.compile(r"[^\W_]+(?:[_./:-]+[^\W_]+)*")
_SEPARATOR = re.compile(r"[\W_]+")
_SCOPE = re.compile(r"[./:]+|__+")
_VOWEL = re.compile(r"[aeiouy]")


def split_words(text: str) -> list[str]:
    """The words of a text in lower case, as they are written otherwise, repeats kept, without `FUNCTION_WORDS`.

    Of a compound such as `getUser`, the whole comes first and then its parts. Accents are dropped. Chinese, Japanese
    and Korean, which set no blanks between words or glue endings to them, are cut into overlapping pairs of characters.
    """
    words: list[str] = []
    for run in _ASCII_RUN.findall(text) if text.isascii() else _RUN.findall(_normalize(text)):
        words += _split_run(run)
    return words


@lru_cache(maxsize=50_000)
def _split_run(run: str) -> tuple[str, ...]:
    if run[0] >= "\u3040" and _is_cjk(run):
        return tuple(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
    word = run.casefold()
    if word in FUNCTION_WORDS:
        return ()
    parts = _CAMEL_CASE.split(run)
    if len(parts) == 1:
        return (word,)
    return (word, *(part for each in parts if (part := each.casefold()) not in FUNCTION_WORDS))


def find_stems(words: Iterable[str]) -> list[str]:
    """The stems of words as `split_words` gives them, without stop words."""
    return [stem_word(word) for word in words if word not in STOP_WORDS]


def split_as_written(text: str) -> Iterator[tuple[str, list[str]]]:
    """The words of a text as they are written there, each with what `split_words` makes of it."""
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        words = split_words(run)
        if _is_cjk(run):
            yield from ((word, [word]) for word in words)
        elif words:
            yield run, words


def find_names(text: str) -> list[str]:
    """What a text writes as one word of several, such as `get_user` and `users/get`, as `join_name` gives it.

    Of `github.get_user` and `mcp__github__get_user`, what follows the last separator is named, too.
    """
    names: list[str] = []
    for compound in _COMPOUND.findall(_normalize(text)):
        names += _find_names_in(compound)
    return names


@lru_cache(maxsize=20_000)
def _find_names_in(compound: str) -> tuple[str, ...]:
    parts = dict.fromkeys((compound, _SCOPE.split(compound)[-1]))
    return tuple(join_name(part) for part in parts if not part.isalnum() or _CAMEL_CASE.search(part))


def join_name(name: str) -> str:
    """A name in lower case, the same however its words are set apart."""
    return _SEPARATOR.sub("", _normalize(name)).casefold()


def split_name(name: str) -> str:
    """`getHTTPStatus_code` as `get HTTP Status code`."""
    return _CAMEL_CASE.sub(" ", name).replace("_", " ").replace("-", " ")


def read_argument_names(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Names of the arguments, whatever the state of the schema."""
    properties = parameters.get("properties")
    return map(str, properties) if isinstance(properties, Mapping) else iter(())


def read_argument_descriptions(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Descriptions of the arguments that have one."""
    properties = parameters.get("properties")
    for schema in properties.values() if isinstance(properties, Mapping) else ():
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            yield schema["description"]


def _normalize(text: str) -> str:
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
    return unicodedata.normalize("NFKC", plain)


def _is_cjk(run: str) -> bool:
    return re.fullmatch(f"[{_CJK}]+", run) is not None


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """A word of `split_words` without what most often follows its stem: all its forms come out alike, word or not."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    if word.endswith(_ANY_PLURAL):
        word = _replaced(word, _PLURALS)
    stem = _replaced(word, _ENDINGS) if word.endswith(_ANY_ENDING) else word
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
_ANY_PLURAL = tuple(ending for ending, _ in _PLURALS)
_ANY_ENDING = tuple(ending for ending, _ in _ENDINGS)


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """With the first ending that it has replaced, if enough is left and that has a vowel."""
    for ending, instead in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if len(rest + instead) >= _SHORTEST and _VOWEL.search(rest) else word
    return word
