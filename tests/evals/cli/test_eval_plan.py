"""`toolbelt eval plan`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions


def test_E7_a_table_over_discordances(toolbelt: Toolbelt) -> None:
    ran = toolbelt("eval", "plan", "--effect", "0.03")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "discordance  cases to see 3.0%\n"
        "5%                         463\n"
        "10%                        920\n"
        "20%                      1,800\n"
        "30%                      2,677\n"
        "\n"
        "At a power of 80% and a level of 95%, two-sided, by the tests of verdicts. The discordance "
        "is the share of cases that just one of the two arms answers rightly. A case here stands alone and is asked\n"
        "once: paraphrases of one task count for less (--cluster-size), and epochs for less than as many cases.\n"
    )


def test_E7_what_so_many_cases_show(toolbelt: Toolbelt) -> None:
    wanted = ("--effect", "0.03", "--margin", "0.02", "--cases", "724", "--discordance", "0.2")
    found = toolbelt("eval", "plan", *wanted, "--json").json
    (row,) = found.pop("rows")
    assert found == {
        "effect": 0.03,
        "margin": 0.02,
        "cases": 724,
        "power": 0.8,
        "level": 0.95,
        "cluster_size": 1,
        "correlation": 1,
    }
    assert row == {
        "discordance": 0.2,
        "cases_for_effect": 1800,
        "cases_for_margin": 3935,
        "least_effect": pytest.approx(0.0476, abs=1e-3),
        "least_margin": pytest.approx(0.0468, abs=1e-3),
        "power_for_effect": pytest.approx(0.41, abs=0.01),
        "power_for_margin": pytest.approx(0.22, abs=0.01),
    }


@pytest.mark.parametrize(
    ("clusters", "cases"),
    [
        pytest.param(("--cluster-size", "3"), 3 * 1800, id="all-together-count-once"),
        pytest.param(("--cluster-size", "3", "--correlation", "0"), 1800, id="each-by-itself-counts"),
        pytest.param(("--cluster-size", "3", "--correlation", "0.4"), 3240, id="between"),
        pytest.param(("--correlation", "0.4"), 1800, id="alone-nothing-is-correlated"),
    ],
)
def test_E7_cases_in_clusters_count_for_less(toolbelt: Toolbelt, clusters: tuple[str, ...], cases: int) -> None:
    wanted = ("eval", "plan", "--effect", "0.03", "--discordance", "0.2", *clusters)
    assert toolbelt(*wanted, "--json").json["rows"][0]["cases_for_effect"] == cases
    (row,) = toolbelt(*wanted, "--cases", str(cases), "--json").json["rows"]
    assert 0.799 < row["power_for_effect"] < 0.81


def test_E7_clusters_are_told(toolbelt: Toolbelt) -> None:
    out = toolbelt("eval", "plan", "--effect", "0.03", "--cluster-size", "2.5", "--correlation", "0.4").out
    assert mentions(out, "clusters of 2.5", "0.4")


def test_few_cases_show_nothing(toolbelt: Toolbelt) -> None:
    rows = toolbelt("eval", "plan", "--cases", "5", "--json").json["rows"]
    assert [row["least_effect"] for row in rows] == [None] * 5
    assert "nothing" in toolbelt("eval", "plan", "--cases", "5").out


def test_an_effect_beyond_every_usual_discordance_is_its_own(toolbelt: Toolbelt) -> None:
    rows = toolbelt("eval", "plan", "--effect", "0.6", "--json").json["rows"]
    assert [row["discordance"] for row in rows] == [0.6]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param((), "Say what is wanted", id="nothing-asked"),
        pytest.param(
            ("--effect", "0.3", "--discordance", "0.1"), "--discordance is at least --effect", id="impossible"
        ),
        pytest.param(("--effect", "nan"), "not a finite number", id="nan"),
        pytest.param(("--effect", "3"), "not in the range", id="percent"),
        pytest.param(("--effect", "0"), "not in the range", id="no-effect"),
        pytest.param(("--margin", "1"), "not in the range", id="everything-may-be-lost"),
        pytest.param(("--effect", "0.1", "--power", "1"), "not in the range", id="certainty"),
        pytest.param(("--effect", "0.1", "--cluster-size", "0.5"), "not in the range", id="half-a-case"),
        pytest.param(("--effect", "0.1", "--correlation", "1.5"), "not in the range", id="more-than-alike"),
        pytest.param(("--cases", "0"), "not in the range", id="no-cases"),
    ],
)
def test_E9_wrong_use_exits_2(toolbelt: Toolbelt, arguments: tuple[str, ...], says: str) -> None:
    ran = toolbelt("eval", "plan", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert says in " ".join(ran.err.split())


def test_C_the_environment_gives_what_flags_do_not(toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLBELT_EFFECT", "0.1")
    monkeypatch.setenv("TOOLBELT_DISCORDANCE", "0.2")
    assert toolbelt("eval", "plan", "--json").json["effect"] == 0.1


def test_it_starts_without_the_half_of_scipy_it_does_not_need(project: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "toolbelt", "eval", "plan", "--effect", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert done.returncode == 0
    assert not loaded & {"scipy.stats", "scipy.optimize", "pandas", "matplotlib", "litellm"}
