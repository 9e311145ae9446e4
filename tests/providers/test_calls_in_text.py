"""Calls in texts, in the forms that the parsers of vLLM, SGLang and llama.cpp read; and prose without (rule V2)."""

# ruff: noqa: E501  a form a line

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.prose_answers import prose_answers
from toolbelt.providers.calls_in_text import find_call_in_text, offered_parameters

OFFERED = {"book_table": frozenset({"guests", "day", "note", "rows", "zone"}), "cancel_booking": frozenset[str]()}
ARGS = '{"guests": 4, "day": "2026-05-01"}'
CALL = f'{{"name": "book_table", "arguments": {ARGS}}}'
PARAMETERS = f'{{"name": "book_table", "parameters": {ARGS}}}'
PYTHON = 'book_table(guests=4, day="2026-05-01")'
MARKED = {
    "hermes": f"<tool_call>\n{CALL}\n</tool_call>",
    "two-calls": f'<tool_call>{CALL}</tool_call>\n<tool_call>{{"name": "cancel_booking", "arguments": {{}}}}</tool_call>',
    "never-closed": f"<tool_call>\n{CALL}",
    "single-quotes": "<tool_call>\n{'name': 'book_table', 'arguments': {'guests': 4}}\n</tool_call>",
    "an-invented-tool": '<tool_call>\n{"name": "made_up", "arguments": {"x": 1}}\n</tool_call>',
    "llama-3": f"<|python_tag|>{PARAMETERS}",
    "llama-3-code": "<|python_tag|>book_table.call(guests=4)",
    "llama-4": f"<|python_start|>[{PYTHON}]<|python_end|>",
    "mistral-list": f"[TOOL_CALLS] [{CALL}]",
    "mistral-name": f"[TOOL_CALLS]book_table[ARGS]{ARGS}",
    "mistral-id": f"[TOOL_CALLS]book_table[CALL_ID]a1b2c3d4e[ARGS]{ARGS}",
    "function": f"<function=book_table>{ARGS}</function>",
    "qwen3-coder": "<tool_call>\n<function=book_table>\n<parameter=guests>\n4\n</parameter>\n</function>\n</tool_call>",
    "deepseek-v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>book_table\n"
        f"```json\n{ARGS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek-v3.1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book_table<｜tool▁sep｜>{ARGS}<｜tool▁call▁end｜>",
    "deepseek-v3.2": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="book_table">\n'
        '<｜DSML｜parameter name="guests" string="false">4</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
    ),
    "kimi-k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.book_table:0<|tool_call_argument_begin|>"
        f"{ARGS}<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "kimi-k3": (
        '<|open|>tools<|sep|><|open|>call tool="book_table" index="1"<|sep|>'
        '<|open|>argument key="guests" type="number"<|sep|>4<|close|>argument<|sep|><|close|>call<|sep|>'
    ),
    "granite": f"<|tool_call|>[{CALL}]",
    "granite-20b": f"<function_call> {CALL}",
    "phi-4-mini": f"functools[{CALL}]",
    "gemma-4": '<|tool_call>call:book_table{guests:4,day:<|"|>2026-05-01<|"|>}<tool_call|>',
    "function-gemma": "<start_function_call>call:book_table{day:<escape>2026-05-01<escape>}<end_function_call>",
    "gemma-code": f"```tool_code\nprint({PYTHON})\n```",
    "glm-4.5": "<tool_call>book_table\n<arg_key>guests</arg_key>\n<arg_value>4</arg_value>\n</tool_call>",
    "glm-4.7": "<tool_call>book_table<arg_key>guests</arg_key><arg_value>4</arg_value></tool_call>",
    "minimax-m1": f"<tool_calls>\n{CALL}\n</tool_calls>",
    "minimax-m2": (
        '<minimax:tool_call>\n<invoke name="book_table">\n<parameter name="guests">4</parameter>\n</invoke>\n'
        "</minimax:tool_call>"
    ),
    "harmony": f"<|channel|>commentary to=functions.book_table <|constrain|>json<|message|>{ARGS}<|call|>",
    "internlm": f"<|action_start|><|plugin|>\n{PARAMETERS}<|action_end|>",
    "jamba": f"<tool_calls>[{CALL}]</tool_calls>",
    "command-a": f'<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "book_table", "parameters": {ARGS}}}]<|END_ACTION|>',
    "apertus": f'<|tools_prefix|>[{{"book_table": {ARGS}}}]<|tools_suffix|>',
    "lfm2": f"<|tool_call_start|>[{PYTHON}]<|tool_call_end|>",
    "seed-oss": "<seed:tool_call>\n<function=book_table>\n<parameter=guests>4</parameter>\n</function>\n</seed:tool_call>",
    "olmo-3": f"<function_calls>\n{PYTHON}\n</function_calls>",
    "nemotron": f"<TOOLCALL>[{CALL}]</TOOLCALL>",
    "lm-studio": f"[TOOL_REQUEST]{CALL}[END_TOOL_REQUEST]",
    "functionary": f"<|recipient|> book_table\n<|content|> {ARGS}",
    "longcat": f"<longcat_tool_call>{CALL}</longcat_tool_call>",
    "solar": f"<|tool_call:begin|>a1b2<|tool_call:name|>book_table<|tool_call:args|>{ARGS}<|tool_call:end|>",
    "step-3": (
        '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="book_table">\n'
        '<steptml:parameter name="guests">4</steptml:parameter></steptml:invoke><｜tool_call_end｜>'
    ),
    "pangu": f"[unused11][{CALL}][unused12]",
    "qwen-agent": f"✿FUNCTION✿: book_table\n✿ARGS✿: {ARGS}",
    "minicpm": '<function name="book_table"><param name="guests">4</param></function>',
    "cline": "<book_table>\n<guests>4</guests>\n</book_table>",
}  # fmt: skip
UNMARKED = {
    "json": CALL,
    "list": f"[{CALL}]",
    "fenced": f"```json\n{CALL}\n```",
    "after-words": f"I'll book it for you.\n\n```json\n{CALL}\n```",
    "amid-words": f"I'll book it.\n```json\n{CALL}\n```\nOne moment, please!",
    "before-words": f"{CALL}\n\nThe table is booked.",
    "after-thoughts": f"<think>\nFour guests.\n</think>\n\n{CALL}",
    "two": f'{CALL}; {{"name": "cancel_booking", "arguments": {{}}}}',
    "openai": '{"tool_calls": [{"function": {"name": "book_table", "arguments": "{\\"guests\\": 4}"}}]}',
    "other-keys": f'{{"tool": "book_table", "args": {ARGS}}}',
    "name-as-key": f'{{"book_table": {ARGS}}}',
    "single-quotes": "{'name': 'book_table', 'arguments': {'guests': 4}}",
    "python": f"[{PYTHON}]",
    "python-twice": f"[{PYTHON}, cancel_booking()]",
    "python-without-brackets": PYTHON,
    "glm-4": f"book_table\n{ARGS}",
    "mistral-without-marks": f"book_table{ARGS}",
    "kimi-without-marks": f"functions.book_table:0{ARGS}",
    "deepseek-without-marks": f"functionbook_table\n```json\n{ARGS}\n```",
    "harmony-without-marks": f"analysisFour guests.assistantcommentary to=functions.book_table json{ARGS}",
    "command-r": f'Action: ```json\n[{{"tool_name": "book_table", "parameters": {ARGS}}}]\n```',
    "json-as-argument": f"functions.book_table({ARGS})",
    "null-arguments": '{"name": "cancel_booking", "arguments": null}',
    "as-required": f"Here is the call in the required format:\n{CALL}",
    "could-not": f"I could not find a table before; I try again.\n{CALL}",
    "words-in-brackets": '{"name": "book_table", "arguments": {"note": "[window]", "rows": "[1, 2]", "zone": "NON_SMOKING"}}',
    "react": f"Thought: I book it.\nAction: book_table\nAction Input: {ARGS}",
}


