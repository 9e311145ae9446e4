"""Somebody's first hour: 20 cases in a CSV and six Python functions, from an empty folder to a page and a gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions

TOOLS = '''\
"""Tools of a small shop."""

from typing import Literal


def find_order(order_id: str) -> dict:
    """Look up one order by its number."""
    return {"id": order_id}


def refund_order(order_id: str, amount: float | None = None) -> str:
    """Pay an order back, whole or in part.

    Args:
        order_id: The order's number.
        amount: Euros to pay back; everything if left out.
    """
    return "ok"


def track_parcel(parcel: str) -> str:
    """Say where a parcel is now."""
    return "here"


def search_products(words: str, limit: int = 10) -> list[str]:
    """Find products by words."""
    return []


def change_address(order_id: str, street: str, city: str) -> str:
    """Send an order that has not left to another address."""
    return "ok"


def contact_support(topic: Literal["damage", "delay"], message: str) -> str:
    """Open a ticket with a person at support."""
    return "ok"
'''
CASES = """\
input,expected,arguments
Where is order A-17?,find_order,"{""order_id"": ""A-17""}"
What did I buy with order B-3?,find_order,"{""order_id"": ""B-3""}"
Show me order C-9 please,find_order,"{""order_id"": ""C-9""}"
Give me my money back for A-17,refund_order,"{""order_id"": ""A-17""}"
Refund 5 euros of order B-3,refund_order,"{""order_id"": ""B-3"", ""amount"": 5}"
I want order D-1 paid back,refund_order,"{""order_id"": ""D-1""}"
Where is my parcel 1Z99?,track_parcel,"{""parcel"": ""1Z99""}"
Track 4711 for me,track_parcel,"{""parcel"": ""4711""}"
Has parcel 88 arrived?,track_parcel,"{""parcel"": ""88""}"
Do you sell red shoes?,search_products,"{""words"": ""red shoes""}"
Find me a blue lamp,search_products,"{""words"": ""blue lamp""}"
Show 3 garden chairs,search_products,"{""words"": ""garden chairs"", ""limit"": 3}"
Send order A-17 to Main St 1 in Bonn,change_address,"{""order_id"": ""A-17"", ""city"": ""Bonn""}"
I moved: order B-3 goes to Elm 4 in Kiel,change_address,
My cup arrived broken,contact_support,"{""topic"": ""damage""}"
My order is two weeks late,contact_support,"{""topic"": ""delay""}"
I need a human,contact_support,
Thanks!,none,
What is the capital of France?,none,
Hello,none,
"""
RUN = ("eval", "run", "--dataset", "cases.csv", "--catalog", "shoptools.py")
DEFAULT_OF_THE_ACTION = "full,loadout,tiered"


@pytest.fixture(autouse=True)
def _files(project: Path) -> None:
    (project / "shoptools.py").write_text(TOOLS)
    (project / "cases.csv").write_text(CASES)


def test_one_command_goes_from_a_table_and_functions_to_a_page(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt(*RUN, "--report")
    assert ran.code == 0, ran.err
    assert mentions(ran.err, "read shoptools.py as Python tools", "input → query; expected → expected; arguments →")
    assert mentions(ran.err, "20 cases, 6 tools", "toolbelt dataset import cases.csv -o FOLDER")
    (page,) = (path.read_text() for path in (project / "reports").rglob("*.html"))
    assert "No case has a role" in page
    assert "20 cases of cases" in page


def test_the_toolsets_of_the_action_run_and_what_is_left_out_is_said_everywhere(toolbelt: Toolbelt) -> None:
    ran = toolbelt(*RUN, "--toolset", DEFAULT_OF_THE_ACTION, "--json")
    assert ran.code == 0, ran.err
    assert [arm["toolset"] for arm in ran.json["arms"]] == ["full", "tiered"]
    (note,) = ran.json["settings"]["toolset_notes"]
    assert mentions(note, "no case has a role", "'loadout' is left out", "toolbelt loadout create")
    assert note in ran.err
    assert mentions(toolbelt("eval", "show").out, "No case has a role")


def test_the_one_loadout_of_the_project_stands_for_the_roles(toolbelt: Toolbelt) -> None:
    created = toolbelt("loadout", "create", "desk", "--plugin", "shoptools/find*", "--catalog", "shoptools.py")
    assert created.code == 0, created.err
    ran = toolbelt(*RUN, "--toolset", DEFAULT_OF_THE_ACTION, "--json")
    assert [arm["toolset"] for arm in ran.json["arms"]] == ["full", "loadout:desk", "tiered"]
    assert mentions(ran.json["settings"]["toolset_notes"][0], "'loadout' is 'loadout:desk'")


def test_a_run_is_resumed_and_gated_without_the_files_that_it_was_read_from(toolbelt: Toolbelt, project: Path) -> None:
    assert toolbelt(*RUN, "--max-requests", "10").code == 3
    (project / "shoptools.py").unlink()
    resumed = toolbelt("eval", "resume")
    assert resumed.code == 0, resumed.err
    assert toolbelt("eval", "baseline", "save", "-o", "baseline.json").code == 0
    (project / "shoptools.py").write_text(TOOLS)
    (project / "cases.csv").write_text(CASES.replace("input,", "user,"))  # by the words, so that ids stay
    assert toolbelt(*RUN).code == 0
    compared = toolbelt("eval", "compare", "baseline.json", "latest", "--json")
    assert compared.json["comparable"] is True


def test_rows_that_are_left_out_are_told_with_their_reason(toolbelt: Toolbelt, project: Path) -> None:
    (project / "cases.csv").write_text(
        'user,expected,arguments\nWhere is A?,find_order,"{""order_id"": 1}"\nAnd B?,,\nAnd C?,find_ordr,\n'
        "And D?,find_order,order D\n"
    )
    ran = toolbelt(*RUN, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["planned"] == 2
    assert mentions(ran.err, "cases.csv:3", "write none where none is")
    assert mentions(ran.err, "cases.csv:4", "Did you mean 'find_order'")
    assert mentions(ran.err, "The arguments must be JSON of an object", "not 'order D'")


def test_without_a_catalog_the_command_names_what_would_do(toolbelt: Toolbelt) -> None:
    ran = toolbelt("eval", "run", "--dataset", "cases.csv")
    assert ran.code == 2
    assert mentions(ran.err, "--catalog", "tools.json", "shoptools.py")


def test_a_run_without_a_dataset_names_the_table_that_is_there(toolbelt: Toolbelt) -> None:
    ran = toolbelt("eval", "run", "--catalog", "shoptools.py")
    assert ran.code == 2
    assert mentions(ran.err, "toolbelt eval run --dataset cases.csv --catalog shoptools.py")


def test_a_catalog_beside_the_table_is_taken(toolbelt: Toolbelt) -> None:
    assert toolbelt("catalog", "import", "shoptools.py", "-o", "catalog.json").code == 0
    ran = toolbelt("eval", "run", "--dataset", "cases.csv", "--json")
    assert (ran.code, ran.json["planned"]) == (0, 40), ran.err


@pytest.mark.parametrize("toolset", ["loadout:research", "oracle+9"])
def test_L10_a_toolset_that_shows_nothing_is_left_out_unless_it_is_the_only_one(
    toolbelt: Toolbelt, toolset: str
) -> None:
    ran = toolbelt(*RUN, "--toolset", f"full,{toolset}", "--json")
    assert [arm["toolset"] for arm in ran.json["arms"]] == ["full"]
    assert mentions(ran.err, f"warning: left out {toolset}")
    alone = toolbelt(*RUN, "--toolset", toolset)
    assert (alone.code, alone.out) == (2, "")
    assert mentions(alone.err, "No toolset is left", toolset)


def test_M2_code_that_only_a_file_names_is_not_imported(toolbelt: Toolbelt, project: Path) -> None:
    (project / "shoptools.py").write_text("open('imported', 'w').close()\n" + TOOLS)
    (project / "toolbelt.yaml").write_text("catalog: shoptools.py\n")
    for command in (("catalog", "stats"), ("eval", "run", "--dataset", "cases.csv")):
        ran = toolbelt(*command)
        assert (ran.code, ran.out) == (2, ""), ran.err
        assert mentions(ran.err, "not approved", "--catalog shoptools.py")
    (project / "toolbelt.yaml").unlink()
    (project / ".env").write_text("TOOLBELT_CATALOG=shoptools.py\n")
    assert mentions(toolbelt("catalog", "stats").err, "ignored in .env", "TOOLBELT_CATALOG")
    folder = project / "cases"
    folder.mkdir()
    (folder / "cases.jsonl").write_text(json.dumps({"query": "Hello", "expected": []}))
    (folder / "card.yaml").write_text("catalog: ../shoptools.py\n")
    refused = toolbelt("eval", "run", "--dataset", "cases")
    assert mentions(refused.err, "is Python code", "toolbelt catalog import")
    assert not (project / "imported").exists()
    assert toolbelt("catalog", "stats", "--catalog", "shoptools.py").code == 0
    assert (project / "imported").exists()


def test_a_run_over_code_goes_on_without_importing_it(toolbelt: Toolbelt, project: Path) -> None:
    rows = [{"input": "Refund A-17", "expected": [{"tool": "refund_order"}]}, {"question": "Hello", "expected": []}]
    (project / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ran = toolbelt("eval", "run", "-d", "cases.jsonl", "-c", "shoptools.py", "-t", "full", "--max-requests", "1")
    assert ran.code == 3, ran.err
    (project / "shoptools.py").unlink()
    resumed = toolbelt("eval", "resume", "--json")
    assert (resumed.code, resumed.json["scored"]) == (0, 2), resumed.err
