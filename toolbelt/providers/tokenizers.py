"""Real tokenizers, offline: tiktoken with the vocabularies that litellm ships."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.tokens import TOKENIZER_NAMES, EstimateCounter, TokenCounter, ToolTokens, count_tool_tokens
from toolbelt.errors import NotFoundError
from toolbelt.providers.litellm_table import TOKENIZERS, ModelTable, find_litellm_file
from toolbelt.reporter import SILENT, Reporter
from toolbelt.stores.content_cache import ContentCache, hash_text
from toolbelt.stores.files import cache_folder
from toolbelt.stores.token_cache import FILE_NAME, CachedTokenCounter

if TYPE_CHECKING:
    import tiktoken

DEFAULT_TOKENIZER = "o200k_base"
VOCABULARY_FILES: Mapping[str, str] = MappingProxyType(
    # tiktoken's names for its cached downloads: the SHA-1 of where each comes from.
    {
        "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
        "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    }
)
_MODEL_TOKENIZERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|gpt-oss|o[134])(?![0-9a-z])"), "o200k_base"),
    (re.compile(r"(gpt-4|gpt-3\.5|gpt-35)(?![0-9])|(davinci|babbage)-002|text-embedding-(ada|3)-"), "cl100k_base"),
)
_OPENAI_PREFIXES = ("openai/", "azure/", "azure_ai/", "openrouter/openai/", "github/", "text-completion-openai/")
_LONG_TEXT = 100_000
"""Characters above which a text is counted in pieces: the encoder's time grows faster than the text."""


def make_counter(name: str) -> TokenCounter:
    """The counter of that name.

    Args:
        name: One of `TOKENIZER_NAMES`.

    Returns:
        A real tokenizer, or the estimate where its vocabulary is not installed.

    Raises:
        NotFoundError: no such tokenizer.
    """
    if name == EstimateCounter().name:
        return EstimateCounter()
    if name not in VOCABULARY_FILES:
        raise NotFoundError("tokenizer", name, TOKENIZER_NAMES)
    folder = find_litellm_file(TOKENIZERS)
    if folder is None or not (folder / VOCABULARY_FILES[name]).exists():
        return EstimateCounter()
    return TiktokenCounter(name, str(folder))


def find_tokenizer(model: str, table: ModelTable | None = None) -> str | None:
    """The name of a model's own tokenizer, where it is known and can be had offline; else `None`.

    Source: the table in `tiktoken.model`, which the tests hold against this one.

    Args:
        model: Its name.
        table: What aliases stand for; without it they have no tokenizer.
    """
    if table is not None:
        model = table.aliases.get(table.find_name(model) or "") or table.find_asked(model)
    bare = model.lower()
    for prefix in _OPENAI_PREFIXES:
        bare = bare.removeprefix(prefix)
    bare = re.sub(r"^ft:", "", bare)
    for pattern, name in _MODEL_TOKENIZERS:
        if pattern.match(bare):
            return name
    return None


@dataclass(frozen=True)
class TiktokenCounter:
    """OpenAI's tokenizers.

    Attributes:
        name: Of the encoding.
        folder: Where its vocabulary is.
    """

    name: str
    folder: str

    @property
    def exact(self) -> bool:
        """It is the real one."""
        return True

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; text that looks like a control token counts as plain text."""
        encode = self._encoding.encode_ordinary
        return [
            len(encode(text)) if len(text) <= _LONG_TEXT else sum(len(encode(piece)) for piece in _pieces(text))
            for text in texts
        ]

    @cached_property
    def _encoding(self) -> tiktoken.Encoding:
        import tiktoken

        with _environment("TIKTOKEN_CACHE_DIR", self.folder):
            encoding = tiktoken.get_encoding(self.name)
        # 30 MB, of which the encoder has its own copy; tiktoken pickles its encodings by name.
        encoding._mergeable_ranks = {}  # noqa: SLF001
        return encoding


def _pieces(text: str) -> Iterator[str]:
    """`text` in pieces that are encoded as they would be in one: cut before the blank between two words.

    Only where there is no such blank in thousands of characters is it cut where it must be, at a token at most.
    """
    start = 0
    while len(text) - start > _LONG_TEXT:
        end = start + _LONG_TEXT
        look_from = end - _LONG_TEXT // 20
        between_words = [match.start() + 1 for match in re.finditer("[a-z] [a-z]", text[look_from:end])]
        end = look_from + between_words[-1] if between_words else end
        yield text[start:end]
        start = end
    if text:
        yield text[start:]


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    # tiktoken takes the place of its vocabularies from the environment alone.
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def make_cached_counter(tokenizer: str, progress: Callable[[int], None] | None = None) -> TokenCounter:
    """What counts, through the cache on disk; raises as `make_counter`."""
    counter = make_counter(tokenizer)
    if not isinstance(counter, TiktokenCounter):
        return counter
    return CachedTokenCounter(counter, cache_folder(os.environ), progress)


def count_tokens(
    catalog: Catalog, tokenizer: str, form: str, tools: Sequence[Tool] | None = None, reporter: Reporter = SILENT
) -> ToolTokens:
    """What tools of a catalog cost, all if none are given: through the cache, with progress where that takes long."""
    if tools is None and catalog.digest:
        return _count_stored(catalog, tokenizer, form, reporter)
    with reporter.progress("counting tokens of tools", len(catalog.tools if tools is None else tools)) as advance:
        return count_tool_tokens(catalog, make_cached_counter(tokenizer, advance), form, tools=tools)


def _count_stored(catalog: Catalog, tokenizer: str, form: str, reporter: Reporter) -> ToolTokens:
    """As `count_tokens`, of a catalog that is known by its file: the counts of all its tools are kept in one value."""
    counter = make_cached_counter(tokenizer)
    key = hash_text(f"{catalog.digest}\0{counter.name}\0{form}")
    with ContentCache(cache_folder(os.environ) / FILE_NAME, "catalogs", "counts TEXT").open() as cache:
        counts = _parse_counts(cache.find([key]).get(key), len(catalog.tools))
        if counts is None:
            tokens = count_tokens(catalog, tokenizer, form, catalog.tools, reporter)
            cache.add({key: json.dumps([tokens.by_id[tool.id] for tool in catalog.tools])})
            return tokens
    by_id = {tool.id: count for tool, count in zip(catalog.tools, counts, strict=True)}
    return ToolTokens(by_id, counter.name, counter.exact, form)


def _parse_counts(written: object, size: int) -> list[int] | None:
    try:
        counts = json.loads(written) if isinstance(written, str) else None
    except (ValueError, RecursionError):
        return None
    is_sound = isinstance(counts, list) and len(counts) == size and all(type(n) is int and n >= 0 for n in counts)
    return counts if is_sound else None
