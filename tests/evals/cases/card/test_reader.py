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
    ("old", "new", "line", "says"),
    [
        pytest.param("name: mine", "nam: mine", 1, "no key 'nam'. Did you mean 'name'?", id="unknown-key"),
        pytest.param("licence: MIT", "license: MIT", 3, "Did you mean 'licence'?", id="the-other-spelling"),
        pytest.param("licence: MIT", "licence: Apache 2.0", 3, "Did you mean 'Apache-2.0'?", id="no-spdx"),
        pytest.param("summary: What is asked.", "summary: [x]", 2, "`summary` must be text", id="summary"),
        pytest.param("[en, de]", "[en, no]", 4, "Put `no` in quotes", id="norwegian"),
        pytest.param("[en, de]", "en", 4, "must be a list of texts", id="languages"),
        pytest.param("cases: 2", "cases: two", 7, "`cases` must be a whole number", id="a-count"),
        pytest.param("cases: 2", "cases: true", 7, "not true", id="a-count-that-is-true"),
        pytest.param("  clusters: 2\n", "", 6, "lacks `clusters`", id="a-count-is-missing"),
        pytest.param('{"": 2}', "[2]", 9, "must map kinds to counts", id="kinds"),
        pytest.param("a" * 64, "abc", 11, "64 hexadecimal digits", id="digest"),
        pytest.param("agreed: 1", "agreed: 3", 16, "more than the 2 of the `sample`", id="more-agreed-than-read"),
        pytest.param("sample: 2", "sample: 0", 14, "at least 1", id="an-empty-sample"),
        pytest.param("reader: A colleague", "raeder: x", 13, "Did you mean 'reader'?", id="a-key-of-a-reading"),
        pytest.param("seed: 7", "seed: x", 15, "`seed` must be a whole number", id="seed"),
        pytest.param("case: b", "case: psh-1", 18, "Did you mean 'push-1'? Where it was taken out", id="no-such-case"),
        pytest.param("case: gone", "case: a", 19, "so it was not `removed`", id="a-case-that-is-there-is-not-removed"),
        pytest.param("[a, b]", "[a, bb]", 21, "No case named 'bb'", id="a-case-of-an-ambiguity"),
        pytest.param("text: Near.", "txt: Near.", 21, "lacks `text`", id="an-ambiguity-without-text"),
        pytest.param("  - {cases: [a, b], text: Near.}", "  - near", 21, "must be a mapping", id="no-mapping"),
    ],
)
def test_every_mistake_of_a_card_is_told_with_its_line(mine: Dataset, old: str, new: str, line: int, says: str) -> None:
    assert old in WHOLE
    found = examine_card(WHOLE.replace(old, new, 1), "card.yaml", mine).errors
    assert any(says in finding.message and finding.line == line for finding in found), found


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
