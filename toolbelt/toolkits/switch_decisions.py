"""What a config decides about a tool and why, and what of a config does not do what it seems to (rule K2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from toolbelt.errors import suggestion
from toolbelt.sources import Document, Key


class SwitchRule(StrEnum):
    """The branch of rule K2 that decided about a tool; the first that applies does."""

    TOOLKIT_OFF = "toolkit_off"
    TOOLKIT_ON = "toolkit_on"
    OWN = "own"
    DEFAULT = "default"
    AGENT = "agent"
    """What the agent is given in `toolbelt.yaml`: its `tools`, and toolkits that it loads itself."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SwitchDecision:
    """Whether a tool is on, and why.

    Attributes:
        tool: Its key.
        enabled: Whether it is on.
        rule: The branch that decided.
        key: The key of the config that decided, a toolkit's or the tool's own; `None` where none did.
        value: What stands there; `None` where no key decided.
        toolkits: Keys of the toolkits it is in, in order.
        toolkit: Key of the toolkit whose switch decided, or, where the key is no tool's, of the toolkit that it is.
        own: What the config says of the tool itself; `None` for nothing.
        known: Where the key is no tool's, the keys of the tools there are.
        agent: Whose tools or toolkits decided.
    """

    tool: str
    enabled: bool
    rule: SwitchRule
    key: str | None
    value: bool | None
    toolkits: tuple[str, ...]
    toolkit: str | None = None
    own: bool | None = None
    known: tuple[str, ...] = ()
    agent: str = ""

    @property
    def reason(self) -> str:
        """Why, in words."""
        match self.rule:
            case SwitchRule.TOOLKIT_OFF:
                overruled = f", whatever {self.tool!r} says of itself" if self.own else ""
                return f"toolkit {self.toolkit!r} is off{overruled}"
            case SwitchRule.TOOLKIT_ON if self.own is None:
                return f"toolkit {self.toolkit!r} is on"
            case SwitchRule.TOOLKIT_ON:
                own = "is on, too" if self.own else "opts out"
                return f"toolkit {self.toolkit!r} is on, and {self.tool!r} {own}"
            case SwitchRule.OWN:
                return f"{self.tool!r} itself is {_on(self.enabled)}"
            case SwitchRule.DEFAULT:
                return f"no switch is set; by default it is {_on(self.enabled)}"
            case SwitchRule.AGENT if self.toolkit is None:
                return f"agent {self.agent!r} {'names it' if self.enabled else 'does not name it'}"
            case SwitchRule.AGENT if self.enabled:
                return f"agent {self.agent!r} starts with toolkit {self.toolkit!r}"
            case SwitchRule.AGENT:
                return f"agent {self.agent!r} loads toolkit {self.toolkit!r} itself"
            case SwitchRule.UNKNOWN if self.toolkit is not None:
                return f"{self.tool!r} is a toolkit and no tool"
            case SwitchRule.UNKNOWN:
                return f"no tool has the key {self.tool!r}.{suggestion(self.tool, self.known)}"
            case _:
                assert_never(self.rule)


@dataclass(frozen=True, slots=True)
class ConfigNote:
    """Something in a config that does not do what it seems to; it does no harm.

    Attributes:
        key: The key it is about, as it stands there.
        rule: `unknown-key`, `not-a-boolean`, `overruled-by-toolkit`, `ambiguous-key` or `contradiction`.
        message: One sentence that says what comes of it, and what to do.
    """

    key: object
    rule: str
    message: str


@dataclass(frozen=True)
class WrittenSwitches:
    """The switches of an agent, with the place where they are written.

    Attributes:
        switches: As written.
        document: The file.
        path: Where in it they stand.
    """

    switches: Mapping[str, Any]
    document: Document
    path: tuple[Key, ...] = ()


def _on(value: bool) -> str:
    return "on" if value else "off"
