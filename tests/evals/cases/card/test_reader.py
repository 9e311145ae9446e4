from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.samples import case, write_dataset
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.card.card import Ambiguity, Card, Content, Disagreement, Reading, card_path
from toolbelt.evals.cases.card.reader import MAX_BYTES, examine_card, read_card
from toolbelt.evals.cases.dataset import Dataset, open_dataset

WHOLE = f"""\
name: mine
summary: What is asked.
licence: MIT
languages: [en, de]
made: By hand.
content:
  cases: 2
  clusters: 2
  kinds: {{"": 2}}
  answered_tools: 1
  digest: {"a" * 64}
readings:
  - reader: A colleague
    sample: 2
    seed: 7
    agreed: 1
    disagreements:
      - {{case: b, why: Unclear., done: Reworded.}}
      - {{case: gone, why: Wrong., done: Taken out., removed: true}}
ambiguities:
  - {{cases: [a, b], text: Near.}}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Dataset:
    rows = [case(id="a"), case(id="b", query="Else."), case(id="push-1", query="Push.")]
    return open_dataset(str(write_dataset(tmp_path / "mine", rows)))


def test_a_whole_card(mine: Dataset) -> None:
    examined = examine_card(WHOLE, "card.yaml", mine)
    assert examined.findings == ()
    assert examined.card == Card(
        name="mine",
        summary="What is asked.",
        licence="MIT",
        languages=("en", "de"),
        made="By hand.",
        content=Content(cases=2, clusters=2, kinds={"": 2}, answered_tools=1, digest="a" * 64),
        readings=(
            Reading(
                "A colleague",
                sample=2,
                agreed=1,
                seed=7,
                disagreements=(
                    Disagreement("b", "Unclear.", "Reworded."),
                    Disagreement("gone", "Wrong.", "Taken out.", removed=True),
                ),
            ),
        ),
        ambiguities=(Ambiguity(("a", "b"), "Near."),),
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "rule", "mentions"),
    [
        pytest.param("name: mine", "nam: mine", 1, "unknown-key", "'name'", id="unknown-key"),
        pytest.param("licence: MIT", "license: MIT", 3, "unknown-key", "'licence'", id="the-other-spelling"),
        pytest.param("licence: MIT", "licence: Apache 2.0", 3, "unknown-licence", "'Apache-2.0'", id="no-spdx"),
        pytest.param("summary: What is asked.", "summary: [x]", 2, "wrong-type", "`summary`", id="summary"),
        pytest.param("[en, de]", "[en, true]", 4, "wrong-type", "quotes", id="a-language-that-is-true"),
        pytest.param("[en, de]", "en", 4, "wrong-type", "`languages`", id="languages"),
        pytest.param("cases: 2", "cases: two", 7, "wrong-type", "`content.cases`", id="a-count"),
        pytest.param("cases: 2", "cases: true", 7, "wrong-type", "true", id="a-count-that-is-true"),
        pytest.param("  clusters: 2\n", "", 6, "missing-field", "`clusters`", id="a-count-is-missing"),
        pytest.param('{"": 2}', "[2]", 9, "wrong-type", "`content.kinds`", id="kinds"),
        pytest.param("a" * 64, "abc", 11, "wrong-type", "`content.digest`", id="digest"),
        pytest.param("agreed: 1", "agreed: 3", 16, "more-than-sample", "2", id="more-agreed-than-read"),
        pytest.param("sample: 2", "sample: 0", 14, "wrong-type", "`readings[0].sample`", id="an-empty-sample"),
        pytest.param("reader: A colleague", "raeder: x", 13, "unknown-key", "'reader'", id="a-key-of-a-reading"),
        pytest.param("seed: 7", "seed: x", 15, "wrong-type", "`readings[0].seed`", id="seed"),
        pytest.param("case: b", "case: psh-1", 18, "unknown-case", "'push-1'", id="no-such-case"),
        pytest.param("case: gone", "case: a", 19, "not-removed", "'a'", id="a-case-that-is-there-is-not-removed"),
        pytest.param("[a, b]", "[a, bb]", 21, "unknown-case", "'bb'", id="a-case-of-an-ambiguity"),
        pytest.param("text: Near.", "txt: Near.", 21, "missing-field", "`text`", id="an-ambiguity-without-text"),
        pytest.param(
            "  - {cases: [a, b], text: Near.}", "  - near", 21, "wrong-type", "`ambiguities[0]`", id="no-mapping"
        ),
    ],
)
def test_every_mistake_of_a_card_is_reported_with_its_line(
    mine: Dataset, old: str, new: str, line: int, rule: str, mentions: str
) -> None:
    assert old in WHOLE
    errors = examine_card(WHOLE.replace(old, new, 1), "card.yaml", mine).errors
    reported = [finding for finding in errors if (finding.rule, finding.line) == (rule, line)]
    assert any(mentions in finding.message for finding in reported), errors


def test_all_mistakes_are_told_at_once(mine: Dataset) -> None:
    text = "nam: x\nlicence: a b\ncontent: 1\nreadings: {}\nambiguities: [1]\n"
    told = [finding.rule for finding in examine_card(text, "card.yaml", mine).findings]
    assert told == ["missing-field", "unknown-key", "unknown-licence", "wrong-type", "wrong-type", "wrong-type"]


def test_a_reading_that_does_not_say_what_was_wrong_is_doubtful(mine: Dataset) -> None:
    text = "name: x\nsummary: s\nlicence: MIT\nlanguages: [en]\nmade: m\nreadings: [{reader: r, sample: 9, agreed: 7}]"
    [finding] = examine_card(text, "card.yaml", mine).findings
    assert (finding.rule, finding.severity, finding.line) == ("unexplained-disagreement", "warning", 6)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("name: [", id="broken"),
        pytest.param("- name", id="a-list"),
        pytest.param("", id="empty"),
        pytest.param("[" * 5000, id="very-deep"),
        pytest.param("name: \x1b[31m", id="a-raw-escape"),
        pytest.param(
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)),
            id="multiplying-aliases",
        ),
        pytest.param("name: x\n" + "#" * MAX_BYTES, id="huge"),
    ],
)
def test_a_hostile_card_is_refused(mine: Dataset, tmp_path: Path, text: str) -> None:
    (tmp_path / "card.yaml").write_text(text)
    with pytest.raises(InvalidFileError):
        read_card(tmp_path / "card.yaml", mine)


def test_no_card_is_none(mine: Dataset, tmp_path: Path) -> None:
    assert read_card(tmp_path / "card.yaml", mine) is None


@pytest.mark.parametrize(
    ("source", "path"),
    [
        pytest.param("mine/cases.jsonl", Path("mine/card.yaml"), id="a-folder"),
        pytest.param("mine/others.jsonl", None, id="another-file-has-none"),
    ],
)
def test_where_a_card_is(source: str, path: Any) -> None:
    assert card_path(source) == path
