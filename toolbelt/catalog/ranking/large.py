"""BM25 over the tools of large catalogs, by numpy and scipy: the same scores as `bm25.Bm25` to the last bit.

A tool has seven times as many tokens as words, since each word brings its stem and its parts. So an index holds the
words alone, and which of them have a token; the tools that have a token are added up when it is first asked for. That
keeps the index small enough to be read from disk faster than it is built.
"""

from __future__ import annotations

import io
import warnings
from array import array
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from toolbelt.catalog.ranking.bm25 import find_damping, inverse_frequency
from toolbelt.catalog.ranking.terms import find_tokens, read_words
from toolbelt.catalog.ranking.text import read_argument_descriptions, read_argument_names
from toolbelt.catalog.tool import Tool

VERSION = 1
"""Of the stored form and of what is stored; one more whenever the words, tokens or weights of a tool change."""
_MOST_POSTINGS = 20_000_000
"""Numbers of tools kept for tokens that were asked for: 240 MB."""
_Postings = tuple[NDArray[np.int32], NDArray[np.float64]]
_PARTS = ("data", "indices", "indptr")


class IndexStore(Protocol):
    """Keeps indexes by their content; it may lose any of them at any time."""

    def read(self, key: str) -> bytes | None:
        """What was written; `None` if it is not there, or cannot be read."""
        ...

    def write(self, key: str, data: bytes) -> None:
        """Keep an index, if that is possible."""
        ...


