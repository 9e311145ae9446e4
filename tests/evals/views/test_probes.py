"""Probes on the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tests.evals.probing.probes import PROBES, SAID, make_probe
from tests.wording import mentions
from toolbelt.evals.probing.checks import SUITE
from toolbelt.evals.probing.learned_facts import News
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult
from toolbelt.evals.views.probe_news import news_view
from toolbelt.evals.views.probes import beside_view, inspected_view, list_view, probe_markdown, probe_view, probes_view
from toolbelt.render.terminal import render_terminal
from toolbelt.text import UNSAFE
from toolbelt.views.blocks import Block

LONG = "hosted_vllm/qwen3-coder-30b-a3b-instruct-fp8"
WORKS = "1 of 6 works; in another way: parallel_calls; not: choice_named, tools_128 (too large)"
FULL = f"""\
probe 20261121-233000-ab12  finished
gpt-4o-mini, 2026-11-21 23:30 UTC

check               outcome      tokens    time  what was seen
One tool            ✓ works         100  500 ms  It called get_weather as asked.
Parallel calls      ~ partly        240   1.2 s  It made one call, then the other.
Tool choice: named  ✗ fails         110  400 ms  It called get_weather and not get_time.
128 tools           ✗ too large       –       –  It is more than the context window holds.
256 tools           – skipped         –       –  128 tools were too many.
Reports caching     ? unknown         –       –  No answer came (timeout).

{WORKS}; unknown: cached_tokens; 1 skipped
cached tokens are reported: 0 read; 9 requests, 3 retries among them: $0.0040
"""
MATRIX = """\
                                 hosted_vllm/qwen3-coder-
