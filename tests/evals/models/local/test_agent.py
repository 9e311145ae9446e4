"""The offline baseline plays the agent by what it is shown alone (rule E2)."""

from __future__ import annotations

import gc
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.models.local.asking import (
    BROWSE,
    LOAD,
    TOOLS,
    calls,
    complete,
    offer,
    play_tiers,
    play_toolkits,
    schema,
)
from tests.wording import naming
from toolbelt.catalog import Tool
from toolbelt.errors import NotFoundError
from toolbelt.evals.models.local.agent import LocalModel, make_local_model
from toolbelt.evals.models.local.history import read_history
from toolbelt.evals.models.local.ranking import _RANKINGS, rank_offer
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import Usage
from toolbelt.sessions.meta_tools import META_TOOLS

SHOWN = offer()


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


@pytest.mark.parametrize(
    ("query", "name", "arguments"),
    [
        ("What is the weather forecast for Oslo?", "get_weather", {"city": "Oslo"}),
        ('Commit the staged changes with the message "fix: typo"', "git_commit", {"message": "fix: typo"}),
        ("Please read the file docs/guide.md", "read_file", {"path": "docs/guide.md"}),
        ("Book a flight from Paris to Lima", "book_flight", {"origin": "Paris", "destination": "Lima"}),
    ],
)
def test_E2_calls_the_best_tool_with_what_the_query_holds(query: str, name: str, arguments: dict[str, str]) -> None:
    assert calls(query, SHOWN) == [(name, arguments)]


@pytest.mark.parametrize(
    "query", ["Tell me a joke about penguins", "Why is the sky blue?", "", " \n", "!?", "讲个笑话", "the of and"]
)
def test_E2_abstains_where_nothing_fits(query: str) -> None:
    reply = complete(LocalModel(), query, SHOWN)
    assert (reply.calls, reply.finish_reason) == ((), "stop")
    assert reply.text


def test_E2_works_in_chinese() -> None:
    shown = offer(Tool("a", "查询城市的天气预报"), Tool("b", "发送电子邮件"), Tool("c", "播放音乐"))
    assert calls("请告诉我明天的天气预报", shown) == [("a", {})]


def test_E2_several_things_asked_for_are_several_calls_at_once() -> None:
    query = (
        'Read the file notes.txt, then commit the staged changes with the message "notes". Also play the song "Hello".'
    )
    assert calls(query, SHOWN) == [
        ("read_file", {"path": "notes.txt"}),
        ("git_commit", {"message": "notes"}),
        ("play_music", {"song": "Hello"}),
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("Get the weather forecast for Rome and Oslo", ["Rome", "Oslo"], id="one-list"),
        pytest.param(
            "Weather forecast for Rome. And the weather forecast for Oslo!", ["Rome", "Oslo"], id="two-sentences"
        ),
        pytest.param("Weather forecast for Rome. The weather forecast matters.", ["Rome"], id="told-not-asked"),
    ],
)
def test_E2_one_tool_is_called_again_for_other_arguments(query: str, expected: list[str]) -> None:
    assert calls(query, SHOWN) == [("get_weather", {"city": city}) for city in expected]


def test_E2_a_tool_of_two_names_takes_both() -> None:
    assert len(calls("Book a flight from Paris to Lima", SHOWN)) == 1


def test_E2_stops_once_all_is_called() -> None:
    query = "What is the weather forecast for Oslo?"
    first = complete(LocalModel(), query, SHOWN)
    messages = [
        user(query),
        {"role": "assistant", "content": None, "tool_calls": [call.message_part for call in first.calls]},
        {"role": "tool", "tool_call_id": first.calls[0].id, "content": "sunny"},
    ]
    assert calls(messages, SHOWN) == []
    # What another user message asks for is called, though it was called before.
    assert calls([*messages, user(query)], SHOWN) == [("get_weather", {"city": "Oslo"})]


def test_E2_calls_what_is_left_of_several() -> None:
    query = 'Read the file notes.txt, then play the song "Hello"'
    [first, second] = complete(LocalModel(), query, SHOWN).calls
    messages = [
        user(query),
        {"role": "assistant", "content": None, "tool_calls": [first.message_part]},
        {"role": "tool", "tool_call_id": first.id, "content": "ok"},
    ]
    again = complete(LocalModel(), messages, SHOWN).calls
    assert [(call.name, call.arguments) for call in again] == [(second.name, second.arguments)]
    assert again[0].id != first.id