class LargeBm25:
    """Documents ranked as by `Bm25`.

    Args:
        tokens: Each once.
        token_words: A row for each token, a column for each word: how often the token is in the word.
        word_documents: A row for each word, a column for each document: the weighted count.
        lengths: Of each document.
    """

    def __init__(
        self, tokens: Sequence[str], token_words: csr_matrix, word_documents: csr_matrix, lengths: NDArray[np.float64]
    ) -> None:
        self._tokens = tokens
        self._token_words = token_words
        self._word_documents = word_documents
        self._lengths = lengths
        self._rows = {token: row for row, token in enumerate(tokens)}
        base, step = find_damping(float(lengths.sum()), len(lengths))
        self._dampings = base + step * lengths
        self._postings: dict[str, _Postings] = {}
        self._kept = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def scores(self, query: Mapping[str, float]) -> NDArray[np.float64]:
        """One for each document, at least 0; 0 where no token of the query stands in it."""
        if self._kept > _MOST_POSTINGS:
            self._postings, self._kept = {}, 0
        known = self._postings  # which another thread may replace
        self._add_up([token for token in query if token in self._rows and token not in known], known)
        scores = np.zeros(len(self))
        for token, weight in query.items():
            if (postings := known.get(token)) is not None:
                documents, shares = postings
                # Half the time of `scores[documents] += …`, which reads, adds and writes in three passes.
                np.add.at(scores, documents, weight * inverse_frequency(len(documents), len(self)) * shares)
        return scores

    def find_best(self, query: Mapping[str, float], k: int) -> list[tuple[int, float]]:
        """Positions and scores of the `k` best documents, the best first, equals in their order; none that scores 0."""
        scores = self.scores(query)
        positions = np.flatnonzero(scores > 0)
        if 0 < k < len(positions):
            least = np.partition(scores[positions], -k)[-k]
            positions = positions[scores[positions] >= least]
        order = np.argsort(-scores[positions], kind="stable")[: max(k, 0)]
        return [(int(position), float(scores[position])) for position in positions[order]]

    def within(self, positions: Sequence[int]) -> LargeBm25:
        """The same over some of the documents, as if there were no others."""
        chosen = np.asarray(positions, dtype=np.int64)
        return LargeBm25(self._tokens, self._token_words, self._word_documents[:, chosen], self._lengths[chosen])

    def to_bytes(self) -> bytes:
        """The index as an archive of arrays, which `read_index` reads."""
        buffer = io.BytesIO()
        text = "\n".join(self._tokens).encode(errors="surrogatepass")
        arrays: dict[str, NDArray[Any]] = {"tokens": np.frombuffer(text, np.uint8), "lengths": self._lengths}
        for name, matrix in (("token_words", self._token_words), ("word_documents", self._word_documents)):
            arrays |= {f"{name}_{part}": getattr(matrix, part) for part in _PARTS}
        np.savez(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    def _add_up(self, tokens: Sequence[str], known: dict[str, _Postings]) -> None:
        if not tokens:
            return
        counts = self._token_words[[self._rows[token] for token in tokens]] @ self._word_documents
        documents = counts.indices
        weighted = counts.data.astype(np.float64)
        shares = weighted / (weighted + self._dampings[documents])
        for token, start, end in zip(tokens, counts.indptr, counts.indptr[1:], strict=False):
            known[token] = documents[start:end], shares[start:end]
        self._kept += len(documents)


def make_index(tools: Sequence[Tool], with_plugin: bool = False, store: IndexStore | None = None) -> LargeBm25:
    """The index of tools: the stored one if there is one, else a new one, which is then stored.

    Args:
        tools: In the order of the positions.
        with_plugin: As for `read_tool`.
        store: Where it is kept; nowhere if `None`.
    """
    if store is None:
        return build_index(tools, with_plugin)
    key = hash_content(tools, with_plugin)
    data = store.read(key)
    index = None if data is None else read_index(data, len(tools))
    if index is None:
        index = build_index(tools, with_plugin)
        store.write(key, index.to_bytes())
    return index


def build_index(tools: Sequence[Tool], with_plugin: bool = False) -> LargeBm25:
    """A new index; arguments as for `make_index`."""
    numbers: dict[str, int] = {}
    words, counts, lengths, ends = array("i"), array("f"), array("d"), array("q", [0])
    for tool in tools:
        document = read_words(tool, with_plugin)
        words.extend([numbers.setdefault(word, len(numbers)) for word in document.counts])
        counts.extend(document.counts.values())
        lengths.append(document.length)
        ends.append(len(words))
    shape = (len(tools), len(numbers))
    document_words = csr_matrix((_view(counts, np.float32), _view(words, np.int32), _view(ends, np.int64)), shape=shape)
    rows: dict[str, int] = {}
    tokens, ends = array("i"), array("q", [0])
    for word in numbers:
        tokens.extend([rows.setdefault(token, len(rows)) for token in find_tokens(word)])
        ends.append(len(tokens))
    ones = np.ones(len(tokens), np.float32)
    word_tokens = csr_matrix((ones, _view(tokens, np.int32), _view(ends, np.int64)), shape=(len(numbers), len(rows)))
    return LargeBm25(list(rows), word_tokens.T.tocsr(), document_words.T.tocsr(), _view(lengths, np.float64))


def read_index(data: bytes, size: int) -> LargeBm25 | None:
    """An index from `LargeBm25.to_bytes`; `None` if the bytes are anything else.

    Args:
        data: From anywhere: nothing in them is run, and every number is checked.
        size: Number of documents that it must have.
    """
    try:
        with warnings.catch_warnings(action="error"), np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            lengths = arrays["lengths"]
            tokens = arrays["tokens"].tobytes().decode(errors="surrogatepass").split("\n")
            words = len(arrays["word_documents_indptr"]) - 1
            token_words = _read_matrix(arrays, "token_words", (len(tokens), words))
            word_documents = _read_matrix(arrays, "word_documents", (words, size))
    except Exception:  # noqa: BLE001  for bytes of anybody, numpy, zipfile, tokenize and scipy raise what they like
        return None
    is_sound = lengths.shape == (size,) and lengths.dtype == np.float64 and bool((lengths >= 0).all())
    return LargeBm25(tokens, token_words, word_documents, lengths) if is_sound else None


def hash_content(tools: Sequence[Tool], with_plugin: bool = False) -> str:
    """The key under which an index of these tools is stored: 32 hexadecimal digits."""
    digest = blake2b(f"{VERSION} {with_plugin}".encode(), digest_size=16)
    for tool in tools:
        about = ascii((tool.name, tool.plugin if with_plugin else None))
        digest.update(b"\n%s %s" % (about.encode(), _write(tool)))
    return digest.hexdigest()


def _write(tool: Tool) -> bytes:
    try:
        return tool.written()  # which of a stored catalog need not be read
    except (TypeError, ValueError, RecursionError):
        arguments = (*read_argument_names(tool.parameters), "", *read_argument_descriptions(tool.parameters))
        return ascii((tool.description, arguments)).encode()


def _read_matrix(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, int]) -> csr_matrix:
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in _PARTS)
    if data.dtype != np.float32 or not (data > 0).all():
        raise ValueError(name)
    matrix = csr_matrix((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _view(numbers: array[int] | array[float], kind: type[np.generic]) -> NDArray[Any]:
    return np.frombuffer(numbers, kind)
