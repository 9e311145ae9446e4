"""What a model is waited for, and until when (rule X2)."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.servers.running import OpenAIServer, openai_server
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.drafts.generate import DraftSession, DraftSettings
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.pauses import NOTICE_EVERY_SECONDS, PauseNotices, describe_pace
from toolbelt.evals.setup.asking import AskingOptions
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.reporter import Reporter

__all__ = ["openai_server"]
UNTIL = r"rate limit, nothing is sent until \d\d:\d\d:\d\d"


@pytest.mark.parametrize(
    ("pace", "described"),
    [
        (Pace("m", 8), ""),
        (Pace("m", 8, open_at=101.0), ""),
        (Pace("m", 8, open_at=160.0), f"m: {UNTIL}"),
        (Pace("\x1b[31m", 8, open_at=160.0), r"\\x1b\[31m: " + UNTIL),
    ],
    ids=["at-full-speed", "a-pause-too-short-to-read", "a-pause", "a-name-with-escapes"],
)
def test_X2_a_pause_is_described_with_its_end(pace: Pace, described: str) -> None:
    assert re.fullmatch(described, describe_pace(pace, 100.0))


def test_X2_notices_come_now_and_then() -> None:
    notices: list[str] = []
    now = [100.0]
    notify = PauseNotices(notices.append, lambda: now[0])
    for _ in range(3):
        notify(Pace("m", open_at=now[0] + 30))
    notify(Pace("m", open_at=now[0] + 1))
    assert len(notices) == 1
    now[0] += NOTICE_EVERY_SECONDS
    notify(Pace("n", open_at=now[0] + 30))
    assert len(notices) == 2


class _Notes(Reporter):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_X2_drafting_says_what_it_waits_for_and_until_when(openai_server: OpenAIServer, tmp_path: Path) -> None:
    tool = Tool(name="read_file", description="Reads a file.", parameters={})
    settings = DraftSettings(
        "openai/rate-limited-3@drafting", tmp_path / "d", asking=AskingOptions(openai_server.url, max_retries=1)
    )
    catalog = Catalog(plugins=(Plugin(name="files", tools=(tool,)),))
    reporter = _Notes()
    session = DraftSession(settings, catalog, ModelTable(), "estimate", reporter)
    began = time.monotonic()
    session.run()
    assert time.monotonic() - began > 2
    assert [note for note in reporter.notes if re.search(f"rate-limited-3@drafting: {UNTIL}", note)]