TOOLS = {
    "find_flights": frozenset({"city", "days"}),
    "close_ticket": frozenset({"ticket", "reason"}),
    "ping": frozenset[str](),
    "open": frozenset({"path"}),
    "status": frozenset({"service"}),
}
ROME = '{"city": "Rome", "days": 3}'
WRITTEN = {
    "assigned-in-a-fence": '```python\nresult = find_flights(city="Rome")\n```',
    "assigned-and-printed": '```python\nflights = find_flights(city="Rome", days=3)\nprint(flights)\n```',
    "assigned": 'flights = find_flights(city="Rome")',
    "awaited": '```python\nflights = await find_flights(city="Rome")\n```',
    "two-assigned": '```python\na = find_flights(city="Rome")\nb = close_ticket(ticket=4)\n```',
    "behind-a-comment": '```python\n# look for flights\nfind_flights(city="Rome")\n```',
    "positional": 'find_flights("Rome", 3)',
    "positional-in-brackets": '[find_flights("Rome", 3), close_ticket(17)]',
    "positional-in-a-fence": '```python\nfind_flights("Rome")\n```',
    "positional-printed": '```python\nprint(find_flights("Rome"))\n```',
    "after-words-in-a-fence": 'I\'ll look for flights.\n\n```python\nfind_flights("Rome", days=3)\n```',
    "without-arguments": "ping()",
    "without-arguments-in-a-fence": "```\nping()\n```",
    "api": f'{{"api": "find_flights", "arguments": {ROME}}}',
    "api-name": f'{{"api_name": "find_flights", "parameters": {ROME}}}',
    "flat": '{"name": "find_flights", "city": "Rome", "days": 3}',
    "flat-tool": '{"tool": "find_flights", "city": "Rome"}',
    "flat-in-a-fence": '```json\n{"function": "close_ticket", "ticket": 4, "reason": "done"}\n```',
    "flat-list": '[{"tool": "find_flights", "city": "Rome"}, {"tool": "close_ticket", "ticket": 4}]',
    "flat-after-words": 'Let me look.\n{"action": "find_flights", "city": "Rome"}',
    "yaml": "tool: find_flights\narguments:\n  city: Rome\n  days: 3",
    "yaml-in-a-fence": "```yaml\nname: find_flights\nparameters:\n  city: Rome\n```",
    "yaml-list": "- name: find_flights\n  arguments:\n    city: Rome\n- name: close_ticket\n  arguments:\n    ticket: 4",
    "yaml-flat": "tool: find_flights\ncity: Rome",
    "yaml-name-as-key": "find_flights:\n  city: Rome\n  days: 3",
    "yaml-after-words": "I'll look it up.\n\ntool: find_flights\nargs:\n  city: Rome",
    "labelled-lines": f"Tool: find_flights\nInput: {ROME}",
    "labelled-function": f"Function: find_flights\nArguments: {ROME}",
    "xml-name-and-arguments": f"<tool>find_flights</tool>\n<args>{ROME}</args>",
    "xml-elements": "<tool_name>find_flights</tool_name>\n<parameters><city>Rome</city></parameters>",
}  # fmt: skip
"""In other words: assigned, positional, flat, in YAML, in elements."""
OTHER_ANSWERS = {
    "only-key-is-a-tool": '{"status": {"ok": true}}',
    "only-key-in-a-fence": 'It is:\n```json\n{"status": {"code": 200, "text": "fine"}}\n```',
    "only-key-flights": '{"find_flights": {"found": 3, "cheapest": "AZ 610"}}',
    "name-as-key-of-counts": '{"close_ticket": {"count": 4}}',
    "flat-record": '{"name": "find_flights", "calls": 12, "failed": 1}',
    "flat-reason": '{"tool": "close_ticket", "why": "It was asked for."}',
    "python-open": '```python\nopen(file="x.txt")\n```',
    "python-with-open": '```python\nwith open(file="x.txt") as file:\n    print(file.read())\n```',
    "python-open-and-read": '```python\nfile = open("x.txt")\nprint(file.read())\n```',
    "python-open-lines": 'Here you are:\n\n```python\nfile = open("x.txt")\nfor line in file:\n    print(line)\n```',
    "python-loop": "```python\nwhile True:\n    ping()\n```",
    "python-def": '```python\ndef main():\n    find_flights(city="Rome")\n\nmain()\n```',
    "python-with-import": '```python\nimport travel\n\ntravel.find_flights(city="Rome")\n```',
    "javascript": '```js\nopen("https://example.com");\n```',
    "shell": "```sh\nping example.com\n```",
    "tool-element-ends-a-sentence": "I would use <tool>find_flights</tool>.",
    "tool-element-in-a-list": "- <tool>find_flights</tool>: finds flights\n- <tool>close_ticket</tool>: closes a ticket",
    "tool-element-amid-words": "The right one is <tool>find_flights</tool> here.",
    "function-element": "Answer: <function>close_ticket</function>, as it says.",
    "yaml-of-a-list": "- name: find_flights\n  description: Finds flights.\n- name: close_ticket\n  description: Closes one.",
    "yaml-name-as-key-of-text": "find_flights: finds flights\nclose_ticket: closes a ticket",
    "yaml-status": "status:\n  ok: true\n  since: Monday",
    "labelled-reason": "Tool: find_flights\nReason: it knows flights",
    "api-route": '{"api": "status", "method": "GET", "path": "/status"}',
}  # fmt: skip
"""Answers about other things that look like a call of the tool with its name."""


