"""What holds of the toolkits of any agent, whatever is kept and whatever is asked for (rules D5, D6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.toolkits.toolkit import Toolkit

KEYS = ("k0", "k1", "k2", "k3", "k4")
OVERRIDES: dict[str, dict[str, Any]] = {"none": {}, "one": {"x": 1}, "yes": {"x": True}, "one as a float": {"x": 1.0}}
SAME = {"one as a float": "one"}
"""What is written otherwise and means the same."""
Said = Mapping[str, str]
"""By tool, a key of `OVERRIDES`."""


@dataclass(frozen=True)
class Project:
    """A configuration as it is written."""

    static: Said
    kits: Mapping[str, Said]
    allowed: tuple[str, ...]
    initial: frozenset[str]

    @property
    def dynamic(self) -> DynamicToolkits:
        kits = [Toolkit(key, member_tools=tuple(said), overrides=overrides_of(said)) for key, said in self.kits.items()]
        initial = tuple(sorted(self.initial))
        return DynamicToolkits(
            AgentSpec("a", tuple(self.static), self.allowed, initial, overrides_of(self.static)), kits
        )

    def goes_with(self, key: str, others: Iterable[str]) -> bool:
        """Whether a toolkit says nothing else of any tool than the static ones and the others do (rule D6)."""
        said = self.kits[key]
        return all(
            SAME.get(said[tool], said[tool]) == SAME.get(there[tool], there[tool])
            for there in (self.static, *(self.kits[other] for other in others))
            for tool in said.keys() & there.keys()
        )

    def loaded(self, stored: list[str]) -> list[str]:
        """Rule D5, word by word: merge the initial ones, drop unknown, not allowed, conflicting; order by allowed."""
        merged = {*stored, *self.initial}
        left = [key for key in self.allowed if key in merged]
        staying = [key for key in left if key in self.initial]
        for key in left:
            if key not in staying and self.goes_with(key, staying):
                staying.append(key)
        return sorted(staying, key=self.allowed.index)


def overrides_of(said: Said) -> dict[str, dict[str, Any]]:
    return {tool: OVERRIDES[what] for tool, what in said.items() if OVERRIDES[what]}


@st.composite
def projects(draw: st.DrawFn) -> Project:
    said = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([*OVERRIDES]), max_size=3)
    static = draw(st.dictionaries(st.sampled_from("abcd"), st.sampled_from([*OVERRIDES]), max_size=1))
    kits = {key: draw(said) for key in KEYS}
    allowed = tuple(draw(st.permutations(KEYS))[: draw(st.integers(0, len(KEYS)))])
    wished = draw(st.sets(st.sampled_from(KEYS), max_size=2))
    project = Project(static, kits, allowed, frozenset())
    initial: list[str] = []
    for key in allowed:
        if key in wished and project.goes_with(key, initial):
            initial.append(key)
    return Project(static, kits, allowed, frozenset(initial))


STORED = st.lists(st.sampled_from((*KEYS, "gone")))


@settings(deadline=None, max_examples=70)
@given(projects(), STORED)
def test_D5_what_is_kept_becomes_what_the_rule_says(project: Project, stored: list[str]) -> None:
    restored = project.dynamic.restore(stored)
    assert list(restored.loaded) == project.loaded(stored)
    assert [drop.toolkit for drop in restored.dropped] == [
        key for key in dict.fromkeys(stored) if key not in restored.loaded
    ]
    for drop in restored.dropped:
        words = "no longer there" if drop.toolkit == "gone" else "can no longer be loaded"
        assert ("no longer allowed" if drop.toolkit in {*KEYS} - {*project.allowed} else words) in drop.reason


@settings(deadline=None, max_examples=60)
@given(projects(), STORED, st.lists(st.tuples(st.booleans(), st.sampled_from(KEYS))))
def test_D5_D6_whatever_happens_what_is_loaded_can_be_merged(
    project: Project, stored: list[str], steps: list[tuple[bool, str]]
) -> None:
    dynamic = project.dynamic
    loaded = dynamic.restore(stored).loaded
    for is_load, key in steps:
        answer, after = (dynamic.load if is_load else dynamic.unload)(key, loaded)
        assert (after == loaded) == (answer["status"] not in ("loaded", "unloaded"))
        assert (answer["status"] == "conflict") == (
            is_load and key in project.allowed and key not in loaded and not project.goes_with(key, loaded)
        )
        assert json.loads(json.dumps(answer)) == answer
        loaded = after
        keys = [tool.key for tool in dynamic.merge(loaded)]  # raises where there is a conflict
        expected = [*project.static, *(tool for kit in loaded for tool in project.kits[kit])]
        assert keys == list(dict.fromkeys(expected))
        assert set(keys) <= set(dynamic.reachable_keys())
        assert dynamic.restore(reversed(loaded)).loaded == loaded