def test_E2_a_short_answer_is_read_with_what_was_asked_before() -> None:
    messages = [
        user("I would like to know the weather forecast"),
        {"role": "assistant", "content": "Where?"},
        user("Oslo"),
    ]
    assert calls(messages, SHOWN) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    ("choice", "query", "expected"),
    [
        ("none", "Weather forecast for Oslo", []),
        ("auto", "Weather forecast for Oslo", ["get_weather"]),
        ("required", "Tell me a joke", ["get_weather"]),
        ("required", "a nice album", ["play_music"]),
        ("read_file", "Weather forecast for Oslo", ["read_file"]),
        ("send_email", "", ["send_email"]),
    ],
)
def test_E2_honours_the_tool_choice(choice: str, query: str, expected: list[str]) -> None:
    assert [name for name, _ in calls(query, SHOWN, choice)] == expected


@pytest.mark.parametrize("choice", [None, "required", "none", "anything"])
def test_E2_nothing_offered_is_answered_in_words(choice: str | None) -> None:
    reply = complete(LocalModel(), "Weather in Oslo", Offer(), choice)
    assert (reply.calls, bool(reply.text)) == ((), True)


GIT = ("Work with the repository: commits, branches.", [TOOLS[2], Tool("git_log", "Show the log of commits.")])
MAIL = ("Write and send email.", [TOOLS[1]])
MUSIC = ("Songs and albums.", [TOOLS[4]])


def test_T2_browses_loads_and_calls() -> None:
    log = play_tiers('Commit the staged changes, message "x"', {"mail": MAIL, "git": GIT})
    assert log == [
        [("browse_tools", {})],
        [("load_tools", {"category": "git"})],
        [("git_commit", {"message": "x"})],
        [],
    ]


def test_T2_does_not_browse_where_a_tool_at_hand_is_sure() -> None:
    log = play_tiers("Get the weather forecast for Oslo", {"mail": MAIL, "git": GIT}, core=[TOOLS[0]])
    assert log == [[("get_weather", {"city": "Oslo"})], []]


def test_T2_loads_a_category_for_each_thing_asked_for() -> None:
    query = 'Commit the staged changes with message "x". Then send an email to ann@example.com with body "done"'
    log = play_tiers(query, {"music": MUSIC, "mail": MAIL, "git": GIT})
    assert {arguments["category"] for call in log for name, arguments in call if name == "load_tools"} == {
        "git",
        "mail",
    }
    assert [name for name, _ in log[-2]] == ["git_commit", "send_email"]


def test_T2_gives_up_after_a_few_categories() -> None:
    described = {f"part{n}": ("About zebras.", [Tool(f"tool_{n}", "Something else.")]) for n in range(6)}
    log = play_tiers("Show me the zebras of Kenya", described)
    assert [name for call in log for name, _ in call] == ["browse_tools", *["load_tools"] * 3]
    assert log[-1] == []


def test_T2_loads_nothing_where_no_description_fits() -> None:
    assert play_tiers("Tell me a joke", {"mail": MAIL, "git": GIT}) == [[("browse_tools", {})], []]


def test_T2_loads_the_largest_where_nothing_is_described() -> None:
    log = play_tiers("Tell me a joke", {"a": ("", MAIL[1]), "b": ("", GIT[1])})
    assert log == [[("browse_tools", {})], [("load_tools", {"category": "b"})], []]


LIST: tuple[str, dict[str, str]] = ("list_toolkits", {})
SAID = "I have loaded git. I will have these tools with your next message."


def load(toolkit: str) -> tuple[str, dict[str, str]]:
    return ("load_tools", {"toolkit": toolkit})


def test_D4_lists_loads_ends_its_turn_and_calls_when_told_to_go_ahead() -> None:
    log, conversation = play_toolkits('Commit the staged changes, message "x"', {"mail": MAIL, "git": GIT})
    assert log == [[LIST], [load("git")], SAID, [("git_commit", {"message": "x"})], "That is done."]
    assert [exchange.follow_up for exchange in conversation.exchanges] == ["", "", "Go ahead.", ""]


def test_D4_does_not_list_where_a_tool_at_hand_is_sure() -> None:
    log, _ = play_toolkits("Get the weather forecast for Oslo", {"mail": MAIL, "git": GIT}, core=[TOOLS[0]])
    assert log == [[("get_weather", {"city": "Oslo"})], "That is done."]