def ids(forms: dict[str, str]) -> list[object]:
    return [pytest.param(text, id=name) for name, text in forms.items()]


@pytest.mark.parametrize("text", ids(MARKED) + ids(UNMARKED))
def test_V2_a_call_is_found_in_every_form(text: str) -> None:
    assert find_call_in_text(text, "", OFFERED) is not None


@pytest.mark.parametrize("text", ids({name: text for name, text in MARKED.items() if name != "cline"}))
def test_V2_a_marked_call_is_found_beside_words_and_among_thoughts(text: str) -> None:
    assert find_call_in_text(f"Gladly.\n{text}", "", OFFERED) is not None
    assert find_call_in_text("", f"A table for four, then.\n{text}", OFFERED) is not None
    assert find_call_in_text("I am on it.", text, OFFERED) is not None


def test_V2_no_answer_in_prose_is_a_call() -> None:
    answers = [*prose_answers()]
    assert len(answers) == 200
    assert [text for text, offered in answers if find_call_in_text(text, "", offered)] == []
    assert [text for text, offered in answers if find_call_in_text("", text, offered)] == []
    unknown = [(text, dict.fromkeys(offered)) for text, offered in answers]
    assert [text for text, offered in unknown if find_call_in_text(text, "", offered)] == []


@pytest.mark.parametrize("text", ids(WRITTEN))
def test_V2_a_call_is_found_however_it_is_written(text: str) -> None:
    assert find_call_in_text(text, "", TOOLS) is not None


