"""The first loadout of a synced catalog (rule M3)."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.mcp.sync.starter import choose_starter, format_starter

READS = {"readOnlyHint": True}


def plugin(name: str, *tools: str, server: str = "", reads: bool = False) -> Plugin:
    members = tuple(Tool(tool, annotations=READS if reads else {}) for tool in tools)
    return Plugin(name, members, server=server or name)


CATALOG = Catalog(
    (
        plugin("cloud-keys", "k1", "k2", server="cloud"),
        plugin("cloud-logs", "l1", "l2", server="cloud", reads=True),
        plugin("git", "log", "push"),
        plugin("time", "now", reads=True),
    )
)
TOKENS = {tool.id: 100 for tool in CATALOG.tools}


def test_M3_small_servers_go_before_groups_and_what_reads_before_what_writes() -> None:
    chosen = {budget: choose_starter(CATALOG, TOKENS, budget).plugins for budget in (100, 300, 500, 700)}
    assert chosen == {
        100: ("time",),
        300: ("git", "time"),
        500: ("cloud-logs", "git", "time"),
        700: ("cloud-keys", "cloud-logs", "git", "time"),
    }


def test_M3_something_is_active_even_if_nothing_fits() -> None:
    assert choose_starter(CATALOG, TOKENS, 1).plugins == ("time",)
    assert choose_starter(Catalog(), {}, 1).plugins == ()


@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.integers(1, 2000))
def test_M3_the_budget_is_kept_by_whole_plugins(sizes: list[int], budget: int) -> None:
    catalog = Catalog(tuple(plugin(f"p{n}", f"t{n}") for n in range(len(sizes))))
    tokens = {f"p{n}/t{n}": size for n, size in enumerate(sizes)}
    starter = choose_starter(catalog, tokens, budget)
    assert starter.tokens == sum(tokens[f"{name}/t{name[1:]}"] for name in starter.plugins)
    assert starter.tokens <= budget or starter.plugins == (min(zip(sizes, tokens, strict=True))[1].partition("/")[0],)
    left = [tokens[f"p{n}/t{n}"] for n in range(len(sizes)) if f"p{n}" not in starter.plugins]
    assert starter.tokens > budget or all(starter.tokens + size > budget for size in left), "what fits is in"


def test_M3_the_file_explains_the_choice_and_makes_the_rest_discoverable() -> None:
    text = format_starter(choose_starter(CATALOG, TOKENS, 300))
    assert yaml.safe_load(text)["discoverable"] == ["*"]
    comment = " ".join(line[2:] for line in text.splitlines() if line.startswith("# "))
    for fact in ("700 tokens", "2 of 4 plugins", "300 tokens", "discoverable"):
        assert fact in comment
    assert "discoverable" not in yaml.safe_load(format_starter(choose_starter(CATALOG, TOKENS, 700)))
