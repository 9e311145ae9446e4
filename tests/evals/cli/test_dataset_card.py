from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cases.samples import case, write_dataset, write_lines
from tests.wording import mentions
from toolbelt.evals.cases.dataset import open_dataset

ABOUT = 'summary: "What is \\e[31m asked."\nlicence: MIT\nlanguages: [en]\nmade: By hand.\n'
READ = """\
readings:
  - {reader: a colleague, sample: 1, seed: 3, agreed: 1}
ambiguities:
  - {cases: [a], text: Comes near.}
"""


@pytest.fixture
def mine(project: Path) -> Path:
    return write_dataset(project / "mine", [case(kind="single"), case(id="b", query="Hi.", expected=[], kind="none")])


def test_a_card_is_begun_held_against_the_cases_and_brought_up_to_date(toolbelt: Toolbelt, mine: Path) -> None:
    path = mine / "card.yaml"
    ran = toolbelt("dataset", "card", "mine", "--json")
    assert (ran.code, ran.json["exists"], ran.json["agrees"]) == (1, False, False)
    assert not path.exists()
    ran = toolbelt("dataset", "card", "mine", "--write")
    assert ran.code == 0
    assert "written" in ran.out.splitlines()
    assert "began mine/card.yaml" in ran.err
    path.write_text(path.read_text().replace("name: mine\n", f"name: mine  # mine\n{ABOUT}") + READ)
    assert toolbelt("dataset", "card", "mine").code == 0
    before = path.read_text()
    write_dataset(
        mine,
        [
            case(kind="single"),
            case(id="b", query="Hi.", expected=[], kind="none", role="developer"),
            case(id="c", query="Log.", kind="more"),
        ],
    )
    ran = toolbelt("dataset", "card", "mine", "--json")
    assert (ran.code, ran.err) == (1, "")
    assert [one["key"] for one in ran.json["differences"]] == ["cases", "clusters", "kinds.more", "digest"]
    assert path.read_text() == before
    assert mentions(toolbelt("dataset", "card", "mine").out, "cases", 2, 3)
    assert toolbelt("dataset", "card", "mine", "--write").code == 0
    digest = open_dataset("mine").digest
    assert f"digest: {digest}\n" in path.read_text().replace('"', "")
    assert before.startswith("# What people should know")
    assert [line for line in path.read_text().splitlines() if line not in before.splitlines()] == [
        "  cases: 3",
        "  clusters: 3",
        "    more: 1",
        *[line for line in path.read_text().splitlines() if line.startswith("  digest")],
    ]
    assert "is up to date" in toolbelt("dataset", "card", "mine", "--write").err


def test_the_likeness_of_the_queries_is_shown_beside_the_references_and_is_no_part_of_the_card(
    toolbelt: Toolbelt, mine: Path
) -> None:
    toolbelt("dataset", "card", "mine", "--write")
    likeness = toolbelt("dataset", "card", "mine", "--json").json["likeness"]
    assert (likeness["queries"], likeness["sources"].keys()) == (2, {"real", "bfcl_live"})
    assert likeness["traits"]["words_50"] == {
        "value": 3,
        "of": 2,
        "reference": {"low": 10, "high": 21, "bfcl_live": 14},
        "is_far": True,
    }
    assert "likeness" not in (mine / "card.yaml").read_text()
    assert mentions(toolbelt("dataset", "card", "mine").out, "words (median)", "10–21", "BFCL live")


def test_queries_are_separated_from_those_of_references(
    toolbelt: Toolbelt, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(project / "mine", [case(id=f"{n}", query=f"Send {'x' * n} off!") for n in range(30)])
    write_lines(project / "theirs.jsonl", [{"query": f"what is {'y' * n} here"} for n in range(40)])
    toolbelt("dataset", "card", "mine", "--write")
    ran = toolbelt("dataset", "card", "mine", "--json", "--against", "theirs.jsonl", "--against", "mine")
    assert ran.code == 0
    theirs, itself = ran.json["against"]
    assert (theirs["reference"], theirs["queries"], theirs["of"], theirs["reference_of"]) == (
        "theirs.jsonl",
        30,
        30,
        40,
    )
    assert (theirs["words"]["value"], theirs["style"]["high"]) == (1.0, 1.0)
    assert itself["words"]["value"] < 0.8
    assert {*theirs["marks"][0]} == {"text", "share", "other_share"}
    assert toolbelt("dataset", "card", "mine", "--json").json["against"] == []
    monkeypatch.setenv("TOOLBELT_DATASET_CARD_AGAINST", "theirs.jsonl,mine")
    assert mentions(toolbelt("dataset", "card", "mine").out, "theirs.jsonl", "mine", "1.00", "AUC")


@pytest.mark.parametrize(
    ("reference", "data"), [("nowhere", ("nowhere", "assistant")), ("few.jsonl", ("few.jsonl", 1))]
)
def test_a_reference_that_does_not_do_exits_2(
    toolbelt: Toolbelt, mine: Path, reference: str, data: tuple[object, ...]
) -> None:
    write_lines(mine.parent / "few.jsonl", [{"query": "Hi."}])
    write_dataset(mine, [case(id=f"{n}", query=f"Send {n} off.") for n in range(30)])
    ran = toolbelt("dataset", "card", "mine", "--against", reference)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, *data)