@pytest.mark.parametrize("text", ids(OTHER_ANSWERS))
def test_V2_an_answer_with_the_name_of_a_tool_is_no_call(text: str) -> None:
    assert find_call_in_text(text, "", TOOLS) is None


@pytest.mark.parametrize(
    ("text", "is_broken"),
    [
        pytest.param('<tool_call>\n{"name": "ping", "arguments": {"a": }}\n</tool_call>', True, id="no-value"),
        pytest.param('<tool_call>\n{"name": "ping", "arguments": {"a": 1}\n</tool_call>', True, id="never-closed"),
        pytest.param('[TOOL_CALLS]status[ARGS]{"service": "mail" 5}', True, id="no-comma"),
        pytest.param('<function=status>{"service": mail}</function>', True, id="no-quotes"),
        pytest.param('<tool_call>\n{"name": "ping", "arguments": {"a": "1\n2"}}', False, id="a-line-break"),
        pytest.param("<tool_call>{'name': 'ping', 'arguments': {'a': None}}</tool_call>", False, id="as-python-has-it"),
        pytest.param(
            '<|python_start|>[status(service={"name": "mail"})]<|python_end|>', False, id="an-object-in-python"
        ),
        pytest.param(
            "<tool_call>status\n<arg_key>service</arg_key>\n<arg_value>{mail</arg_value>", False, id="no-json"
        ),
    ],
)
def test_V2_a_call_that_the_model_wrote_wrongly_is_its_broken_call(text: str, is_broken: bool) -> None:
    call = find_call_in_text(text, "", TOOLS)
    assert call is not None
    assert call.is_broken is is_broken
    assert find_call_in_text("<tool_call>" + '{"name": "ping", "arg', "", TOOLS, is_cut=True) is None


