"""A committed baseline: small, stable, and read strictly."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.evidence.sides import (
    ABOUT,
    FAILED,
    FULL,
    NOTHING,
    RIGHT,
    TIERED,
    TOO_LONG,
    WRONG,
    WrittenSide,
    side,
)
from tests.wording import each_mentions, mentions
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.analysis.evidence.baseline_reader import (
    is_baseline,
    parse_baseline,
    parse_lines,
    read_baseline,
)
from toolbelt.evals.analysis.evidence.baseline_writer import BaselineLines, describe_changes, why_unfit
from toolbelt.evals.analysis.evidence.evidence import Attempt, CaseEvidence, Side
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.scoring.outcome import Outcome

SAVED = """\
{
  "schema": "toolbelt.baseline/1",
  "dataset": {"name": "office", "digest": "sha256:0123"},
  "chosen": "abcd",
  "case_count": 3,
  "epochs": 1,
  "settings": {"request_limit": 10, "seed": 0},
  "catalog": "office",
  "surroundings": "ef01",
  "code": {"toolbelt": "1.0"},
  "columns": ["outcome", "definition_tokens", "own_prompt_tokens", "prompt_tokens", "requests", "cost_usd"],
  "arms": [
    {"model": "local/bm25", "toolset": "full", "variant": "", "tokenizer": "o200k_base", "trials": 3, "scored": 3, \
"right": 1, "solved": 1, "covered": 3, "accuracy": 0.333333, "definition_tokens": 100, "prompt_tokens": 150, \
"requests": 1, "cost_usd": 0},
    {"model": "local/bm25", "toolset": "tiered", "variant": "", "tokenizer": "o200k_base", "trials": 3, "scored": 2, \
"right": 1, "solved": 1, "covered": 1, "accuracy": 0.5, "definition_tokens": 100, "prompt_tokens": 150, \
"requests": 1, "cost_usd": 0}
  ],
  "cases": [
    {"case": "c0", "kind": "single", "arms": [[["correct", 100, 150, null, 1, 0]], \
[["correct", 100, 150, null, 1, 0]]]},
    {"case": "c1", "kind": "single", "arms": [[["wrong_tool", 100, 150, null, 1, 0, {"missing": ["git/status"], \
"surplus": ["git/log"]}]], [["context_overflow", 100, 150, null, 1, 0]]]},
    {"case": "c2", "kind": "single", "arms": [[["missing_call", 100, 150, null, 1, 0, {"missing": ["git/status"]}]], \
[["missing_call", 100, 150, null, 1, 0, {"covered": false, "missing": ["git/status"]}]]]}
  ]
}
"""
UNCOVERED = replace(NOTHING, covered=False)
SCHEMA = read_schema("baseline")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def format_baseline(of: Side, arms: list[int] | None = None) -> str:
    return "".join(BaselineLines(of, arms))


def sample() -> WrittenSide:
    return side([RIGHT, WRONG, NOTHING], [RIGHT, TOO_LONG, UNCOVERED])


def test_the_whole_file() -> None:
    assert format_baseline(sample()) == SAVED
    jsonschema.validate(json.loads(SAVED), SCHEMA)


def test_neither_times_nor_the_run_are_in_it() -> None:
    again = sample()
    slower = tuple(
        {
            case: replace(
                one,
                attempts=tuple(
                    None if attempt is None else replace(attempt, latency_seconds=9.0) for attempt in one.attempts
                ),
            )
            for case, one in cases.items()
        }
        for cases in again.cases
    )
    about = replace(
        again.about, name="20270101-000000-aaaa", created="2027", code={"toolbelt": "1.0", "commit": "1" * 40}
    )
    assert format_baseline(WrittenSide(about, again.arms, slower)) == SAVED


def test_a_case_that_changed_is_a_line_that_changed_and_the_figures_of_its_arm() -> None:
    changed = format_baseline(side([RIGHT, RIGHT, NOTHING], [RIGHT, TOO_LONG, UNCOVERED])).splitlines()
    lines = [number for number, (old, new) in enumerate(zip(SAVED.splitlines(), changed, strict=True)) if old != new]
    assert [changed[number].split('"')[1] for number in lines] == ["model", "case"]


def test_some_of_the_arms() -> None:
    baseline = parse_baseline(format_baseline(sample(), [1]), "b.json")
    assert baseline.arms == (TIERED,)
    assert [attempt.outcome.value for case in baseline.read(0).values() for attempt in case.scored] == [
        "correct",
        "missing_call",
    ]


def test_what_is_read_is_what_was_saved_but_for_what_is_not_kept() -> None:
    baseline = parse_baseline(SAVED, "b.json")
    wanted = replace(ABOUT, name="b.json", cases=3, code={"toolbelt": "1.0"}, created="", is_baseline=True)
    assert baseline.about == wanted
    assert baseline.arms == (FULL, TIERED)
    full, tiered = (tuple(case.attempts[0] for case in baseline.read(arm).values()) for arm in (0, 1))
    assert full == (
        replace(RIGHT, called=None, latency_seconds=None),
        replace(WRONG, latency_seconds=None),
        replace(NOTHING, latency_seconds=None),
    )
    assert tiered[2] == replace(UNCOVERED, latency_seconds=None)
    assert tiered[1] is not None
    assert tiered[1].called is None


TOOLS = st.lists(st.text(max_size=8), max_size=3).map(tuple)
ATTEMPTS = st.builds(
    Attempt,
    outcome=st.sampled_from([outcome for outcome in Outcome if outcome is not Outcome.ERROR]),
    covered=st.booleans(),
    called=TOOLS,
    missing=TOOLS,
    surplus=TOOLS,
    definition_tokens=st.integers(0, 10**9),
    own_prompt_tokens=st.none() | st.integers(0, 10**9),
    prompt_tokens=st.none() | st.integers(0, 10**9),
    requests=st.integers(0, 99),
    cost_usd=st.none() | st.floats(0, 1000, allow_subnormal=False),
    latency_seconds=st.floats(0, 100),
)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), ATTEMPTS),
        min_size=1,
        max_size=5,
        unique_by=lambda pair: pair[0],
    )
)
def test_a_round_trip_is_the_identity(pairs: list[tuple[str, Attempt]]) -> None:
    cases = {name: CaseEvidence(name, name, "", (attempt,)) for name, attempt in pairs}
    text = format_baseline(WrittenSide(replace(ABOUT, cases=len(cases)), (FULL,), (cases,)))
    baseline = parse_baseline(text, "b.json")
    assert format_baseline(baseline) == text
    assert list(baseline.read(0)) == list(cases), "in the order asked"
    for name, attempt in pairs:
        kept = baseline.read(0)[name].attempts[0]
        assert kept is not None
        assert (kept.outcome, kept.covered, kept.is_right) == (attempt.outcome, attempt.covered, attempt.is_right)
    VALIDATOR.validate(json.loads(text))


def test_E7_how_cases_were_chosen_is_kept_where_not_all_were_asked() -> None:
    chosen = {"kind": ["single"], "limit": 2, "seed": 7}
    saved = format_baseline(side([RIGHT, WRONG], filter=chosen))
    assert parse_baseline(saved, "base.json").about.filter == chosen
    assert '"filter"' not in SAVED


def test_what_a_model_wrote_is_kept_short_and_seen() -> None:
    odd = replace(WRONG, called=("\udc80\u202e" + "x" * 5000,), surplus=("\udc80\u202e" + "x" * 5000,))
    text = format_baseline(side([odd]))
    assert len(text) < 2000
    assert "\u202e" not in text, "what turns text around is spelled out"
    parse_baseline(text, "b.json")
    assert format_baseline(parse_baseline(text, "b.json")) == text


@pytest.mark.parametrize(
    ("unfit", "named"),
    [
        pytest.param(side([RIGHT], drafts=1), "drafts", id="drafts"),
        pytest.param(side([RIGHT], status="running"), "running", id="running"),
        pytest.param(side([RIGHT], status="killed"), ("killed", "toolbelt eval resume"), id="killed"),
        pytest.param(side([RIGHT, None]), "1 trial", id="a-trial-not-run"),
        pytest.param(side([RIGHT, FAILED]), ("1 trial", "error"), id="an-error"),
    ],
)
def test_no_baseline_is_made_of_what_proves_nothing(unfit: WrittenSide, named: object) -> None:
    assert each_mentions(why_unfit(unfit), named)
    assert why_unfit(sample()) == ()


# Reading


def broken(change: Callable[[Any], object]) -> str:
    data = json.loads(SAVED)
    change(data)
    return json.dumps(data, indent=1)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("", "Not JSON", id="empty"),
        pytest.param(SAVED[:-30], "Not JSON", id="cut-off"),
        pytest.param("[" * 5000, "Nested", id="deep"),
        pytest.param(
            SAVED.replace("  ],", "<<<<<<< HEAD\n  ],\n=======\n", 1), "A merge left its marks", id="conflict"
        ),
        pytest.param("[1]", "no baseline", id="a-list"),
        pytest.param('{"a": 1}', "no baseline", id="something-else"),
        pytest.param(SAVED.replace("baseline/1", "baseline/2"), "another version", id="another-version"),
        pytest.param(SAVED.replace('"epochs": 1', '"epochs": NaN'), "nan has no form", id="nan"),
        pytest.param(SAVED.replace('"epochs": 1', '"epochs": 1e999'), "inf", id="infinity"),
        pytest.param(SAVED.replace('"epochs": 1', f'"epochs": {"9" * 4000}'), "a whole number", id="a-huge-number"),
        pytest.param(SAVED.replace('"epochs": 1', f'"epochs": {"9" * 5000}'), "Not JSON", id="too-huge-to-read"),
        pytest.param(SAVED.replace('"epochs": 1', '"epochs": true'), ("`epochs`", "whole number"), id="a-boolean"),
        pytest.param(SAVED.replace('"epochs": 1', '"epochs": 2'), "2 epochs; here are 1", id="epochs"),
        pytest.param(SAVED.replace('"epochs": 1', '"epochs": 1, "epochs": 1'), "twice", id="a-key-twice"),
        pytest.param(SAVED.replace('"c1"', '"c0"'), "'c0' stands here twice", id="a-case-twice"),
        pytest.param(SAVED.replace('"tiered"', '"full"'), "is `arms[0]` again", id="an-arm-twice"),
        pytest.param(SAVED.replace('"correct"', '"corect"', 1), "Did you mean 'correct'", id="an-outcome"),
        pytest.param(SAVED.replace('"correct"', '"error"', 1), "ended with an error", id="an-error"),
        pytest.param(SAVED.replace('"correct"', "7", 1), "cannot be 7", id="a-number-for-an-outcome"),
        pytest.param(SAVED.replace("100, 150", "-1, 150", 1), ("whole number", 0), id="negative"),
        pytest.param(SAVED.replace("100, 150", "1.5, 150", 1), ("whole number", 0), id="half-a-token"),
        pytest.param(SAVED.replace("100, 150", "1e15, 150", 1), ("whole number", 0), id="absurd"),
        pytest.param(SAVED.replace('"right": 1', '"right": 2', 1), "the cases give 1", id="figures"),
        pytest.param(SAVED.replace('"accuracy": 0.5', '"accuracy": 0.9', 1), "give 0.5", id="accuracy"),
        pytest.param(SAVED.replace('"covered": false', '"covered": true'), "left out", id="covered"),
        pytest.param(SAVED.replace('"missing"', '"misssing"'), "Did you mean 'missing'", id="a-key-misspelt"),
        pytest.param(SAVED.replace('["git/log"]', "[7]"), "must be text", id="no-tool"),
        pytest.param(SAVED.replace('"git/log"', '"\\ud800"'), "surrogate", id="half-a-character"),
        pytest.param(broken(lambda data: data.pop("cases")), "needs a `cases`", id="no-cases"),
        pytest.param(broken(lambda data: data.update(cases=[])), "one of `cases` at least", id="empty-cases"),
        pytest.param(broken(lambda data: data.update(arms=[])), "one of `arms` at least", id="empty-arms"),
        pytest.param(broken(lambda data: data.update(arms={})), "`arms` must be a list", id="arms-an-object"),
        pytest.param(broken(lambda data: data.update(dataset="office")), "`dataset` must be an object", id="dataset"),
        pytest.param(broken(lambda data: data.update(dataset={})), "needs a `digest`", id="empty-dataset"),
        pytest.param(broken(lambda data: data.update(code={"toolbelt": 1})), "must be text", id="code"),
        pytest.param(broken(lambda data: data.update(settings=[])), "`settings` must be an object", id="settings"),
        pytest.param(broken(lambda data: data.update(filter=[])), "`filter` must be an object", id="filter"),
        pytest.param(broken(lambda data: data.update(filter={"kinds": []})), "Did you mean 'kind'", id="no-such-flag"),
        pytest.param(broken(lambda data: data.update(filter={"tag": [1]})), "`filter.tag[0]` must be", id="no-tag"),
        pytest.param(broken(lambda data: data.update(filter={"limit": "1"})), "must be a whole number", id="no-limit"),
        pytest.param(broken(lambda data: data["cases"].pop()), "`case_count` says 3", id="a-case-lost"),
        pytest.param(broken(lambda data: data["cases"].append(None)), "must be an object", id="null-for-a-case"),
        pytest.param(broken(lambda data: data["cases"][0]["arms"].pop()), "there are 2 arms", id="an-arm-lost"),
        pytest.param(broken(lambda data: data["cases"][0]["arms"][0].append(5)), "a list of outcome", id="attempt"),
        pytest.param(broken(lambda data: data["columns"].reverse()), "`columns` must be", id="columns"),
    ],
)
def test_every_mistake_is_told_with_its_place(text: str, named: object) -> None:
    with pytest.raises(InvalidFileError) as caught:
        parse_baseline(text, "b.json")
    assert mentions(str(caught.value), named)
    assert all(finding.file == "b.json" for finding in caught.value.findings)
    assert len(caught.value.findings) <= 21


def test_a_merge_that_left_its_marks_is_told_with_its_line() -> None:
    lines = SAVED.splitlines()
    merged = [*lines[:12], "<<<<<<< HEAD", lines[12], "=======", lines[12], ">>>>>>> other", *lines[13:]]
    with pytest.raises(InvalidFileError) as caught:
        parse_baseline("\n".join(merged), "b.json")
    (finding,) = caught.value.findings
    assert finding.place == "b.json:13"
    assert "toolbelt eval baseline save" in finding.message
    marked = SAVED.replace('"c1"', '"<<<<<<< c1"')
    assert "<<<<<<< c1" in parse_baseline(marked, "b.json").read(0), "within a line it is a name like others"


def test_the_line_of_a_mistake() -> None:
    with pytest.raises(InvalidFileError) as caught:
        parse_baseline(SAVED.replace('"wrong_tool"', '"wrong_tol"'), "b.json")
    (finding,) = caught.value.findings
    assert finding.place == "b.json:18"
    assert mentions(finding.message, "`cases[1].arms[0][0][0]`", "wrong_tol", "wrong_tool")


def test_thousands_of_mistakes_are_told_in_brief() -> None:
    with pytest.raises(InvalidFileError) as caught:
        parse_baseline(broken(lambda data: data.update(cases=[None] * 50_000)), "b.json")
    assert len(caught.value.findings) == 21


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.data())
def test_whatever_stands_in_the_place_of_a_value_no_file_crashes(data: st.DataObject) -> None:
    whole = json.loads(SAVED)
    place: Any = whole
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if not (isinstance(place[key], dict | list) and place[key]) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JSON)
    by_lines = parse_lines(_laid_out(whole), "b.json")
    try:
        baseline = parse_baseline(json.dumps(whole), "b.json")
    except ToolbeltError:
        assert by_lines is None
        return
    assert [len(baseline.read(arm)) for arm in (0, 1)] == [3, 3]
    assert by_lines is not None
    assert format_baseline(by_lines) == format_baseline(baseline)


def _laid_out(whole: dict[str, Any]) -> list[str]:
    """The lines of any JSON, its cases a line each."""
    head = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in whole.items() if key != "cases")
    cases = whole["cases"]
    if not isinstance(cases, list) or not cases:
        return json.dumps(whole).splitlines(keepends=True)
    rows = ",\n".join(map(json.dumps, cases))
    return f'{{\n{head}"cases": [\n{rows}\n]\n}}\n'.splitlines(keepends=True)


LINES = SAVED.splitlines(keepends=True)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([json.dumps(json.loads(SAVED))], id="one-line"),
        pytest.param(json.dumps(json.loads(SAVED), sort_keys=True, indent=2).splitlines(keepends=True), id="sorted"),
        pytest.param(LINES[:-1], id="no-end"),
        pytest.param([*LINES, "{}"], id="more-after-it"),
        pytest.param(LINES[:-3], id="cut-between-cases"),
        pytest.param([*LINES[:17], *LINES[18:]], id="a-case-lost"),
        pytest.param([*LINES[:17], LINES[16], *LINES[18:]], id="a-case-twice"),
        pytest.param([line.replace('"solved": 1', '"solved": 2') for line in LINES], id="a-wrong-figure"),
        pytest.param([line.replace('"c1"', '"c1", "case": "c1"') for line in LINES], id="a-key-twice"),
        pytest.param([line.replace("baseline/1", "baseline/2") for line in LINES], id="another-version"),
        pytest.param([line.replace("},\n", "}\n") for line in LINES], id="no-commas"),
        pytest.param([line.replace("150, null, 1, 0]", "150, NaN, 1, 0]") for line in LINES], id="not-a-number"),
        pytest.param([], id="nothing"),
    ],
)
def test_what_is_laid_out_otherwise_or_wrong_is_left_to_whoever_reads_all_of_it(lines: list[str]) -> None:
    assert parse_lines(LINES, "b.json") is not None
    assert lines != LINES
    assert parse_lines(lines, "b.json") is None


def test_thousands_of_cases_are_read_as_they_were_written(tmp_path: Path) -> None:
    wrong = replace(WRONG, missing=("ünï",), surplus=(), called=None)
    written = format_baseline(side([RIGHT, wrong, NOTHING] * 1_001, [wrong, RIGHT, TOO_LONG] * 1_001))
    (tmp_path / "b.json").write_text(written, encoding="utf-8")
    assert format_baseline(read_baseline(tmp_path / "b.json")) == written


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        pytest.param(json.dumps(json.loads(SAVED), sort_keys=True, indent=100), True, id="with-its-keys-sorted"),
        pytest.param(SAVED.replace('"schema": ', '"schema":'), True, id="without-blanks"),
        pytest.param(json.dumps(json.loads(SAVED), sort_keys=True, indent=100)[:-3], True, id="cut"),
        pytest.param(SAVED.replace("toolbelt.baseline/1", "toolbelt.baseline/99"), True, id="of-a-later-version"),
        pytest.param(SAVED.replace("toolbelt.baseline/", "toolbelt.other/"), False, id="another-document"),
        pytest.param(json.dumps({"kept": json.loads(SAVED)}), False, id="what-holds-one"),
        pytest.param(json.dumps({"text": SAVED}), False, id="what-quotes-one"),
        pytest.param(f"See:\n{SAVED}", False, id="a-text-with-one-in-it"),
        pytest.param("[" * 100_000, False, id="deep"),
        pytest.param("{}", False, id="nothing"),
    ],
)
def test_a_baseline_says_what_it_is_wherever_it_does(text: str, is_one: bool, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    assert is_baseline(tmp_path / "b.json") is is_one


def test_files_that_are_none(tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.json"
    with rubbish.open("wb") as file:
        file.write(b"\x93 rubbish ")
        file.truncate(100_000_000)
    started = time.monotonic()
    assert not is_baseline(rubbish)
    with pytest.raises(InvalidFileError, match="no baseline"):
        read_baseline(rubbish)
    assert time.monotonic() - started < 5
    with rubbish.open("wb") as file:
        file.write(b"{")
        file.truncate(300_000_000)
    with pytest.raises(InvalidFileError, match="larger than 256 MB"):
        read_baseline(rubbish)
    rubbish.write_bytes(SAVED.replace("office", "b\xfcro").encode("latin-1"))
    with pytest.raises(InvalidFileError, match="Not UTF-8"):
        read_baseline(rubbish)
    with pytest.raises(InvalidFileError, match="folder"):
        read_baseline(tmp_path)
    with pytest.raises(NotFoundError, match="baseline save"):
        read_baseline(tmp_path / "nowhere.json")
    with pytest.raises(NotFoundError):
        read_baseline(Path("a\0b"))
    assert not is_baseline(Path("a\0b"))
    rubbish.write_bytes(SAVED.encode("utf-16"))
    with pytest.raises(InvalidFileError, match="looks like UTF-16"):
        read_baseline(rubbish)
    rubbish.write_bytes(b"\xef\xbb\xbf" + SAVED.replace("\n", "\r\n").encode())  # as git checks it out on Windows
    assert format_baseline(read_baseline(rubbish)) == SAVED
    rubbish.write_text("\ufeff" + SAVED, encoding="utf-8")
    assert read_baseline(rubbish).about.cases == 3
    assert is_baseline(rubbish)
    assert not is_baseline(tmp_path)


@pytest.mark.parametrize(
    ("new", "named"),
    [
        pytest.param(sample(), "nothing changed", id="nothing"),
        pytest.param(
            side([WRONG, RIGHT, RIGHT], [RIGHT, TOO_LONG, UNCOVERED]),
            ("full", "1 case now wrong", "2 now right"),
            id="flips",
        ),
        pytest.param(
            side([RIGHT, NOTHING, NOTHING], [RIGHT, TOO_LONG, UNCOVERED]),
            "full: 1 case otherwise changed",
            id="otherwise",
        ),
        pytest.param(
            side([RIGHT, WRONG, NOTHING], digest="other"),
            ("dataset changed", "without local/bm25 · tiered"),
            id="dataset-and-arm",
        ),
        pytest.param(
            side([RIGHT, WRONG, NOTHING, RIGHT], [RIGHT, TOO_LONG, UNCOVERED, RIGHT]),
            ("cases were asked", "full: 1 case new", "tiered: 1 case new"),
            id="a-case-more",
        ),
    ],
)
def test_what_changes_is_said_in_a_line(new: WrittenSide, named: object) -> None:
    saved = parse_baseline(format_baseline(new), "new.json")
    assert mentions(describe_changes(parse_baseline(SAVED, "old.json"), saved), named)
