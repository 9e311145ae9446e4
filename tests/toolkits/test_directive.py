"""Directives (rule K5): what a message narrows one request to, and never wider than what is available."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import naming
from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.toolkits.directive import (
    DirectiveRule,
    DirectiveRules,
    Narrowed,
    directive,
    format_tool_choice,
    message_text,
    narrow,
)
from toolbelt.toolkits.toolkit import Directive, DirectiveMaker, Toolkit


@pytest.mark.parametrize(
    ("phrase", "message", "found"),
    [
        pytest.param("search", "Please SEARCH it.", True, id="any-case"),
        pytest.param("search", "some research on it", False, id="not-inside-a-word"),
        pytest.param("search", "searches", False, id="not-the-start-of-a-word"),
        pytest.param("search", "re-search", True, id="a-hyphen-parts-words"),
        pytest.param("search", "my_search", False, id="an-underscore-does-not"),
        pytest.param("search", "research, then search", True, id="the-second-occurrence"),
        pytest.param("look  it up", "Look\n it\tup!", True, id="a-phrase-over-any-blanks"),
        pytest.param("look up", "look it up", False, id="a-phrase-is-whole"),
        pytest.param("straße", "Die STRASSE", True, id="sharp-s"),
        pytest.param("café", "cafe\u0301 au lait", True, id="composed-and-decomposed"),
        pytest.param("cafe", "cafe\u0301", False, id="an-accent-is-part-of-the-word"),
        pytest.param("don't", "I don\u2019t know", True, id="a-typographic-apostrophe"),
        pytest.param("поиск", "ПОИСК: файл", True, id="cyrillic"),
        pytest.param("поиск", "поисковик", False, id="cyrillic-inside-a-word"),
        pytest.param("कर", "करो", False, id="a-vowel-sign-is-part-of-the-word"),
        pytest.param("კატა", "კატები და კატა", True, id="georgian"),
        pytest.param("კა", "კატა", False, id="georgian-inside-a-word"),
        pytest.param("搜索", "请搜索一下", True, id="chinese-sets-no-blanks"),
        pytest.param("ai", "用ai工具", True, id="latin-beside-chinese"),
        pytest.param("검색", "검색을 해줘", True, id="korean-particles-are-joined-on"),
        pytest.param("c++", "in C++, please", True, id="edges-that-are-no-letters"),
        pytest.param("c++", "in c", False, id="nothing-is-a-pattern"),
        pytest.param(".*", "anything", False, id="no-regular-expression"),
        pytest.param("search", "", False, id="an-empty-message"),
    ],
)
def test_K5_phrases_are_whole_words(phrase: str, message: str, found: bool) -> None:
    assert DirectiveRule((phrase,)).matches(message) is found


def test_K5_a_lone_phrase_is_a_list_of_one() -> None:
    assert DirectiveRule(cast("Any", "fetch"), cast("Any", "get")) == DirectiveRule(("fetch",), ("get",))


@pytest.mark.parametrize("when", [(), "", ("",), ("fine", " \n"), (3,)], ids=repr)
def test_K5_a_rule_that_waits_for_nothing_is_refused(when: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="directive rule"):
        DirectiveRule(when)


RULES = DirectiveRules(
    (
        DirectiveRule(("find", "search"), ("search", "grep")),
        DirectiveRule(("fetch",), ("fetch",), "fetch"),
        DirectiveRule(("everything",)),
        DirectiveRule(("at once",), ("grep",), "required"),
    )
)
AVAILABLE = ("fetch", "grep", "search")


@pytest.mark.parametrize(
    ("message", "made"),
    [
        pytest.param("hello", None, id="no-rule-matches"),
        pytest.param("find it", Directive(("search", "grep")), id="one-rule"),
        pytest.param("find and fetch it", Directive(("search", "grep", "fetch"), "fetch"), id="union-of-rules"),
        pytest.param("everything", Directive(AVAILABLE), id="no-tools-means-all-members"),
        pytest.param("fetch it at once", Directive(("fetch", "grep"), "required"), id="required-wins"),
    ],
)
def test_K5_what_the_rules_of_a_toolkit_make_of_a_message(message: str, made: Directive | None) -> None:
    assert RULES(message, AVAILABLE) == made


def test_K5_rules_are_cut_to_what_is_available() -> None:
    assert RULES("find and fetch it at once", ("search",)) == Directive(("search",))
    assert RULES("fetch", ("search",)) is None


def silent(message: str, available: Collection[str]) -> Directive | None:
    return None


def says(*active: str, choice: str | None = None) -> DirectiveMaker:
    return lambda message, available: Directive(active, choice)


def union(*makers: DirectiveMaker | None, available: Collection[str] = ("a", "b", "c")) -> Directive | None:
    kits = [Toolkit(f"k{number}", member_tools=("a", "b", "c"), directive=make) for number, make in enumerate(makers)]
    return directive("message", kits, available)


@pytest.mark.parametrize(
    ("makers", "made"),
    [
        pytest.param((), None, id="no-toolkits"),
        pytest.param((None, silent), None, id="nothing-said"),
        pytest.param((says("b"), says("a", "b")), Directive(("b", "a")), id="union-in-registry-order"),
        pytest.param((says("a", "x"),), Directive(("a",)), id="cut-to-what-is-available"),
        pytest.param((says("x", choice="required"),), None, id="required-with-nothing-left-forces-nothing"),
        pytest.param(
            (says("x", choice="required"), says("a", choice="auto")),
            Directive(("a",), "auto"),
            id="required-of-what-is-gone-forces-no-other",
        ),
        pytest.param(
            (says("a", choice="auto"), says("b", choice="required")), Directive(("a", "b"), "required"), id="r"
        ),
        pytest.param((says("a", choice="a"), says("b", choice="required")), Directive(("a", "b"), "required"), id="r2"),
        pytest.param((says("a", choice="a"), says("b", choice="b")), Directive(("a", "b"), "required"), id="conflict"),
        pytest.param((says("a", choice="a"), says("b", choice="a")), Directive(("a", "b"), "a"), id="agreement"),
        pytest.param(
            (says("b", choice="auto"), says("a", choice="a")), Directive(("b", "a"), "a"), id="tool-over-auto"
        ),
        pytest.param((says("b", choice="none"), says("a", choice="auto")), Directive(("b", "a"), "auto"), id="auto"),
        pytest.param((says("b", choice="none"), says("a")), Directive(("b", "a"), "none"), id="none-is-weakest"),
        pytest.param((says("a", choice="x"),), Directive(("a",)), id="a-choice-that-is-gone-falls-back"),
        pytest.param((says("a", choice="c"),), Directive(("a",)), id="a-choice-that-is-not-sent-falls-back"),
        pytest.param((says("a", choice="b"), says("b")), Directive(("a", "b"), "b"), id="a-choice-sent-by-another"),
        pytest.param((says(choice="required"),), None, id="nothing-named"),
    ],
)
def test_K5_what_toolkits_say_together(makers: tuple[DirectiveMaker | None, ...], made: Directive | None) -> None:
    assert union(*makers) == made


def test_K5_a_toolkit_without_a_member_left_is_not_asked() -> None:
    def never(message: str, available: Collection[str]) -> Directive | None:
        raise AssertionError("asked")

    kits = [Toolkit("gone", member_tools=("x",), directive=never), Toolkit("empty", directive=never)]
    assert directive("message", kits, ("a",)) is None


def test_K5_a_toolkit_is_given_its_own_available_members() -> None:
    seen: list[Collection[str]] = []

    def look(message: str, available: Collection[str]) -> Directive | None:
        seen.append(available)
        return None

    directive("m", [Toolkit("k", member_tools=("c", "x", "a"), directive=look)], iter(("a", "b", "c")))
    assert seen == [("c", "a")]


def test_K5_something_else_than_a_directive_is_told_by_its_toolkit() -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("k0", "type list")):
        union(cast("DirectiveMaker", lambda message, available: ["a"]))


KEYS = ("a", "b", "c", "d", "e")
choices = st.one_of(st.none(), st.sampled_from((*KEYS, "required", "auto", "none", "ghost")))
subsets = st.lists(st.sampled_from((*KEYS, "ghost")), unique=True).map(tuple)
said = st.builds(Directive, subsets, choices)
kits = st.lists(st.tuples(subsets, said), max_size=4)


def toolkits_of(given_kits: list[tuple[tuple[str, ...], Directive]]) -> list[Toolkit]:
    return [
        Toolkit(f"k{number}", member_tools=members, directive=says(*made.active_tools, choice=made.tool_choice))
        for number, (members, made) in enumerate(given_kits)
    ]


@given(kits, st.sets(st.sampled_from(KEYS)))
def test_K5_a_directive_is_never_wider_than_what_is_available(
    given_kits: list[tuple[tuple[str, ...], Directive]], available: set[str]
) -> None:
    decided = directive("message", toolkits_of(given_kits), sorted(available))
    if decided is not None:
        assert decided.active_tools
        assert set(decided.active_tools) <= available
        assert decided.tool_choice in (None, "required", "auto", "none", *decided.active_tools)
    narrowed = narrow(KEYS, decided)
    assert set(narrowed.tools) <= set(KEYS)
    assert narrowed.tools == tuple(key for key in KEYS if decided is None or key in decided.active_tools)


@given(kits, st.sets(st.sampled_from(KEYS)), st.randoms())
def test_K5_which_tools_and_what_choice_do_not_depend_on_the_order_of_toolkits(
    given_kits: list[tuple[tuple[str, ...], Directive]], available: set[str], random: Any
) -> None:
    one = directive("message", toolkits_of(given_kits), available)
    shuffled = list(given_kits)
    random.shuffle(shuffled)
    other = directive("message", toolkits_of(shuffled), available)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert set(one.active_tools) == set(other.active_tools)
        assert one.tool_choice == other.tool_choice


TOOLS = Plugin("web", (Tool("search"), Tool("fetch"), Tool("post"))).tools


@pytest.mark.parametrize("form", DEFINITION_FORMATS)
def test_K5_definitions_of_any_provider_are_narrowed_in_their_order(form: str) -> None:
    definitions = [DEFINITION_FORMATS[form](tool, f"web__{tool.name}") for tool in TOOLS]
    names = {tool.id: f"web__{tool.name}" for tool in TOOLS}
    before = repr(definitions)
    narrowed = narrow(definitions, Directive(("web/post", "web/search"), "web/post"), names)
    assert narrowed == Narrowed((definitions[0], definitions[2]), "web__post")
    assert repr(definitions) == before


def test_K5_tools_are_known_by_id_or_name() -> None:
    assert narrow(TOOLS, Directive(("web/post",), "web/post")) == Narrowed((TOOLS[2],), "web/post")
    assert narrow(TOOLS, Directive(("fetch",), "required")) == Narrowed((TOOLS[1],), "required")


def test_K5_a_choice_among_tools_stays_a_key_whatever_they_are_shown_as() -> None:
    narrowed = narrow(TOOLS, Directive(("web/post",), "web/post"), {"web/post": "web__post"})
    assert narrowed == Narrowed((TOOLS[2],), "web/post")


@pytest.mark.parametrize("stranger", [{}, {"name": ["a"]}, {"name": None}, {"function": "a"}, 3, None], ids=repr)
def test_K5_what_is_no_tool_is_not_among_the_active_ones(stranger: Any) -> None:
    assert narrow([{"name": "a"}, stranger], Directive(("a",))) == Narrowed(({"name": "a"},))


@pytest.mark.parametrize(
    ("made", "narrowed"),
    [
        pytest.param(None, Narrowed(("a", "b")), id="no-directive"),
        pytest.param(Directive(("b",), "b"), Narrowed(("b",), "b"), id="narrowed"),
        pytest.param(Directive(("x",), "required"), Narrowed(("a", "b")), id="nothing-left-narrows-and-forces-nothing"),
        pytest.param(Directive(("a", "x"), "x"), Narrowed(("a",)), id="a-choice-that-is-not-sent"),
        pytest.param(Directive((), "none"), Narrowed(("a", "b")), id="nothing-named"),
    ],
)
def test_K5_only_this_request_is_narrowed(made: Directive | None, narrowed: Narrowed[str]) -> None:
    keys = ["a", "b"]
    assert narrow(keys, made) == narrowed
    assert keys == ["a", "b"]


def test_K5_entries_of_rules_become_tools() -> None:
    rules = DirectiveRules(
        (
            DirectiveRule(("x",), ("web", "one"), "one"),
            DirectiveRule(("y",), ("web",), "web"),
            DirectiveRule(("z",), ("gone",), "required"),
            DirectiveRule(("all",), tool_choice="gone"),
        )
    )
    table = {"web": ("web/a", "web/b"), "one": ("p/one",), "gone": ()}
    assert rules.expanded(table.__getitem__).rules == (
        DirectiveRule(("x",), ("web/a", "web/b", "p/one"), "p/one"),
        DirectiveRule(("y",), ("web/a", "web/b"), "required"),
        DirectiveRule(("all",)),
    )


IMAGE = {"type": "image_url", "image_url": {"url": "data:,search"}}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param("fetch it", "fetch it", id="text"),
        pytest.param(None, "", id="none"),
        pytest.param([], "", id="no-parts"),
        pytest.param(
            [{"type": "text", "text": "fetch"}, IMAGE, {"type": "text", "text": "it"}], "fetch\nit", id="parts"
        ),
        pytest.param(({"type": "input_text", "text": "fetch"}, "it"), "fetch\nit", id="of-other-clients"),
        pytest.param([IMAGE, {"type": "text"}, {"type": "text", "text": None}, 3], "", id="nothing-to-read"),
        pytest.param([{"type": "tool_result", "text": "fetch"}], "", id="a-part-that-is-no-text-of-the-user"),
        pytest.param({"role": "user", "content": [{"type": "text", "text": "a"}]}, "a", id="a-whole-message"),
        pytest.param({"role": "user", "content": None}, "", id="a-message-without-content"),
        pytest.param({"type": "text", "text": "a"}, "a", id="a-lone-part"),
    ],
)
def test_K5_the_text_of_a_message(message: object, text: str) -> None:
    assert message_text(message) == text


@pytest.mark.parametrize("message", [3, b"fetch", object], ids=["number", "bytes", "type"])
def test_K5_what_is_no_message_is_told(message: object) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("message", "text", "list")):
        directive(message, [], [])


def test_K5_a_message_of_parts_narrows_as_its_text_does() -> None:
    kits = [Toolkit("k", member_tools=AVAILABLE, directive=RULES)]
    parts = [IMAGE, {"type": "text", "text": "please fetch"}]
    assert (
        directive(parts, kits, AVAILABLE)
        == directive("please fetch", kits, AVAILABLE)
        == Directive(("fetch",), "fetch")
    )


@pytest.mark.parametrize("message", [None, "", " \n", [], [IMAGE]], ids=["none", "empty", "blank", "no-parts", "image"])
def test_K5_without_words_no_toolkit_is_asked(message: object) -> None:
    kits = [Toolkit("k", member_tools=("a",), directive=says("a", choice="required"))]
    assert directive("x", kits, ("a",)) is not None
    assert directive(message, kits, ("a",)) is None


@pytest.mark.parametrize("choice", [5, "", " ", ["a"], True], ids=repr)
def test_K5_a_choice_that_is_no_text_is_refused(choice: Any) -> None:
    for make in (lambda: Directive(("a",), choice), lambda: DirectiveRule(("w",), ("a",), choice)):
        with pytest.raises(InvalidDefinitionError, match=naming("required", "auto", "none")):
            make()


def test_K5_a_choice_of_nothing_that_is_sent_is_dropped() -> None:
    kits = [Toolkit("k", member_tools=("a",), directive=says("a", choice="requierd"))]
    assert directive("m", kits, ("a",)) == Directive(("a",))
    assert narrow(("a", "b"), Directive(("a",), "requierd")) == Narrowed(("a",))


@pytest.mark.parametrize(
    ("form", "sent"),
    [
        pytest.param("openai", {"type": "function", "function": {"name": "web_search"}}, id="openai"),
        pytest.param("litellm", {"type": "function", "function": {"name": "web_search"}}, id="litellm"),
        pytest.param("anthropic", {"type": "tool", "name": "web_search"}, id="anthropic"),
    ],
)
def test_K5_what_is_narrowed_to_can_be_sent(form: str, sent: object) -> None:
    registry = ToolRegistry([ExecutableTool(name, function=lambda: "") for name in ("web.search", "fetch")])
    definitions = registry.to_definitions(form=form)
    by_name = narrow(definitions, Directive(("web.search",), "web.search"), registry.wire_names)
    ids = {tool.id: registry.wire_names[tool.name] for tool in registry.catalog.tools}
    by_id = narrow(definitions, Directive(("web.search/web.search",), "web.search/web.search"), ids)
    assert by_name == by_id == Narrowed((definitions[0],), "web_search")
    assert by_name.tool_choice_for(form) == by_name.tool_choice_for(form, {"web_search": "other"}) == sent
    keys = narrow(("web.search", "fetch"), Directive(("web.search",), "web.search"))
    assert keys.tool_choice_for(form, registry.wire_names) == sent
    assert narrow(definitions, None).tool_choice_for(form) is None
    with pytest.raises(NotFoundError, match="form of a tool choice"):
        by_name.tool_choice_for("mcp")


@pytest.mark.parametrize(
    ("made", "applied"),
    [
        pytest.param(None, False, id="no-directive"),
        pytest.param(Directive(("a",)), True, id="one-that-narrows"),
        pytest.param(Directive(("a", "b"), "required"), True, id="one-that-keeps-all"),
        pytest.param(Directive(("p/a",), "required"), False, id="one-by-other-keys"),
    ],
)
def test_K5_whether_a_directive_did_anything_is_told(made: Directive | None, applied: bool) -> None:
    assert narrow(("a", "b"), made).applied is applied


FUNCTION = {"type": "function", "function": {"name": "web_search"}}


@pytest.mark.parametrize(
    ("choice", "openai", "anthropic"),
    [
        pytest.param(None, None, None, id="nothing"),
        pytest.param("required", "required", {"type": "any"}, id="required-is-any"),
        pytest.param("auto", "auto", {"type": "auto"}, id="auto"),
        pytest.param("none", "none", {"type": "none"}, id="none"),
        pytest.param("web_search", FUNCTION, {"type": "tool", "name": "web_search"}, id="a-tool"),
        pytest.param("web.search", FUNCTION, {"type": "tool", "name": "web_search"}, id="a-tool-by-its-key"),
    ],
)
def test_K5_a_choice_as_a_provider_takes_it(choice: str | None, openai: object, anthropic: object) -> None:
    names = {"web.search": "web_search", "required": "other"}
    assert format_tool_choice(choice, "openai", names) == openai
    assert format_tool_choice(choice, "litellm", names) == openai
    assert format_tool_choice(choice, "anthropic", names) == anthropic


@pytest.mark.parametrize("form", ["mcp", "lite", "antropic"])
def test_K5_a_form_without_choices_is_refused(form: str) -> None:
    with pytest.raises(NotFoundError, match=naming("tool choice", form)):
        format_tool_choice(None, form)
