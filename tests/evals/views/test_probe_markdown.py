"""Probes in the Markdown report."""

from __future__ import annotations

from dataclasses import replace

from tests.evals.probing.probes import SAID, make_probe
from toolbelt.evals.probing.results import CheckOutcome
from toolbelt.evals.views.probe_markdown import probe_markdown

WHOLE = """\
## What works with each model

| check | gpt-4o-mini | local/bm25 |
|---|---|---|
| probed | 2026-11-21 | 2026-11-21 |
| One tool | ✓ works | ✓ works |
| Parallel calls | \\~ partly | – |
| Tool choice: named | ✗ fails | – |
| 128 tools | ✗ too large | – |
| 256 tools | – skipped | – |
| Reports caching | ? unknown | – |
| works | 1 of 6 | 1 of 1 |

- gpt-4o-mini, Parallel calls: It made one call, then the other.
- gpt-4o-mini, Tool choice: named: It called get_weather and not get_time.
- gpt-4o-mini, 128 tools: It is more than the context window holds.
- gpt-4o-mini, Reports caching: No answer came (timeout).
- gpt-4o-mini: cached tokens are reported: 0 read
- local/bm25: cached tokens are reported: 0 read

"""


def test_a_column_a_model_and_why_something_does_not_work() -> None:
    one = make_probe("local/bm25", checks=(SAID["one_tool"],), planned=("one_tool",))
    text = probe_markdown([make_probe(), one])
    assert text.startswith(WHOLE)
    assert text.endswith("which says nothing of the model.")
    assert probe_markdown([one], level=3).startswith("### What works")


def test_without_probes_there_is_no_section() -> None:
    assert probe_markdown([]) == ""


def test_what_a_server_said_is_no_markup() -> None:
    said = "a | b <script>x</script> [c](http://d) @everyone \x1b[31m" + "e" * 1000
    check = replace(SAID["one_tool"], outcome=CheckOutcome.REFUSED, said=said)
    text = probe_markdown([make_probe("m|n", checks=(check,), planned=("one_tool",))])
    for part in ("<script>", "\x1b", "[c](", " @everyone", "a | b", "m|n"):
        assert part not in text
    assert len(text) < 1500
