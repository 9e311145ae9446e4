"""Output of any command: head and tail, and what may be errors (rule R5)."""

from __future__ import annotations

import json

import pytest

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.shell import MAX_CHARS, ShellReducer
from toolbelt.runtime.results import ToolResult


def reduce(text: str, command: str = "./run", structured: object = None) -> str:
    result = ToolResult(True, text, structured=structured)
    return ShellReducer().reduce(result, ReduceInfo({"command": command})).value


LINES = [f"line {number} of what was printed" for number in range(1, 5_001)]


def test_R5_long_output_becomes_head_and_tail_cut_at_line_borders() -> None:
    text = "\n".join(LINES) + "\n"
    note, *shown = reduce(text).split("\n")
    assert note == (
        f"[reduced: 5,000 lines, {len(text):,} characters in all, head and tail shown; "
        "for the rest, run it again into a file and read parts of that]"
    )
    (gap,) = (position for position, line in enumerate(shown) if line.startswith("[..."))
    assert shown[:gap] == LINES[:gap]
    assert shown[gap + 1 :] == LINES[-(len(shown) - gap - 1) :]
    assert shown[gap].startswith(f"[... {5_000 - (len(shown) - 1):,} lines, ")
    assert MAX_CHARS * 0.9 < len(reduce(text)) <= MAX_CHARS


@pytest.mark.parametrize(
    ("size", "stays"), [pytest.param(8_192, True, id="8-KB-stay"), pytest.param(8_193, False, id="one-more-does-not")]
)
@pytest.mark.parametrize("character", ["x", "é"])
def test_R5_the_limit_is_8192_characters(size: int, stays: bool, character: str) -> None:
    text = character * size
    made = reduce(text)
    assert (made == text) == (stays or len(made) >= size)
    assert len(made) <= MAX_CHARS or made == text


@pytest.mark.parametrize("count", [1, 2, 3])
def test_R5_few_but_very_long_lines_are_cut_within(count: int) -> None:
    text = "\n".join(chr(ord("a") + position) * (1_000_000 // count) for position in range(count))
    made = reduce(text)
    assert MAX_CHARS * 0.9 < len(made) <= MAX_CHARS
    assert f"{count} line{'s' if count > 1 else ''}, {len(text):,} characters in all" in made
    body = made.partition("]\n")[2]
    assert body.startswith("a" * 3_000)
    assert body.endswith(text[-1] * 4_000)
    left = len(text) - sum(len(line) for line in body.split("\n") if not line.startswith("[..."))
    assert f"{left:,} characters within lines left out" in body


def test_R5_lines_in_between_that_may_be_errors_stay_with_their_numbers() -> None:
    lines = [*LINES]
    lines[2_499] = "src/a.c:12: error: no such thing"
    lines[2_600] = "Tests run, 0 errors"
    lines[2_700] = "unfailing, and 0 failed"
    lines[3_000] = "x" * 5_000 + " ValueError: far inside " + "x" * 5_000
    made = reduce("\n".join(lines))
    assert "; 2 lines of it that may be errors" in made
    assert "\n2500: src/a.c:12: error: no such thing\n" in made
    assert " ValueError: far inside " in made
    assert "Tests run" not in made
    assert len(made) <= MAX_CHARS


def test_R5_more_errors_than_fit_are_counted() -> None:
    made = reduce("\n".join(f"error {number}: {'x' * 60}" for number in range(5_000)))
    assert " that may be errors, by number:]" in made
    assert " of 4," in made
    assert len(made) <= MAX_CHARS


def test_R5_a_progress_bar_is_its_last_state() -> None:
    bar = "\r".join(f"\x1b[32m{percent}%\x1b[0m {'#' * percent}" for percent in range(101))
    made = reduce(f"before\n{bar * 3}\nafter\n")
    assert made.split("\n")[1:] == ["before", f"100% {'#' * 100}", "after"] or "100% ####" in made
    assert "\x1b" not in made
    assert "\n50% " not in made


def test_R5_an_error_that_was_written_over_stays() -> None:
    bar = "\r".join(["0%", "error: it broke", *(f"{percent}%" for percent in range(5_000))])
    assert "error: it broke 4999%" in reduce(bar)


@pytest.mark.parametrize("text", ["", "\n", "short\n", "\x1b[31mred\x1b[0m\n", "\0\0", "x" * 8_000])
def test_R5_what_is_short_stays_as_it_is(text: str) -> None:
    assert reduce(text) == text


def test_R5_an_object_keeps_its_keys_and_has_its_streams_cut() -> None:
    document = {"stdout": "\n".join(LINES), "stderr": "", "exit_code": 3}
    made = json.loads(reduce(json.dumps(document), structured=document))
    assert (made["exit_code"], made["stderr"]) == (3, "")
    assert made["stdout"].startswith("[reduced: 5,000 lines")
    assert made["stdout"].endswith(LINES[-1])


def test_R5_json_that_a_command_printed_is_text() -> None:
    text = json.dumps({"stdout": "x" * 20_000})
    assert reduce(text).startswith("[reduced: 1 line")
