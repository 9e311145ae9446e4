"""The card of a dataset: its content as values, and its place (`card.yaml` beside the cases).

    name: mine
    summary: What a support agent is asked.
    licence: MIT                            # SPDX
    catalog: ../support                     # only where no catalog stands beside the cases; or a shipped one's name
    system: support.md                      # the system prompt of cases that have none: a file beside this, or a text
    languages: [en, de]
    made: By hand, from tickets of 2026, with names changed.
    content:                                # kept by `toolbelt dataset card --write`
      cases: 120
      clusters: 100
      kinds: {single: 80, irrelevant: 40}
      answered_tools: 31
      digest: 64 hexadecimal digits
      catalog_digest: 64 more, where the dataset names its catalog or has it beside the cases
    readings:
      - reader: A colleague who had not seen the labels
        sample: 50
        seed: 7
        agreed: 49
        disagreements:
          - {case: single-refund-3, why: A voucher would do as well., done: Both are accepted.}
    ambiguities:
      - cases: [single-refund-4]
        text: Cancelling the order comes near.

`README.md` is the prose for people. A dataset need not have a card.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.stores.catalogs import CASES_FILE

CARD_FILE = "card.yaml"
CARD_KEYS = (
    *("name", "summary", "licence", "catalog", "system", "languages", "made"),
    *("content", "readings", "ambiguities"),
)
CONTENT_KEYS = ("cases", "clusters", "kinds", "answered_tools", "digest", "catalog_digest")
READING_KEYS = ("reader", "sample", "seed", "agreed", "disagreements")
DISAGREEMENT_KEYS = ("case", "why", "done", "removed")
AMBIGUITY_KEYS = ("cases", "text")


@dataclass(frozen=True)
class Content:
    """What can be counted.

    Attributes:
        cases: Number of cases that can be asked.
        clusters: Number of clusters.
        kinds: Number of cases by kind.
        answered_tools: Number of tools that are in a right answer.
        digest: Of the cases and their grading (rule E7), 64 hexadecimal digits.
        catalog_digest: Of the dataset's own catalog, 64 hexadecimal digits; `None` where it has none.
    """

    cases: int
    clusters: int
    kinds: Mapping[str, int]
    answered_tools: int
    digest: str
    catalog_digest: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", FrozenDict(self.kinds))


@dataclass(frozen=True)
class Disagreement:
    """A case that a reader would label differently.

    Attributes:
        case: Its id.
        why: The reader's reason.
        done: What was done about it.
        removed: Whether the case was taken out, so that its id is unknown.
    """

    case: str
    why: str
    done: str
    removed: bool = False


@dataclass(frozen=True)
class Reading:
    """One reading of a sample by somebody who did not know the labels.

    Attributes:
        reader: Who read it.
        sample: Number of cases read.
        agreed: Number of them where the reader chose the label.
        seed: Of the draw of the sample.
        disagreements: The other cases.
    """

    reader: str
    sample: int
    agreed: int
    seed: int | None = None
    disagreements: tuple[Disagreement, ...] = ()


@dataclass(frozen=True)
class Ambiguity:
    """A known doubt about some cases.

    Attributes:
        cases: Their ids.
        text: The doubt.
    """

    cases: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Card:
    """A whole card; missing texts are empty.

    Attributes:
        name: Of the dataset.
        summary: What it is, in a sentence or two.
        licence: An SPDX expression.
        catalog: Name of a shipped catalog, or a path from the card; empty where a catalog stands beside the cases.
        system: The system prompt of cases that have none, or a path of it from the card; empty for none.
        languages: Of the queries.
        made: How the cases were made.
        content: As counted when the card was last updated.
        readings: In the order of the file.
        ambiguities: In the order of the file.
    """

    name: str
    summary: str = ""
    licence: str = ""
    languages: tuple[str, ...] = ()
    made: str = ""
    content: Content | None = None
    readings: tuple[Reading, ...] = ()
    ambiguities: tuple[Ambiguity, ...] = field(default=())
    catalog: str = ""
    system: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys that a reader needs and the card lacks."""
        return tuple(key for key in ("summary", "licence", "languages", "made") if not getattr(self, key))


def card_path(source: str) -> Path | None:
    """Where the card of a file of cases belongs; `None` for a file that is not the one of a dataset folder.

    Args:
        source: Path of the file of cases.
    """
    path = Path(source)
    return path.parent / CARD_FILE if path.name == CASES_FILE else None
