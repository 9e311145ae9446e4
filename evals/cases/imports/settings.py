"""What a user may say about how cases are made of what is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Keeping(StrEnum):
    """Whether the arguments of calls are part of the labels."""

    KEEP = "keep"
    DROP = "drop"


class Labels(StrEnum):
    """Where a record has both, what is taken for right."""

    ANNOTATED = "annotated"
    """What people wrote down."""
    RECORDED = "recorded"
    """What the agent did."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user says of cases that are imported.

    Attributes:
        arguments: `None` keeps them where people wrote the labels, and drops them where an agent made the calls.
        reviewed: Whether what an agent did is known to be right, so that it is no draft.
        role: Of every case.
        kind: Of every case, in place of one that is told from its calls.
        tags: Of every case, besides those of the source.
        target_field: Inspect samples: the field that names the tools, with dots into `metadata`.
        labels: LiveMCPBench trajectories: what is right.
    """

    arguments: Keeping | None = None
    reviewed: bool = False
    role: str | None = None
    kind: str | None = None
    tags: tuple[str, ...] = ()
    target_field: str | None = None
    labels: Labels = Labels.ANNOTATED

    def keeps(self, *, recorded: bool) -> bool:
        """Whether arguments are kept, of calls that an agent made (`recorded`) or that people wrote down."""
        return self.arguments is Keeping.KEEP or (self.arguments is None and not recorded)
