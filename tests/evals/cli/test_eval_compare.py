"""`toolbelt eval compare`: two runs or the arms of one, paired by case (rules E7 and E9)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.evals.cli.test_eval_run import CASES, CATALOG, office
from tests.wording import mentions

__all__ = ["office"]

Compare = Callable[..., Ran]


@pytest.fixture
def run(office: Path, toolbelt: Toolbelt) -> Callable[..., str]:
    """Run an eval over the office; gives its id."""

    def call(*arguments: str) -> str:
        ran = toolbelt("eval", "run", "-d", "office", "--json", *arguments)
        assert ran.code == 0, ran.err
        return str(ran.json["run"])

    return call


@pytest.fixture
def compare(toolbelt: Toolbelt) -> Compare:
    """`toolbelt eval compare`."""
    return lambda *arguments: toolbelt("eval", "compare", *arguments)


def _pairs(ran: Ran) -> list[tuple[str, str]]:
    """Toolsets of the old and the new arms."""
    assert ran.code == 0, ran.err
    return [(pair["a"]["toolset"], pair["b"]["toolset"]) for pair in ran.json["pairs"]]


def test_arms_of_the_latest_run_against_the_first(run: Callable[..., str], compare: Compare) -> None:
    run("-t", "tiered")
    latest = run("-t", "full,loadout,oracle")
    ran = compare("--json")
    assert _pairs(ran) == [("full", "loadout"), ("full", "oracle")]
    assert ran.json["comparable"] is True
    assert ran.json["old"]["name"] == ran.json["new"]["name"] == latest
    assert _pairs(compare(latest[:-1], "--json", "--against", "oracle")) == [("oracle", "full"), ("oracle", "loadout")]


def test_two_runs_arm_by_arm(run: Callable[..., str], compare: Compare) -> None:
    old, new = run("-t", "full,loadout"), run("-t", "loadout,full,oracle")
    ran = compare(old, "latest", "--json")
    assert _pairs(ran) == [("loadout", "loadout"), ("full", "full")]
    assert [arm["toolset"] for arm in ran.json["added"]] == ["oracle"]
    assert (ran.json["old"]["name"], ran.json["new"]["name"]) == (old, new)
    assert any("oracle" in note for note in ran.json["notes"])
    shown = compare(old, new, "--details")
    assert shown.code == 0
    assert f"than in {old}" in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("arguments", "pairs"),
    [
        pytest.param(
            ["--against", "full"], [("full", "loadout"), ("full", "oracle")], id="against-one-of-the-old-side"
        ),
        pytest.param(["--arm", "loadout"], [("loadout", "loadout")], id="one-arm-of-both"),
        pytest.param(["--arm", "loadout", "--against", "full"], [("full", "loadout")], id="one-against-another"),
        pytest.param(["--arm", "#2", "--against", "#1"], [("full", "oracle")], id="by-number"),
    ],
)
def test_which_arms_of_two_runs(
    run: Callable[..., str], compare: Compare, arguments: list[str], pairs: list[tuple[str, str]]
) -> None:
    old, new = run("-t", "full,loadout"), run("-t", "loadout,oracle")
    ran = compare(old, new, "--json", *arguments)
    assert _pairs(ran) == pairs
    assert ran.json["missing"] == []


def test_which_arms_of_one_run(run: Callable[..., str], compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    run("-t", "full,loadout,oracle,tiered")
    assert _pairs(compare("--json", "--arm", "tiered", "--arm", "loadout")) == [("full", "loadout"), ("full", "tiered")]
    assert _pairs(compare("--json", "--arm", "oracle,tiered", "--against", "tiered")) == [("tiered", "oracle")]
    monkeypatch.setenv("TOOLBELT_ARM", "tiered,oracle")
    assert _pairs(compare("--json")) == [("full", "oracle"), ("full", "tiered")]


def test_a_run_against_itself_where_it_is_named_twice(run: Callable[..., str], compare: Compare) -> None:
    name = run("-t", "full")
    ran = compare(name, name, "--json")
    assert _pairs(ran) == [("full", "full")]
    assert [entry["difference"] for entry in ran.json["contrasts"][:2]] == [0.0, 0.0]
    assert ran.json["contrasts"][0]["flipped"] == []
    assert {entry["verdict"] for entry in ran.json["contrasts"][:2]} == {"no_regression"}, "the same answers"


def test_a_baseline_on_either_side(run: Callable[..., str], compare: Compare, toolbelt: Toolbelt) -> None:
    run("-t", "full,loadout")
    assert toolbelt("eval", "baseline", "save", "-o", "base.json").code == 0
    ran = compare("base.json", "latest", "--json")
    assert _pairs(ran) == [("full", "full"), ("loadout", "loadout")]
    assert ran.json["old"]["is_baseline"] is True
    assert _pairs(compare("latest", "base.json", "--json")) == [("full", "full"), ("loadout", "loadout")]
    assert _pairs(compare("base.json", "--json")) == [("full", "loadout")]


def test_E7_a_description_that_hurts_shows_which_case_flipped_to_which_tool(
    office: Path, run: Callable[..., str], compare: Compare
) -> None:
    old = run("-t", "full")
    worse: dict[str, Any] = json.loads(json.dumps(CATALOG))
    worse["plugins"][1]["tools"][1]["description"] = "Nothing of use."
    worse["plugins"][1]["tools"][0]["description"] = "Say where a parcel is at the moment."
    (office / "office" / "catalog.json").write_text(json.dumps(worse))
    new = run("-t", "full")
    ran = compare(old, new, "--json")
    [flip] = ran.json["contrasts"][0]["flipped"]
    assert (flip["case"], flip["change"]) == ("parcel-1", -1.0)
    assert (flip["old"]["called"], flip["new"]["called"]) == (["mail/track_parcel"], ["mail/send_letter"])
    assert ran.json["differences"]
    [pair] = ran.json["pairs"]
    assert {"wanted": "mail/track_parcel", "called": "mail/send_letter", "old": 0, "new": 1} in pair["confusions"]
    shown = compare(old, new, "--flips", "3").out
    assert re.search(r"parcel-1 +single +wrong_tool +mail/track_parcel -> mail/send_letter", shown)
    assert "parcel-1" not in compare(old, new, "--flips", "0").out


def test_E9_what_cannot_be_compared_ends_with_2_and_says_why(
    office: Path, run: Callable[..., str], compare: Compare
) -> None:
    old = run("-t", "full")
    (office / "office" / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in CASES[:2]))
    new = run("-t", "full")
    ran = compare(old, new)
    assert ran.code == 2
    assert ran.out == ""
    error, *reasons = ran.err.splitlines()
    assert mentions(error, "Error", old, new)
    assert reasons
    assert all(reason.startswith("because: ") for reason in reasons)
    data = compare(old, new, "--json", "--output", "why.md")
    assert data.code == 2
    assert data.json["comparable"] is False
    assert [f"because: {reason}" for reason in data.json["reasons"]] == reasons
    assert data.json["contrasts"] == []
    assert "cannot be compared" in (office / "why.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["A"], "a single arm, local/bm25 · full", id="a-single-arm"),
        pytest.param(["A", "nope"], "No run named 'nope'.", id="no-such-run"),
        pytest.param(["2"], "2 runs begin with '2'", id="several-runs"),
        pytest.param(["A", "nope.json"], "No baseline named 'nope.json'", id="no-such-baseline"),
        pytest.param(["B", "--against", "ful"], "Did you mean 'full'?", id="no-such-arm-to-hold-against"),
        pytest.param(["B", "--arm", "loadou"], "Did you mean 'loadout'?", id="no-such-arm"),
        pytest.param(["B", "--arm", "full"], "`against`", id="the-arm-that-the-others-are-held-against"),
        pytest.param(["B", "--against", "local/bm25"], "2 arms have the name 'local/bm25'", id="which-arm"),
        pytest.param(["A", "B", "--arm", "loadout"], "", id="one-arm-each-is-a-pair"),
        pytest.param(["B", "A", "--measure", "tokens"], "'tokens' is not one of", id="no-such-measure"),
        pytest.param(["B", "--margin", "2"], "not in the range", id="a-margin-in-points"),
        pytest.param(["B", "--margin", "nan"], "not a finite number", id="a-margin-that-is-none"),
        pytest.param(["A", "B", "C"], "unexpected extra argument", id="three"),
    ],
)
def test_E9_wrong_use_says_what_would_be_right(
    run: Callable[..., str], compare: Compare, arguments: list[str], says: str
) -> None:
    names = {"A": run("-t", "full"), "B": run("-t", "full,loadout")}
    ran = compare(*(names.get(argument, argument) for argument in arguments))
    assert ran.code == (2 if says else 0), ran.err
    assert says in ran.err
    assert (ran.out == "") is bool(says)


def test_E9_no_arm_in_common(run: Callable[..., str], compare: Compare) -> None:
    old, new = run("-t", "full,loadout"), run("-t", "oracle,tiered")
    ran = compare(old, new)
    assert ran.code == 2
    assert mentions(ran.err, "Error", new, "local/bm25 · oracle", "local/bm25 · tiered", old)
    assert "against" in ran.err
    assert _pairs(compare(old, new, "--against", "full", "--json")) == [("full", "oracle"), ("full", "tiered")]


def test_nothing_has_been_run(compare: Compare) -> None:
    ran = compare()
    assert ran.code == 2
    assert "Nothing has been run" in ran.err


def test_E7_measures_and_margin_are_chosen(run: Callable[..., str], compare: Compare) -> None:
    run("-t", "full,loadout")
    ran = compare("--json", "--measure", "solved", "--margin", "0.5")
    measures = [entry["measure"] for entry in ran.json["contrasts"]]
    assert measures == ["solved", "definition_tokens", "prompt_tokens", "requests", "cost_usd", "latency_seconds"]
    assert ran.json["margin"] == 0.5
    assert isinstance(ran.json["contrasts"][0]["flipped"], list)
    assert "50.0 points" in compare("--margin", "0.5").out


def test_json_is_one_document_that_says_the_same_each_time(run: Callable[..., str], compare: Compare) -> None:
    run("-t", "full,loadout,tiered", "--epochs", "2")
    first, again = compare("--json", "--seed", "7"), compare("--json", "--seed", "7")
    assert first.json["schema"] == "toolbelt.comparison/1"
    assert first.out == again.out
    assert first.err == ""


def test_E10_markdown_is_written_where_it_is_wanted(office: Path, run: Callable[..., str], compare: Compare) -> None:
    name = run("-t", "full,loadout")
    ran = compare("-o", "out/deep/compared.md")
    assert ran.code == 0
    assert ran.err == "note: wrote out/deep/compared.md\n"
    assert (office / "out/deep/compared.md").read_text().startswith(f"# Arms of {name}\n")
    (office / "folder").mkdir()
    refused = compare("-o", "folder")
    assert (refused.code, mentions(refused.err, "Error", "'folder' is a folder")) == (2, True)
    full = compare("-o", "/dev/full")
    assert (full.code, "No space left on device" in full.err) == (3, True)


def test_a_file_that_is_there_is_replaced_when_asked_to_be(
    office: Path, run: Callable[..., str], compare: Compare
) -> None:
    run("-t", "full,loadout")
    (office / "notes.md").write_text("mine")
    refused = compare("-o", "notes.md")
    assert (refused.code, refused.out) == (2, "")
    assert mentions(refused.err, "Error", "notes.md", "--force")
    assert (office / "notes.md").read_text() == "mine"
    (office / "link.md").symlink_to("notes.md")
    assert compare("-o", "link.md", "--force").code == 0
    assert (office / "link.md").is_symlink()
    assert (office / "notes.md").read_text().startswith("# Arms of ")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["latest", "--store", "ax.db", "-o", "ax.db"], ("--store", "--output"), id="the-store"),
        pytest.param(["latest", "--store", "ax.db", "-o", "ax.db-wal"], "file of runs", id="its-log"),
        pytest.param(["latest", "--store", "ax.db", "-o", "ax.db-shm"], "file of runs", id="its-memory"),
        pytest.param(["latest", "--store", "ax.db", "-o", "link"], "the same file", id="through-a-link"),
        pytest.param(["base.json", "latest", "-o", "./base.json"], "A and --output", id="the-old-side"),
        pytest.param(["latest", "base.json", "-o", "base.json"], "B and --output", id="the-new-side"),
    ],
)
def test_what_is_compared_is_not_written_over(
    office: Path,
    run: Callable[..., str],
    toolbelt: Toolbelt,
    compare: Compare,
    arguments: list[str],
    named: object,
) -> None:
    run("-t", "full,loadout", "--store", "ax.db")
    assert toolbelt("eval", "baseline", "save", "-o", "base.json", "--store", "ax.db").code == 0
    (office / "link").symlink_to("ax.db")
    before = {path.name: path.read_bytes() for path in office.iterdir() if path.is_file()}
    for force in ([], ["--force"]):
        ran = compare(*arguments, *force)
        assert (ran.code, ran.out) == (2, "")
        assert mentions(ran.err, named)
    assert {path.name: path.read_bytes() for path in office.iterdir() if path.is_file()} == before


def test_details_of_many_when_asked(run: Callable[..., str], compare: Compare) -> None:
    run("-t", "full,loadout,tiered,oracle,oracle+1")
    assert "coverage contributed" not in compare().out
    assert compare("--details").out.count("coverage contributed") == 4
    assert compare("--arm", "tiered").out.count("coverage contributed") == 1
