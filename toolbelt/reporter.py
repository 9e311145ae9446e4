"""Where notes and progress of the library go: nowhere, unless the caller passes a reporter that shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from toolbelt.findings import Finding

Advance = Callable[[int], None]
"""Takes the number of items done so far."""


class Reporter:
    """Receives what a user may want to know while the library works. This one drops everything."""

    def note(self, message: str) -> None:
        """Something worth knowing, in a sentence."""

    def warn(self, message: str) -> None:
        """Something that may be a mistake, in a sentence."""

    def findings(self, findings: Sequence[Finding]) -> None:
        """What is doubtful about the files that were read."""

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Advance]:  # noqa: ARG002
        """A context whose value is called with the number of items done.

        Args:
            label: What is done.
            total: Items in all; `None` where that is unknown.
        """
        return nullcontext(_ignore)


def _ignore(done: int) -> None:
    """No progress is shown."""


SILENT = Reporter()
"""Shows nothing."""
