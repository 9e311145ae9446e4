"""The tools that a probe offers: a catalog of its own, always the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.evals.conversation import Conversation, Message
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.probing.checks import TOOL_COUNTS
from toolbelt.evals.running.prompt_tokens import PromptCounter
from toolbelt.evals.scoring.schemas import ArgumentSchemas

LONG_NAME = "read_the_water_temperature_at_the_named_measuring_station_of_bay"
"""64 letters and underscores: as long as every provider takes."""
_VERBS = {
    "inspect": "Look at", "repair": "Mend", "paint": "Give a new colour to", "weigh": "Find the weight of",
    "lend": "Hand out for a week", "polish": "Make bright again", "label": "Put a tag on", "store": "Put away",
    "photograph": "Take a picture of", "measure": "Find the size of", "insure": "Sign a policy for",
    "auction": "Offer for sale", "ship": "Send off", "copy": "Make another of", "retire": "Take out of use",
    "restore": "Bring back into use",
}  # fmt: skip
_NOUNS = (
    "lantern", "anchor", "compass", "barrel", "ladder", "kettle", "violin", "carpet", "mirror", "saddle", "helmet",
    "basket", "candle", "drum", "easel", "globe",
)  # fmt: skip


def _schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    required = {"required": list(properties)} if properties else {}
    return {"type": "object", "properties": dict(properties), **required}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _whole(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


_CITY = _schema({"city": _text("The city's name.")})
_ADDRESS = _schema({"street": _text("Street and number."), "city": _text("The city's name.")})
_CUSTOMER = _schema({"name": _text("The customer's name."), "address": _ADDRESS})
_ITEM = _schema({"sku": _text("The article's number."), "quantity": _whole("How many.")})
_ORDER = _schema(
    {
        "customer": {**_CUSTOMER, "description": "Who orders."},
        "items": {"type": "array", "description": "What is ordered, in order.", "items": _ITEM},
        "gift": {"type": "boolean", "description": "Whether it is a present."},
    }
)
_TICKET = _schema(
    {
        "ticket": _whole("The ticket's number."),
        "priority": {"type": "string", "enum": ["low", "normal", "urgent"], "description": "How soon."},
        "channel": {"type": "string", "enum": ["e-mail", "phone"], "description": "How to answer."},
    }
)
BRIDGES = ("große Brücke", "малый мост", "石の橋")
_SIGN = _schema(
    {
        "text": _text("Text der Tafel — wörtlich, 一字一句."),
        "place": {"type": "string", "enum": list(BRIDGES), "description": "Où ? Wo? どこ？"},
    }
)
_THING = _schema({"id": _text("Its number in the register.")})

_TOOLS = (
    Tool("get_weather", "Get the weather in a city at this moment.", _CITY),
    Tool("get_time", "Get the local time in a city.", _CITY),
    Tool("create_order", "Place an order for a customer.", _ORDER),
    Tool("update_ticket", "Set how soon and how a ticket is answered.", _TICKET),
    Tool("write_sign", "Schreibt eine Tafel für eine Brücke – ✎ надпись, 看板.", _SIGN),
    Tool(LONG_NAME, "Read the temperature of the water.", _schema({"station": _text("The station's name.")})),
    Tool("ring_bell", "Ring the bell once.", _schema({})),
    Tool("find_booking", "Look up the code of a booking.", _schema({"guest": _text("The guest's name.")})),
    Tool("load_tools", "Load the tools of a category.", _schema({"category": _text("The category's name.")})),
    Tool("open_lock_gate", "Open a gate of the canal lock.", _schema({"gate": _whole("The gate's number.")})),
)
_CROWD = tuple(
    Tool(f"{verb}_{noun}", f"{means} a {noun} of the museum, by its number in the register.", _THING)
    for noun in _NOUNS
    for verb, means in _VERBS.items()
)[: max(TOOL_COUNTS)]


@dataclass(frozen=True, eq=False)
class ProbeTools:
    """The tools of a probe, as the model sees them.

    Attributes:
        counter: The model's own tokenizer, if it is known.
        form: Format of the counted definitions, a key of `DEFINITION_FORMATS`.
    """

    counter: TokenCounter
    form: str = "openai"

    @cached_property
    def renderer(self) -> ToolRenderer:
        """Renders and counts all tools of a probe."""
        catalog = Catalog(plugins=(Plugin("probe", _TOOLS), Plugin("museum", _CROWD)))
        return ToolRenderer(catalog, self.counter, self.form)

    @cached_property
    def schemas(self) -> ArgumentSchemas:
        """The schemas of their arguments."""
        return ArgumentSchemas(self.renderer.catalog)

    def count(self, messages: tuple[Message, ...]) -> int:
        """Tokens of messages, as the compact JSON that is sent."""
        return PromptCounter(self.counter).count_latest(Conversation(messages))

    def offer(self, *names: str) -> Offer:
        """An offer of the named tools, in that order."""
        return self.renderer.offer(f"probe/{name}" for name in names)

    def offer_long_prompt(self) -> Offer:
        """An offer of `get_weather` and so many others that a prompt without them is noticeably shorter: 800 tokens."""
        return self.renderer.offer(["probe/get_weather", *(tool.id for tool in self._filler_tools[:12])])

    def crowd(self, count: int) -> tuple[Offer, str]:
        """An offer of `count` similar tools, and the name of one from the middle."""
        return self.renderer.offer(tool.id for tool in self._filler_tools[:count]), _CROWD[count * 5 // 8].name

    @property
    def _filler_tools(self) -> Sequence[Tool]:
        return [tool for tool in self.renderer.catalog.tools if tool.plugin == "museum"]