def test_show_prints_the_card_with_escapes_spelled_out(toolbelt: Toolbelt, mine: Path) -> None:
    toolbelt("dataset", "card", "mine", "--write")
    path = mine / "card.yaml"
    path.write_text(path.read_text() + ABOUT + READ)
    ran = toolbelt("dataset", "show", "mine")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1:6] == [
        "summary    What is \\x1b[31m asked.",
        "licence    MIT",
        "languages  en",
        "made       By hand.",
        "read       1 of 1 agreed by a colleague (seed 3)",
    ]
    assert "\nAmbiguities  1\n  a: Comes near.\n" in ran.out
    data = toolbelt("dataset", "show", "mine", "--json").json
    assert data["card"]["readings"] == [
        {"reader": "a colleague", "sample": 1, "seed": 3, "agreed": 1, "disagreements": []}
    ]
    assert data["card"]["content"]["kinds"] == {"none": 1, "single": 1}
    path.write_text(path.read_text().replace("cases: 2", "cases: 3"))
    assert mentions(toolbelt("dataset", "show", "mine").err, "note", "card")


def test_show_prints_long_texts_whole_and_of_many_ambiguities_the_first(toolbelt: Toolbelt, mine: Path) -> None:
    rows = "".join(f"  - {{cases: [a, a, a, a], text: {'word ' * 50}}}\n" for _ in range(30))
    said = "readings:\n  - {reader: R, sample: 2, agreed: 1, disagreements: [{case: b, why: W., done: D.}]}\n"
    (mine / "card.yaml").write_text(f"name: mine\nmade: {'x ' * 500}the end\n{said}ambiguities:\n{rows}")
    out = toolbelt("dataset", "show", "mine").out
    assert "the end" in out
    assert "  b: W. D.\n" in out
    assert "\n… and 5 more (--json)\n" in out
    assert open_dataset("mine").digest in out


def test_a_card_is_held_against_the_cases_also_where_another_catalog_is_given(toolbelt: Toolbelt, mine: Path) -> None:
    toolbelt("dataset", "card", "mine", "--write")
    path = mine / "card.yaml"
    path.write_text(path.read_text().replace("cases: 2", "cases: 7"))
    other = ["--catalog", str(mine / "catalog.json")]
    assert toolbelt("dataset", "card", "mine", *other).code == 1
    assert "out of date" in toolbelt("dataset", "show", "mine", *other).err
    assert "card-stale" in toolbelt("dataset", "lint", "mine", *other).out


def test_a_pipe_in_the_place_of_a_card_is_refused_and_not_waited_for(toolbelt: Toolbelt, mine: Path) -> None:
    os.mkfifo(mine / "card.yaml")
    for command in (["show"], ["lint"], ["card"], ["card", "--write"]):
        ran = toolbelt("dataset", command[0], "mine", *command[1:])
        assert ran.code == 2
        assert "read as a card" in ran.out + ran.err


def test_show_tells_drafts_and_tools_that_are_no_answer(toolbelt: Toolbelt, project: Path) -> None:
    write_dataset(project / "mine", [case(draft=True), case(id="b", query="x", expected=[{"tool": "search"}])])
    out = toolbelt("dataset", "show", "mine").out
    assert mentions(out, "2 of 5 tools", "git/git_log", "file/read", "web/read")
    assert "drafts    1, not reviewed yet\n" in out
    data = toolbelt("dataset", "show", "mine", "--json").json
    assert (data["drafts"], data["answered"], data["card"]) == (1, 2, None)
    assert data["unanswered"] == ["git/git_log", "file/read", "web/read"]


@pytest.mark.parametrize("arguments", [["card", "mine"], ["show", "mine"], ["card", "mine", "--write"]])
def test_E9_mistakes_of_a_card_exit_2_with_their_lines(toolbelt: Toolbelt, mine: Path, arguments: list[str]) -> None:
    (mine / "card.yaml").write_text("nam: x\nambiguities: [{cases: [c], text: t}]\n")
    ran = toolbelt("dataset", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "mine/card.yaml:1: error", "`nam`", "nam", "name")
    assert mentions(ran.err, "mine/card.yaml:2: error", "c")


def test_mistakes_of_content_alone_are_mended_by_write(toolbelt: Toolbelt, mine: Path) -> None:
    (mine / "card.yaml").write_text(f"name: mine\n{ABOUT}content: {{cases: many}}\n")
    assert toolbelt("dataset", "card", "mine").code == 2
    assert toolbelt("dataset", "card", "mine", "--write").code == 0
    assert toolbelt("dataset", "card", "mine").code == 0
    assert toolbelt("dataset", "lint", "mine", "--strict").code == 0


def test_lint_tells_a_stale_card_with_its_file(toolbelt: Toolbelt, mine: Path) -> None:
    toolbelt("dataset", "card", "mine", "--write")
    (mine / "card.yaml").write_text((mine / "card.yaml").read_text().replace("cases: 2", "cases: 3") + ABOUT)
    [finding] = toolbelt("dataset", "lint", "mine", "--json").json["findings"]
    assert (finding["rule"], finding["file"]) == ("card-stale", "mine/card.yaml")


def test_a_shipped_dataset_is_written_only_where_its_folder_is_named(toolbelt: Toolbelt) -> None:
    ran = toolbelt("dataset", "card", "assistant", "--write")
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "assistant")


def test_a_file_of_another_name_has_no_card(toolbelt: Toolbelt, mine: Path) -> None:
    (mine / "cases.jsonl").rename(mine / "others.jsonl")
    ran = toolbelt("dataset", "card", "mine/others.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert "stands beside a cases.jsonl" in ran.err
    assert json.loads(toolbelt("dataset", "show", "mine/others.jsonl", "--json").out)["card"] is None