def test_D4_loads_a_toolkit_for_each_thing_asked_for_in_one_turn() -> None:
    query = 'Commit the staged changes with message "x". Then send an email to ann@example.com with body "done"'
    log, _ = play_toolkits(query, {"music": MUSIC, "mail": MAIL, "git": GIT})
    assert [{name for name, _ in calls} if isinstance(calls, list) else calls for calls in log] == [
        {"list_toolkits"},
        {"load_tools"},
        "I have loaded mail and git. I will have these tools with your next message.",
        {"git_commit", "send_email"},
        "That is done.",
    ]


def test_D4_looks_on_after_a_toolkit_that_had_nothing_and_says_so_in_the_end() -> None:
    described = {f"part{n}": ("About zebras.", [Tool(f"tool_{n}", "Something else.")]) for n in range(6)}
    log, _ = play_toolkits("Show me the zebras of Kenya", described, limit=20)
    loaded = [arguments["toolkit"] for calls in log if isinstance(calls, list) for _, arguments in calls if arguments]
    assert loaded == ["part0", "part1", "part2"]
    assert log[-1] == "I have no tool for that."


def test_D4_loads_nothing_where_nothing_fits() -> None:
    assert play_toolkits("Tell me a joke", {"mail": MAIL, "git": GIT})[0] == [[LIST], "I have no tool for that."]


def test_D4_finds_a_toolkit_by_the_tools_it_names() -> None:
    log, _ = play_toolkits("Commit what is staged", {"a": ("One.", MAIL[1]), "b": ("Another.", GIT[1])})
    assert log[1] == [load("b")]


def test_D4_a_reply_is_the_same_for_the_same_request() -> None:
    query = 'Commit the staged changes, message "x"'
    [one, other] = [play_toolkits(query, {"mail": MAIL, "git": GIT})[0] for _ in range(2)]
    assert one == other


@pytest.mark.parametrize(("choice", "called"), [("required", "list_toolkits"), ("load_tools", "load_tools")])
def test_D4_works_with_a_forced_tool_choice(choice: str, called: str) -> None:
    toolkits = {"mail": MAIL, "git": GIT}
    log, _ = play_toolkits('Commit the staged changes, message "x"', toolkits, tool_choice=choice, limit=4)
    assert log[0][0][0] == called
    assert all(isinstance(calls, list) and len(calls) == 1 for calls in log), "something is called every time"


def test_D4_a_load_tools_that_takes_a_category_is_another_one() -> None:
    shown = offer(Tool("list_toolkits", "List the toolkits."), BROWSE, LOAD, TOOLS[1])
    assert calls("Get the weather forecast for Oslo", shown)[0] == ("browse_tools", {})


@pytest.mark.parametrize(
    "text",
    ["Go ahead.", "go ahead", "Yes.", "yes, please do", "OK, go ahead!", "Continue", "proceed.", "Do it.", "Okay",
     "Yes, go ahead, please.", "Sure, do that."],
)  # fmt: skip
def test_D4_a_bare_go_ahead_takes_up_what_was_asked_before(text: str) -> None:
    said = {"role": "assistant", "content": "I have loaded weather."}
    messages = [user("Get the weather forecast for Oslo"), said, user(text)]
    assert calls(messages, SHOWN) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    "text", ["Go ahead and read a.txt", "No.", "Not yet", "Continue with the mail", "yes-men", "okra", "y" * 5_000]
)
def test_D4_what_says_more_than_go_ahead_is_a_request_of_its_own(text: str) -> None:
    messages = [user("Get the weather forecast for Oslo, please, today"), user(text)]
    assert read_history(messages).query == text
    assert read_history([user("Go ahead.")]).query == "Go ahead.", "where nothing was asked before"


def test_D4_calls_made_before_the_go_ahead_are_not_forgotten() -> None:
    query = 'Read the file notes.txt, then play the song "Hello"'
    [first, second] = complete(LocalModel(), query, SHOWN).calls
    messages = [
        user(query),
        {"role": "assistant", "content": None, "tool_calls": [first.message_part]},
        {"role": "tool", "tool_call_id": first.id, "content": "ok"},
        {"role": "assistant", "content": "Shall I go on?"},
        user("Yes, go on."),
    ]
    assert [(call.name, call.arguments) for call in complete(LocalModel(), messages, SHOWN).calls] == [
        (second.name, second.arguments)
    ]


@pytest.mark.parametrize(
    "answer", ["", "no JSON", "[]", '{"toolkits": 3}', '{"toolkits": [1, {"name": 2}, {"name": "a", "tools": 1}]}']
)
def test_D3_a_list_that_says_little_is_no_obstacle(answer: str) -> None:
    listing = {"id": "c", "type": "function", "function": {"name": "list_toolkits", "arguments": "{}"}}
    messages = [
        user("Tell me a joke"),
        {"role": "assistant", "content": None, "tool_calls": [listing]},
        {"role": "tool", "tool_call_id": "c", "content": answer},
    ]
    made = calls(messages, offer(*TOOLS, *META_TOOLS.values()))
    assert made in ([], [load("a")])