check               gpt-4o-mini  30b-a3b-instruct-fp8
probed              2026-11-21   2026-11-21
One tool            ✓ works      ✓ works
Parallel calls      ~ partly     ~ partly
Tool choice: named  ✗ fails      ✗ fails
128 tools           ✗ too large  ✗ too large
256 tools           – skipped    – skipped
Reports caching     ? unknown    –
works               1 of 6       1 of 6
"""
PAIR = (make_probe(), make_probe(LONG, without=("cached_tokens",)))


class _Latin(io.StringIO):
    encoding = "latin-1"


class _Unicode(io.StringIO):
    encoding = "utf-8"


def shown(view: Iterable[Block], width: int = 130, file: io.StringIO | None = None) -> str:
    """As it is printed into a pipe."""
    screen = Console(file=file or io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    return "".join(f"{line.plain.rstrip()}\n" for line in render_terminal(view, screen))


def full(results: Sequence[ProbeResult], width: int = 130) -> str:
    return shown(probe_view(results), width, _Unicode())


def matrix(results: Sequence[ProbeResult], width: int = 130) -> str:
    return shown(probes_view(results), width, _Unicode())


def test_one_in_full() -> None:
    assert full([make_probe()]) == FULL


def test_several_in_full_and_then_beside_each_other() -> None:
    text = full(PAIR)
    assert text.startswith(FULL)
    assert text.endswith(f"\n{MATRIX}")
    assert text.count("what was seen") == 2


@pytest.mark.parametrize("width", [24, 40, 60, 80, 200])
def test_a_narrow_screen_loses_nothing(width: int) -> None:
    text = full(PAIR, width)
    assert max(map(len, text.splitlines())) <= width
    joined = "".join(text.split())
    for check in SAID.values():
        assert all(word in joined for word in check.said.split())
    for outcome in (CheckOutcome.WORKS, CheckOutcome.TOO_LARGE):
        assert outcome.value.replace("_", "") in joined


def test_what_is_not_of_this_terminal_is_said_in_plain_letters() -> None:
    text = shown(probes_view([make_probe()]), 100, _Latin())
    assert "+ works" in text
    assert "x too large" in text
    assert "✓" not in text


def test_what_a_server_said_cannot_move_the_cursor() -> None:
    check = replace(SAID["one_tool"], said="no \x1b[31mred\x1b[0m\u202e here", key="one\x1b[2J")
    result = make_probe(
        "m\x1b[2J", checks=(check,), reason="\x1b]0;t\x07", api_base="http://a\x1b/", status="incomplete"
    )
    for text in (
        full([result, result]),
        shown(beside_view([result])),
        shown(inspected_view(result)),
        shown(list_view([result]), 100),
        shown(
            news_view(
                "m\x1b[2J",
                (News("caching", False, "of\x07 m", True),),
                {"name": "m\x1b[2J\u202e\x07", "max_tools": 1},
                replaces=False,
            )
        ),
    ):
        assert not {"\x1b", "\u202e", "\x07"} & set(text)
    assert "no \\x1b[31mred" in full([result])


def test_models_of_one_name_go_by_where_they_were_asked_and_else_by_their_probe() -> None:
    here = make_probe("m", api_base="http://a/v1")
    text = matrix([here, make_probe("m", api_base="http://b/v1"), make_probe("n")])
    assert "m at http://a/v1  m at http://b/v1  n" in text
    again = replace(here, probe="20261122-000000-ffff")
    assert "(20261122-000000-ffff)" in "".join(matrix([here, again], 200).split("\n"))


def test_checks_of_another_version_of_the_suite_are_not_taken_for_the_same() -> None:
    assert "different versions of the suite" in matrix([make_probe(), make_probe("n", suite=SUITE + 1)])
    assert "different versions" not in matrix(PAIR)


def test_an_interrupted_probe_says_what_was_not_made() -> None:
    text = full([make_probe(without=tuple(SAID)[1:], status="interrupted", reason="interrupted by the user")])
    assert "1 of 6 works; 5 not made\ninterrupted by the user\n" in text
    assert "0 of 6 work; 6 not made\n" in full([make_probe(checks=(), status="killed")])


def test_beside_a_run_a_line_a_model() -> None:
    assert shown(beside_view(PAIR), 200).splitlines() == [
        f"probe of gpt-4o-mini, 2026-11-21: {WORKS}; unknown: cached_tokens; 1 skipped",
        f"probe of {LONG}, 2026-11-21: {WORKS}; 1 skipped; 1 not made",
    ]


def test_between_which_numbers_of_tools_a_limit_lies_is_said_in_every_form() -> None:
    checks = (
        CheckResult("tools_128", CheckOutcome.WORKS, "", 1),
        CheckResult("tools_256", CheckOutcome.REFUSED, "Too many tools.", 1),
    )
    result = make_probe(checks=checks)
    for text in (full([result]), shown(inspected_view(result)), probe_markdown([result])):
        assert mentions(text, "the API takes 128 tools", "refuses 256")
    for text in (full([make_probe()]), shown(inspected_view(make_probe())), probe_markdown([make_probe()])):
        assert "the API takes" not in text


ENTRY = {"name": "a: b", "max_tools": 1280}


def test_of_news_that_is_only_what_was_seen_it_is_said() -> None:
    news = (News("max_tools", 64, "litellm", 128, "it may take more"),)
    text = shown(news_view("m", news, ENTRY, replaces=True))
    assert "most tools  known: 64 (litellm); seen: 128; it may take more\n" in text


def test_news_say_what_was_known_and_what_was_seen_and_give_yaml_to_paste() -> None:
    news = (News("parallel_calls", True, "litellm", False), News("max_tools", None, "", 1_280))
    assert shown(news_view("a: b", news, ENTRY, replaces=False)) == (
        "Not as it was known of a: b:\n"
        "parallel calls  known: yes (litellm); seen: no\n"
        "most tools      known: nothing; reported: 1,280\n"
        "\n"
        "To be written under `models` in toolbelt.yaml, as one more entry:\n"
        "- name: 'a: b'\n"
        "  max_tools: 1280\n"
    )
    assert "in place of the entry" in shown(news_view("m", news[1:], ENTRY, replaces=True))
    assert "Not known so far of m:" in shown(news_view("m", news[1:], ENTRY, replaces=True))


@given(st.lists(PROBES, min_size=1, max_size=3), st.integers(24, 160))
@settings(max_examples=60, deadline=None)
def test_whatever_a_file_holds_it_is_shown_within_the_screen(results: list[ProbeResult], width: int) -> None:
    for text in (full(results, width), shown(beside_view(results), width), probe_markdown(results)):
        assert UNSAFE.search(text.replace("\n", "")) is None
    assert all(cell_len(line) <= width for line in full(results, width).splitlines())


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
    assert text.endswith("neither shows anything about the model.")


def test_without_probes_there_is_no_section() -> None:
    assert probe_markdown([]) == ""


def test_what_a_server_said_is_no_markup() -> None:
    said = "a | b <script>x</script> [c](http://d) @everyone \x1b[31m" + "e" * 1000
    check = replace(SAID["one_tool"], outcome=CheckOutcome.REFUSED, said=said)
    text = probe_markdown([make_probe("m|n", checks=(check,), planned=("one_tool",))])
    for part in ("<script>", "\x1b", "[c](", " @everyone", "a | b", "m|n"):
        assert part not in text
    assert len(text) < 1500
