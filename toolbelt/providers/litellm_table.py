"""litellm's table of models, read without litellm, and what the project says of models itself.

Reading the whole table takes longer than all else `toolbelt loadout inspect` does. So the few values that are used
are stored in the cache folder, a line for each model, until the table changes.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbelt.errors import ToolbeltError, nearest
from toolbelt.patterns import fold
from toolbelt.stores.files import write_text

if TYPE_CHECKING:
    from toolbelt.models.project_models import ProjectModel


PRICE_TABLE = "model_prices_and_context_window_backup.json"
TOKENIZERS = "litellm_core_utils/tokenizers"
PROVIDERS = "provider_endpoints_support_backup.json"


def find_litellm_file(name: str) -> Path | None:
    """A file or folder inside the installed litellm package; `None` if it is not there."""
    spec = PathFinder.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / name
    return path if path.exists() else None


_END = "\n}}\n"
_MISSING = object()


def write_extract(stamp: object, values: Mapping[str, Any]) -> str:
    """The text of an extract, which is JSON.

    Args:
        stamp: What distinguishes one state of the table from another.
        values: By model.
    """
    lines = (f"\n{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    return f"{_head(stamp)}{','.join(lines)}{_END}"


class Extract(Mapping[str, Any]):
    """A stored extract, of which only the lines that are needed are parsed.

    Args:
        text: As `write_extract` made it.
        is_sound: Whether a value is one that may have been written.
        make_anew: All values, where one is not sound.
    """

    def __init__(self, text: str, is_sound: Callable[[Any], bool], make_anew: Callable[[], Mapping[str, Any]]) -> None:
        self._text = text
        self._is_sound = is_sound
        self._make_anew = make_anew
        self._found: dict[str, Any] = {}

    @staticmethod
    def is_of(text: str, stamp: object) -> bool:
        """Whether `text` is whole and of that state of the table."""
        return text.startswith(f"{_head(stamp)}\n") and text.endswith(_END)

    def __getitem__(self, name: str) -> Any:
        if "_all" in self.__dict__:
            return self._all[name]
        if name not in self._found:
            self._found[name] = self._find(name)
        value = self._found[name]
        if value is _MISSING:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def _find(self, name: str) -> Any:
        key = f"\n{json.dumps(name)}: "  # no text of JSON holds a line break: what begins a line is a model
        if (start := self._text.find(key)) < 0:
            return _MISSING
        start += len(key)
        try:
            value = json.loads(self._text[start : self._text.index("\n", start)].rstrip(","))
        except (ValueError, RecursionError):
            return self._all.get(name, _MISSING)
        return value if self._is_sound(value) else self._all.get(name, _MISSING)

    @cached_property
    def _all(self) -> Mapping[str, Any]:
        """Every value; all anew if one is not sound."""
        try:
            values = json.loads(self._text)["values"]
        except (ValueError, RecursionError, KeyError, TypeError):
            return self._make_anew()
        sound = isinstance(values, dict) and all(map(self._is_sound, values.values()))
        return values if sound else self._make_anew()


def _head(stamp: object) -> str:
    return f'{{"of": {json.dumps(stamp)}, "values": {{'


_FILE_NAME = "model-providers.json"
Stamp = list[str | int]
"""What distinguishes one state of the table from another."""


@dataclass(frozen=True, eq=False, repr=False)
class ModelTable:
    """What is known by model; `model_facts` and `prices` put it together.

    Attributes:
        cache: Folder for the extracts; `None` keeps none.
        source: The table; litellm's own if `None`.
        own: What the project says itself, which goes before the table.
        today: By which it is decided what is gone.
    """

    cache: Path | None = None
    source: Path | None = None
    own: Sequence[ProjectModel] = ()
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    _extracts: dict[str, Mapping[str, Any]] = field(default_factory=dict, init=False)

    def find_project_model(self, model: str) -> ProjectModel | None:
        """What the project says of `model`; `None` if nothing."""
        return self._own.get(model) or self._own.get(fold(model))

    def find_asked(self, model: str) -> str:
        """The name by which a model is asked: `model` itself, unless that is a label of the project's."""
        own = self.find_project_model(model)
        return own.name if own is not None and own.label and fold(own.label) == fold(model) else model

    def find_labels(self, models: Iterable[str]) -> tuple[str, ...]:
        """What is shown of models, each once: its label, or else its name."""
        own = ((model, self.find_project_model(model)) for model in models)
        return tuple(dict.fromkeys(known.label if known is not None and known.label else model for model, known in own))

    def find_form(self, model: str) -> str:
        """The format in which a model's tools are sent: a key of `DEFINITION_FORMATS`."""
        return "anthropic" if "claude" in self.find_asked(model).lower() else "openai"

    def trace(self, model: str) -> tuple[str, ...]:
        """The name by which a model is asked and what it is based on, nearest first; a base that leads back ends it."""
        names = [self.find_asked(model)]
        while (
            (own := self.find_project_model(names[-1])) is not None and own.base is not None and own.base not in names
        ):
            names.append(own.base)
        return tuple(names)

    def find_name(self, model: str) -> str | None:
        """What the table calls `model`; `None` if it does not know it."""
        model = self.find_asked(model)
        for spelling in (model, model.lower()):
            if spelling in self.providers:
                return spelling
            provider, slash, bare = spelling.partition("/")
            # The table has many models without their provider, but says whose they are.
            if slash and self._is_of(bare, provider):
                return bare
        return None

    def find_similar(self, model: str) -> tuple[str, ...]:
        """Other names that are known and much like `model`."""
        return nearest(model, (name for name in (*(own.name for own in self.own), *self.providers) if name != model))

    def extract(
        self, file_name: str, make: Callable[[object], Any], is_sound: Callable[[Any], bool]
    ) -> Mapping[str, Any]:
        """What `make` takes from each entry of the table, by model.

        Args:
            file_name: Of the extract in the cache folder; a name for each `make`.
            make: Turns an entry, which may be anything, into a plain value of JSON.
            is_sound: Whether a value read back is one that `make` may have made.
        """

        def make_all(entries: Mapping[str, Any]) -> dict[str, Any]:
            return {name: make(entry) for name, entry in entries.items()}

        return self.derive(file_name, make_all, is_sound)

    def derive(
        self, file_name: str, make: Callable[[Mapping[str, Any]], Mapping[str, Any]], is_sound: Callable[[Any], bool]
    ) -> Mapping[str, Any]:
        """What `make` makes of all entries of the table at once; for the rest as `extract`."""
        if file_name not in self._extracts:
            self._extracts[file_name] = self._derive(file_name, make, is_sound)
        return self._extracts[file_name]

    def _derive(
        self, file_name: str, make: Callable[[Mapping[str, Any]], Mapping[str, Any]], is_sound: Callable[[Any], bool]
    ) -> Mapping[str, Any]:
        stamp = self.stamp
        if stamp is None:
            return {}  # then everything is unknown, and reported so

        def make_anew() -> Mapping[str, Any]:
            values = make(self._table) if self._table else {}
            if values:
                self._write_extract(file_name, write_extract(stamp, values))
            return values

        text = self._read_extract(file_name)
        return Extract(text, is_sound, make_anew) if Extract.is_of(text, stamp) else make_anew()

    @cached_property
    def stamp(self) -> Stamp | None:
        """What distinguishes this state of the table; `None` if there is none."""
        with contextlib.suppress(OSError):
            if self._path is not None:
                status = self._path.stat()
                return [str(self._path), status.st_size, status.st_mtime_ns]
        return None

    @cached_property
    def _own(self) -> Mapping[str, ProjectModel]:
        folded = {fold(name): own for own in reversed(self.own) for name in (own.label, own.name) if name}
        return {**folded, **{own.name: own for own in self.own}}

    @cached_property
    def providers(self) -> Mapping[str, str | None]:
        """The provider whose API serves each model of the table; `None` if unknown."""
        return self.extract(_FILE_NAME, _provider, _is_provider)

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """By each alias of the table, the model that it stands for."""
        return self.derive("model-aliases.json", _aliases, lambda target: isinstance(target, str))

    @cached_property
    def _path(self) -> Path | None:
        return self.source or find_litellm_file(PRICE_TABLE)

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        """The whole table, which takes longer to read than all else there is to do; an alias has its target's entry."""
        try:
            table = json.loads(self._path.read_text(encoding="utf-8")) if self._path else {}
        except (OSError, ValueError):
            return {}
        if not isinstance(table, dict):
            return {}
        table.pop("sample_spec", None)
        return {name: _resolve(entry, table) for name, entry in table.items()}

    def _is_of(self, model: str, provider: str) -> bool:
        theirs = self.providers.get(model)
        # `bedrock/` is also how `bedrock_converse` models are called, `vertex_ai/` those of `vertex_ai-…`.
        return theirs is not None and (theirs == provider or theirs.startswith((f"{provider}_", f"{provider}-")))

    def _read_extract(self, file_name: str) -> str:
        """The text of an extract; empty if there is none."""
        if self.cache is not None:
            with contextlib.suppress(OSError, ValueError):
                return (self.cache / file_name).read_text(encoding="utf-8")
        return ""

    def _write_extract(self, file_name: str, text: str) -> None:
        if self.cache is None:
            return
        with contextlib.suppress(OSError, ToolbeltError):
            self.cache.mkdir(parents=True, exist_ok=True)
            write_text(self.cache / file_name, text)


def read_window(entry: object, key: str = "max_input_tokens") -> int | None:
    """A number of tokens of an entry of the table, which may be anything; `None` where it is none.

    `max_tokens` is the output limit for most entries and the input limit for some: no ground for a number.
    """
    value = entry.get(key) if isinstance(entry, dict) else None
    if isinstance(value, float) and value.is_integer():  # `2e6`
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _resolve(entry: object, table: Mapping[str, Any]) -> object:
    """The entry that an alias stands for, with its name as `alias_of`; any other entry as it is."""
    target = entry.get("alias_of") if isinstance(entry, dict) else None
    found = table.get(target) if isinstance(target, str) else None
    return {**found, "alias_of": target} if isinstance(found, dict) and "alias_of" not in found else entry


def _aliases(entries: Mapping[str, Any]) -> dict[str, str]:
    read = ((name, entry.get("alias_of")) for name, entry in entries.items() if isinstance(entry, dict))
    return {name: target for name, target in read if isinstance(target, str)}


def _is_provider(value: object) -> bool:
    return value is None or isinstance(value, str)


def _provider(entry: object) -> str | None:
    provider = entry.get("litellm_provider") if isinstance(entry, dict) else None
    return provider if isinstance(provider, str) and provider else None