def test_V2_parameters_are_read_from_definitions() -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    definitions = [
        {"type": "function", "function": {"name": "wrapped", "parameters": schema}},
        {"name": "bare", "input_schema": schema},
        {"name": "free", "parameters": {"type": "object"}},
        *({"name": 5}, "text", None),
    ]
    assert offered_parameters(definitions) == {"wrapped": {"a"}, "bare": {"a"}, "free": None}


@pytest.mark.parametrize("mark", ["[TOOL_CALLS] ", "<|python_tag|>", "functools"])
def test_V2_words_in_arguments_make_no_example_of_a_call(mark: str) -> None:
    call = '[{"name": "book_table", "arguments": {"note": "format of the sample, for example"}}]'
    assert find_call_in_text(f"Gladly.\n{mark}{call}", "", OFFERED) is not None


def test_V2_a_call_within_a_sentence_or_weighed_in_thoughts_is_a_mention() -> None:
    assert find_call_in_text(f"The model wrote {MARKED['lm-studio']} and nobody read it.", "", OFFERED) is None
    assert find_call_in_text(f"It sent <tool_call>{CALL}</tool_call>, which was lost.", "", OFFERED) is None
    assert find_call_in_text("Hello!", f"Perhaps <tool_call>{CALL}</tool_call>? No, they only greet.", OFFERED) is None
    assert find_call_in_text("", f"Not\n{MARKED['mistral-name']}\nsince nothing is to be booked.", OFFERED) is None
    flat = '{"name": "book_table", "parameters": {"guests": {"type": "integer"}}}'
    assert find_call_in_text(f"```json\n{flat}\n```", "", OFFERED) is None


@given(st.text(), st.text())
def test_V2_without_a_call_no_words_are_one(text: str, thoughts: str) -> None:
    assert find_call_in_text(text, thoughts, OFFERED) is None


@pytest.mark.parametrize("asked", ["Show me a call as JSON.", "How do I call book_table?", "Gib mir ein Beispiel."])
def test_V2_whoever_asks_for_the_form_of_a_call_gets_it(asked: str) -> None:
    assert find_call_in_text(CALL, "", OFFERED, asked=asked) is None
    assert find_call_in_text(MARKED["hermes"], "", OFFERED, asked=asked) is not None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('<tool_call>\n{"name": "book_table", "argum', False, id="in-its-call"),
        pytest.param("<tool_call>\n<function=book_table>\n<parameter=day>\n20", False, id="in-its-elements"),
        pytest.param(f"<tool_call>\n{CALL}\n</tool_call>\nAnd then we", True, id="behind-its-call"),
    ],
)
def test_V2_what_the_token_limit_cut_must_hold_a_whole_call(text: str, found: bool) -> None:
    assert (find_call_in_text(text, "", OFFERED, is_cut=True) is not None) is found
    assert find_call_in_text(text, "", OFFERED) is not None


def test_V2_nothing_is_a_call_where_nothing_was_offered() -> None:
    assert find_call_in_text(MARKED["hermes"], "", {}) is None


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "[(",
        "<tool_call>",
        "book_table(",
        '{"name": "book_table", ',
        "```\n",
        "<function=",
        "name: book_table\n a: 1\n",
        "book_table:\n ",
    ],
)
def test_V2_a_long_text_is_read_quickly(piece: str) -> None:
    began = time.process_time()
    find_call_in_text(piece * (60_000 // len(piece)), "", OFFERED)
    assert time.process_time() - began < 5
