"""What changes for an agent between two loadouts."""

from __future__ import annotations

import pytest

from toolbelt import Catalog, Plugin, Tool, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts import Status
from toolbelt.loadouts.diff import Change, LoadoutDiff, diff_resolutions

CATALOG = Catalog(
    (
        Plugin("git", (Tool("status"), Tool("push"))),
        Plugin("web", (Tool("fetch"),)),
        Plugin("docker", (Tool("ps"),)),
        Plugin("shell", (Tool("run"),)),
    )
)
TOKENS = ToolTokens({"git/status": 1, "git/push": 10, "web/fetch": 100, "docker/ps": 1_000, "shell/run": 5}, "t", True)
create = ToolLoadoutBuilder.create
BEFORE = create("before").add_plugin("git").add_plugin("shell").add_discoverable("docker").build()
AFTER = create("after").add_plugin("git/status").add_plugin("web").add_plugin("docker").disable("shell").build()


def diff(a: ToolLoadout, b: ToolLoadout, labels: tuple[str, str] | None = None) -> LoadoutDiff:
    one, two = (ToolLoadoutRegistry([loadout]).resolve(loadout.name, CATALOG) for loadout in (a, b))
    return diff_resolutions(one, two, TOKENS, labels)


def test_plugins_and_tools_whose_status_differs_in_catalog_order() -> None:
    found = diff(BEFORE, AFTER)
    assert found.plugins == (
        Change("web", "web", Status.HIDDEN, Status.ACTIVE),
        Change("docker", "docker", Status.DISCOVERABLE, Status.ACTIVE),
        Change("shell", "shell", Status.ACTIVE, Status.DISABLED),
    )
    assert found.tools == (
        Change("git/push", "git", Status.ACTIVE, Status.HIDDEN),
        Change("web/fetch", "web", Status.HIDDEN, Status.ACTIVE),
        Change("docker/ps", "docker", Status.DISCOVERABLE, Status.ACTIVE),
        Change("shell/run", "shell", Status.ACTIVE, Status.DISABLED),
    )


def test_the_json_of_a_diff() -> None:
    assert diff(BEFORE, AFTER).to_dict() == {
        "a": "before",
        "b": "after",
        "same": False,
        "plugins": {
            "added": ["web", "docker"],
            "removed": ["shell"],
            "changed": [
                {"name": "web", "before": "hidden", "after": "active"},
                {"name": "docker", "before": "discoverable", "after": "active"},
                {"name": "shell", "before": "active", "after": "disabled"},
            ],
        },
        "tools": {
            "added": ["web/fetch", "docker/ps"],
            "removed": ["git/push", "shell/run"],
            "changed": [
                {"name": "git/push", "before": "active", "after": "hidden"},
                {"name": "web/fetch", "before": "hidden", "after": "active"},
                {"name": "docker/ps", "before": "discoverable", "after": "active"},
                {"name": "shell/run", "before": "active", "after": "disabled"},
            ],
        },
        "tokens": {"a": 16, "b": 1_101, "difference": 1_085, "tokenizer": "t"},
    }


def test_turned_round_it_says_the_opposite() -> None:
    there, back = diff(BEFORE, AFTER), diff(AFTER, BEFORE)
    assert [(change.name, change.after, change.before) for change in there.tools] == [
        (change.name, change.before, change.after) for change in back.tools
    ]
    assert [change.appears for change in there.tools] == [change.disappears for change in back.tools]
    assert there.to_dict()["tokens"]["difference"] == -back.to_dict()["tokens"]["difference"]


def test_a_loadout_against_itself_is_the_same() -> None:
    found = diff(BEFORE, BEFORE)
    assert found.is_same
    assert found.plugins == found.tools == ()


def test_the_same_written_otherwise_is_the_same() -> None:
    assert diff(create("a").add_plugin("git").build(), create("b").include_category("git").build()).is_same


def test_what_nobody_sees_changes_too() -> None:
    found = diff(create("a").build(), create("b").disable("git").add_discoverable("docker/ps").build())
    assert not found.is_same
    assert [(change.name, change.after) for change in found.plugins] == [
        ("git", Status.DISABLED),
        ("docker", Status.DISCOVERABLE),
    ]
    assert not any(change.appears or change.disappears for change in (*found.plugins, *found.tools))
    assert found.tokens_a == found.tokens_b == 0


@pytest.mark.parametrize(
    ("labels", "shown"), [(None, ("before", "after")), (("old.yaml", "new.yaml"), ("old.yaml", "new.yaml"))]
)
def test_two_versions_of_one_may_be_labelled(labels: tuple[str, str] | None, shown: tuple[str, str]) -> None:
    found = diff(BEFORE, AFTER, labels)
    assert (found.a, found.b) == shown
