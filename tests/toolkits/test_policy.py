"""Policies (rules K4, K7): what the prompt says depends on what is available, and only on that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import naming
from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.toolkits.policy import (
    PolicyLine,
    PolicySection,
    PolicyText,
    build_policy,
    build_policy_section,
    find_named_members,
    policy_sections,
)
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec

POLICY = PolicyText.of(
    "To run programs, use {tools}.",
    per_tool={"run_python": "Only the standard library.", "run_shell": "Never as root."},
    unavailable="No code execution is available.",
)
CODE = Toolkit("code", member_tools=("run_python", "run_shell", "list_files"), policy=POLICY)


@pytest.mark.parametrize(
    ("available", "said"),
    [
        pytest.param(
            ("list_files", "run_shell", "run_python", "other"),
            "To run programs, use run_python, run_shell, list_files.\nOnly the standard library.\nNever as root.",
            id="all-in-the-toolkits-order",
        ),
        pytest.param(("run_shell",), "To run programs, use run_shell.\nNever as root.", id="one"),
        pytest.param(("list_files",), "To run programs, use list_files.", id="one-without-a-line"),
        pytest.param((), "No code execution is available.", id="none-left"),
        pytest.param(("other", "RUN_SHELL", "run_shell2"), "No code execution is available.", id="strangers"),
    ],
)
def test_K4_a_section_names_only_what_is_available(available: tuple[str, ...], said: str) -> None:
    assert build_policy_section(CODE, available) == said
    assert build_policy_section(CODE, iter(available)) == said


MEMBERS = ("alpha_1", "beta_2", "gamma_3")


@given(st.sets(st.sampled_from(MEMBERS)))
def test_K4_no_missing_member_is_ever_named(there: set[str]) -> None:
    policy = PolicyText("Use {tools}.", tuple(PolicyLine((m,), f"{m}: with {{tools}}") for m in MEMBERS), "Nothing.")
    said = build_policy_section(Toolkit("kit", member_tools=MEMBERS, policy=policy), there) or ""
    assert {member for member in MEMBERS if member in said} == there


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("Use `alpha_1`. Use `beta_2` with care! Be quick.", "Use `alpha_1`. Be quick.", id="sentences"),
        pytest.param("- alpha_1 reads\n- beta_2 writes\n- {tools}", "- alpha_1 reads\n- alpha_1", id="lines"),
        pytest.param("Never run beta_2 or gamma_3.", None, id="nothing-left"),
        pytest.param("beta_22 and a-beta_2 are others.", "beta_22 and a-beta_2 are others.", id="parts-of-words"),
    ],
)
def test_K4_a_sentence_that_names_a_missing_member_is_left_out(text: str, said: str | None) -> None:
    assert build_policy_section(Toolkit("kit", member_tools=MEMBERS, policy=text), ("alpha_1",)) == said
    policy = PolicyText("", (PolicyLine(("alpha_1",), text),))
    assert build_policy_section(Toolkit("kit", member_tools=MEMBERS, policy=policy), ("alpha_1",)) == said


def test_K4_a_name_that_an_available_member_has_too_stays() -> None:
    toolkit = Toolkit("kit", member_tools=("git/log", "docker/log"), policy="Read with `log`. Not `docker/log`.")
    assert build_policy_section(toolkit, ("git/log",)) == "Read with `log`."


@given(
    st.lists(st.sampled_from((*MEMBERS, "and", "use.", "`beta_2`!", "\n", "{tools},"))),
    st.sets(st.sampled_from(MEMBERS)),
)
def test_K4_no_missing_member_is_ever_named_by_a_plain_text(words: list[str], there: set[str]) -> None:
    said = build_policy_section(Toolkit("kit", member_tools=MEMBERS, policy=" ".join(words)), there) or ""
    assert not {member for member in MEMBERS if member in said} - there


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        pytest.param(("git/log", "web/log"), {"git/log": "git__log", "web/log": "web__log"}, id="ids-by-ids"),
        pytest.param(("git/log", "web/get"), {"log": "git__log", "get": "web__log"}, id="ids-by-names"),
        pytest.param(("log", "get"), {"git/log": "git__log", "web/get": "web__log"}, id="names-by-ids"),
    ],
)
def test_K4_names_are_given_by_name_or_by_id(keys: tuple[str, ...], names: dict[str, str]) -> None:
    catalog = ToolkitCatalog(tuple(map(ToolSpec, keys)), (Toolkit("kit", member_tools=keys, policy="Use {tools}."),))
    assert build_policy(catalog, keys, names=names) == "Use git__log, web__log."


def test_K4_a_name_of_one_plugin_is_not_the_name_of_another() -> None:
    keys = ("git/log", "web/log", "web/get")
    catalog = ToolkitCatalog(tuple(map(ToolSpec, keys)), (Toolkit("kit", member_tools=keys, policy="Use {tools}."),))
    assert build_policy(catalog, keys, names={"web/log": "w"}) == "Use git/log, w, web/get."


def test_K4_names_of_other_tools_are_refused_and_not_ignored() -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("'mcp__git__log'", "'z'")):
        build_policy(CATALOG, ("x",), names={"mcp__git__log": "log"})
    with pytest.raises(InvalidDefinitionError, match="names="):
        build_policy(CATALOG, ("x",), {"x": "x2"})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('Answer as {"tool": {tools}}.', 'Answer as {"tool": a, b}.', id="json-around-it"),
        pytest.param("{tools} and {tools}", "a, b and a, b", id="twice"),
        pytest.param("write {{tools}} for {tools}", "write {tools} for a, b", id="the-literal"),
        pytest.param("{0} {} {x!r:>10} {{}} }{ {tools", "{0} {} {x!r:>10} {{}} }{ {tools", id="no-format-string"),
        pytest.param("100 % of %s %(tools)s $tools \\1 \\g<0>", "100 % of %s %(tools)s $tools \\1 \\g<0>", id="others"),
        pytest.param("{Tools} { tools }", "{Tools} { tools }", id="only-as-spelled"),
        pytest.param("  padded \n", "padded", id="stripped"),
    ],
)
def test_K4_braces_are_themselves(text: str, said: str) -> None:
    assert PolicyText(text)(("a", "b")) == said
    assert build_policy_section(Toolkit("kit", member_tools=("a", "b"), policy=text), ("a", "b")) == said


def test_K4_a_name_that_looks_like_a_place_is_not_filled_again() -> None:
    assert PolicyText("Use {tools}.")(("{tools}", "\\1")) == "Use {tools}, \\1."


def test_K4_a_line_for_several_tools_is_said_once_of_those_that_are_there() -> None:
    policy = PolicyText("", (PolicyLine(("a", "b", "c"), "Careful with {tools}."),))
    assert policy(("c", "a")) == "Careful with a, c."
    assert policy(("d",)) is None


def test_K4_what_the_model_is_shown_may_differ_from_the_key() -> None:
    toolkit = Toolkit("web", member_tools=("web/search", "web/fetch"), policy="Use {tools}.")
    names = {"web/search": "web__search"}
    assert build_policy_section(toolkit, ("web/fetch", "web/search"), names) == "Use web__search, web/fetch."


@pytest.mark.parametrize("policy", [None, "", "  \n", PolicyText(), PolicyText(unavailable="gone")], ids=repr)
def test_K4_nothing_to_say_is_none(policy: Any) -> None:
    assert build_policy_section(Toolkit("kit", member_tools=("a",), policy=policy), ("a",)) is None


def test_K4_a_function_gets_the_members_that_are_available_in_order() -> None:
    asked: list[Sequence[str]] = []

    def make(available: Sequence[str]) -> str | None:
        asked.append(available)
        return f"You have {len(available)}." if available else "You have none."

    toolkit = Toolkit("kit", member_tools=("b", "a"), policy=make)
    assert build_policy_section(toolkit, ("a", "x", "b")) == "You have 2."
    assert build_policy_section(toolkit, ("x",)) == "You have none."
    assert asked == [("b", "a"), ()]


@pytest.mark.parametrize("made", [3, ["text"], b"text", False], ids=repr)
def test_K4_a_function_that_gives_no_text_is_told_by_its_toolkit(made: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("policy", "kit", "text")):
        build_policy_section(Toolkit("kit", member_tools=("a",), policy=lambda _: made), ("a",))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: PolicyText(3), id="text"),  # type: ignore[arg-type]
        pytest.param(lambda: PolicyText(unavailable=None), id="unavailable"),  # type: ignore[arg-type]
        pytest.param(lambda: PolicyText.of("x", {"a": True}), id="line"),  # type: ignore[dict-item]
    ],
)
def test_K4_a_policy_that_is_no_text_is_refused(make: Callable[[], PolicyText]) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"text, not .* (int|NoneType|bool)"):
        make()


def executable(name: str, policy: str) -> ExecutableTool:
    return ExecutableTool(name, function=lambda: None, policy=policy)


CATALOG = ToolkitCatalog(
    (ToolSpec("z", policy="About z."), ToolSpec("y"), ToolSpec("x", policy="About x."), ToolSpec("w", policy=" ")),
    (Toolkit("second", member_tools=("x", "y"), policy="Second: {tools}."), Toolkit("first", policy=PolicyText("F"))),
)


def test_K4_sections_follow_registry_order_then_single_tools_then_other_tools() -> None:
    brought = (executable("sub_app_tool", "About the sub-app."), executable("y", "About y."), executable("x", "No."))
    available = ("sub_app_tool", "w", "x", "y", "z")
    assert policy_sections(CATALOG, available, brought) == (
        PolicySection("toolkit", "second", "Second: x, y."),
        PolicySection("tool", "z", "About z."),
        PolicySection("tool", "y", "About y."),
        PolicySection("tool", "x", "About x."),
        PolicySection("tool", "sub_app_tool", "About the sub-app."),
    )
    assert build_policy(CATALOG, available, brought) == (
        "Second: x, y.\n\nAbout z.\n\nAbout y.\n\nAbout x.\n\nAbout the sub-app."
    )


def test_K7_the_policy_of_a_tool_that_is_not_available_is_not_said() -> None:
    assert build_policy(CATALOG, ("x",), (executable("gone", "About what is gone."),)) == "Second: x.\n\nAbout x."
    assert build_policy(CATALOG, ()) == ""


@pytest.mark.parametrize("key", ["a", "a/a", "p/b", "b"])
def test_K7_a_tool_brings_its_policy_whether_keys_are_names_or_ids(key: str) -> None:
    own = ExecutableTool("b", function=lambda: None, plugin="p", policy="About it.")
    brought = (executable("a", "About it."), own, executable("c", "Not there."))
    assert policy_sections(ToolkitCatalog(), (key,), brought) == (PolicySection("tool", key, "About it."),)
    catalog = ToolkitCatalog((ToolSpec(key),))
    assert policy_sections(catalog, (key,), brought) == (PolicySection("tool", key, "About it."),)


def test_K7_a_single_tools_policy_is_taken_as_it_is() -> None:
    catalog = ToolkitCatalog((ToolSpec("a", policy='{tools} {"x": 1} {}'),))
    assert build_policy(catalog, ("a",)) == '{tools} {"x": 1} {}'


def test_K4_the_same_text_is_said_once() -> None:
    tools = tuple(executable(name, "Ask before you write.") for name in ("a", "b"))
    assert build_policy(ToolkitCatalog(), ("a", "b"), tools) == "Ask before you write."


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("Use run_python, then read.", ("run_python",), id="an-identifier"),
        pytest.param("run_python_fast and my-run_python", (), id="part-of-a-longer-name"),
        pytest.param("You may search the web.", (), id="a-plain-word-in-prose"),
        pytest.param("Call `search` or 'search'.", ("search",), id="a-plain-word-in-code"),
        pytest.param("search(query) finds it", ("search",), id="a-plain-word-called"),
        pytest.param("git/git_push or git_push", ("git/git_push",), id="by-path-or-bare"),
        pytest.param("Then git_push.", ("git/git_push",), id="by-bare-name"),
        pytest.param("readFile first", ("readFile",), id="camel-case-is-no-plain-word"),
        pytest.param("Use {tools}.", (), id="the-place"),
        pytest.param("* first\n* second", (), id="a-pattern-is-no-name"),
    ],
)
def test_K4_a_text_that_names_a_member_outright_is_found(text: str, named: tuple[str, ...]) -> None:
    assert find_named_members(text, ("run_python", "search", "git/git_push", "readFile", "git/*")) == named