@pytest.mark.parametrize(
    "answer", ["", "no JSON", "[]", '{"categories": 3}', '{"categories": [1, {"name": 2}]}', "[" * 5000]
)
def test_T2_an_answer_that_says_nothing_ends_it(answer: str) -> None:
    browse = {"id": "c", "type": "function", "function": {"name": "browse_tools", "arguments": "{}"}}
    messages = [
        user("Tell me a joke"),
        {"role": "assistant", "content": None, "tool_calls": [browse]},
        {"role": "tool", "tool_call_id": "c", "content": answer},
    ]
    assert calls(messages, offer(*TOOLS, BROWSE, LOAD)) == []


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([], id="none"),
        pytest.param([{}], id="empty"),
        pytest.param([user(None)], id="no-content"),
        pytest.param([{"role": "assistant", "content": "x", "tool_calls": [None, {"function": 3}]}], id="broken-calls"),
        pytest.param([{"role": "tool", "tool_call_id": "nobody's", "content": [1]}], id="answer-to-nothing"),
        pytest.param([user([{"type": "image_url", "image_url": {"url": "data:,"}}])], id="only-an-image"),
    ],
)
def test_E2_odd_messages_are_no_obstacle(messages: list[dict[str, Any]]) -> None:
    assert calls(messages, SHOWN) == []


def test_E2_reads_the_text_beside_an_image() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "text", "text": "Weather forecast for Oslo"},
    ]
    assert calls([user(parts)], SHOWN) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    "text",
    [
        "weather forecast " * 6_000,
        "a-" * 50_000,
        '"' * 100_000,
        " " * 100_000,
        "a.b" * 33_000,
        "天" * 100_000,
        "{" * 100_000,
    ],
    ids=["words", "hyphens", "quotes", "blanks", "dots", "chinese", "braces"],
)
def test_E2_a_huge_query_stays_bounded(text: str) -> None:
    began = time.perf_counter()
    made = calls(text, SHOWN, "required")
    assert time.perf_counter() - began < 5  # 0.05 s; without bounds, minutes
    assert all(len(str(value)) <= 6_100 for _, arguments in made for value in arguments.values())


BROKEN = (
    Tool("a_tool", "", {"type": "object", "properties": [1]}),
    Tool("b_tool", "", {"type": "object", "properties": {"x": None, "y": {"enum": None, "type": ["null", "integer"]}}}),
    Tool(
        "c_tool", "c", {"properties": {"z": {"type": {"odd": 1}, "items": 3, "format": []}}, "required": ["z", 5, "q"]}
    ),
    Tool("d_tool", "", {"properties": {"e": {"enum": [None, {}, 1.5, True]}}, "required": {"e": 1}}),
    Tool(
        "e_tool",
        "",
        {"properties": {"f": {"anyOf": [{"type": "null"}, {"type": "array", "items": []}]}}, "required": ["f"]},
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from([None, "required", *(tool.name for tool in BROKEN)]))
def test_E2_no_text_and_no_schema_breaks_it(text: str, choice: str | None) -> None:
    shown = offer(*BROKEN, *TOOLS)
    first = calls(f"tool {text}", shown, choice)
    assert first == calls(f"tool {text}", shown, choice)
    assert {name for name, _ in first} <= shown.by_name.keys()
    assert all(arguments is not None for _, arguments in first)


def test_E2_costs_nothing_and_reports_no_tokens() -> None:
    model = make_local_model("local/bm25")
    reply = complete(model, "Weather forecast for Oslo", SHOWN)
    assert (model.name, reply.served_by, reply.usage) == ("local/bm25", "local/bm25", Usage())
    assert (model.cost_usd(reply.usage), model.cost_usd(Usage(5, 5))) == (0.0, 0.0)
    assert reply.latency_seconds > 0


def test_E2_an_unknown_local_model_is_named_with_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match=naming("local/bm52", "local/bm25")):
        make_local_model("local/bm52")


def test_an_offer_is_read_once_and_not_kept() -> None:
    shown = offer(Tool("only_here", "x", schema("a")))
    assert rank_offer(shown) is rank_offer(shown)
    before = len(_RANKINGS)
    del shown
    gc.collect()
    assert len(_RANKINGS) < before
