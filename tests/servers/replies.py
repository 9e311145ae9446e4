"""What the loopback server's models say: requests in, bodies of OpenAI's chat API out."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

BROWSE, LIST, LOAD = "browse_tools", "list_toolkits", "load_tools"


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        body: As it came.
        size: Its length in bytes.
        number: What stands after the dash in the model's name.
        before: Requests that this model had before.
    """

    body: dict[str, Any]
    size: int
    number: float = 0
    before: int = 0

    @property
    def tokens(self) -> int:
        """About a quarter of the bytes."""
        return self.size // 4

    @property
    def tools(self) -> list[str]:
        """Names of what is offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    @cached_property
    def last_user_text(self) -> str:
        """What the user said last."""
        for message in reversed(self.body["messages"]):
            if message["role"] == "user":
                return str(message["content"])
        return ""

    def line(self, word: str) -> str | None:
        """What follows `word` in a line of the last user message."""
        for line in self.last_user_text.splitlines():
            if line.startswith(f"{word} "):
                return line.removeprefix(f"{word} ").strip()
        return None


def call(number: int, name: str, arguments: object) -> dict[str, Any]:
    """One call of an answer."""
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def reply(
    asked: Asked,
    calls: list[dict[str, Any]] | None = None,
    text: str | None = None,
    finish_reason: str | None = None,
    tokens: int = 7,
    **message: Any,
) -> dict[str, Any]:
    """A whole answer."""
    spoken: dict[str, Any] = {"role": "assistant", "content": text, **message}
    if calls:
        spoken["tool_calls"] = calls
    finish_reason = finish_reason or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": f"{asked.body['model']}-2024",
        "choices": [{"index": 0, "message": spoken, "finish_reason": finish_reason, "logprobs": None}],
        "usage": {"prompt_tokens": asked.tokens, "completion_tokens": tokens, "total_tokens": asked.tokens + tokens},
    }


def no_call(asked: Asked) -> dict[str, Any]:
    """Text alone."""
    return reply(asked, text="There is nothing to call.")


def call_in_text(asked: Asked) -> dict[str, Any]:
    """A call of the first tool offered, left in the text as the model wrote it."""
    return reply(asked, text=f'<tool_call>\n{{"name": "{asked.tools[0]}", "arguments": {{}}}}\n</tool_call>')


def call_in_thoughts(asked: Asked) -> dict[str, Any]:
    """The same in the model's reasoning, and nothing said."""
    data = call_in_text(asked)
    message = data["choices"][0]["message"]
    message |= {"content": "", "reasoning_content": message["content"]}
    return data


def nothing(asked: Asked) -> dict[str, Any]:
    """Neither text nor a call, and no token spent on it."""
    return reply(asked, text="", tokens=0)


def pick_first(asked: Asked) -> dict[str, Any]:
    """Calls the first tool offered, with no arguments."""
    if not asked.tools:
        return no_call(asked)
    return reply(asked, [call(asked.before, asked.tools[0], "{}")])


def echo_tool(asked: Asked) -> dict[str, Any]:
    """Does what the user says: `CALL name {json}`, once; the line may be there several times."""
    answered = any(message["role"] == "tool" for message in asked.body["messages"])
    lines = [line.split(" ", 2)[1:] for line in asked.last_user_text.splitlines() if line.startswith("CALL ")]
    if answered or not lines:
        return no_call(asked)
    return reply(asked, [call(n, name, rest[0] if rest else "{}") for n, (name, *rest) in enumerate(lines)])


def many(asked: Asked) -> dict[str, Any]:
    """Calls the first tool that many times, always with the same id."""
    return reply(asked, [call(0, asked.tools[0], '{"order": "A-1"}')] * int(asked.number))


def parallel(asked: Asked) -> dict[str, Any]:
    """Calls the first two tools at once."""
    return reply(asked, [call(number, name, '{"x": 1}') for number, name in enumerate(asked.tools[:2])])


def with_cache(asked: Asked) -> dict[str, Any]:
    """Half of the prompt was cached."""
    data = pick_first(asked)
    data["usage"]["prompt_tokens_details"] = {"cached_tokens": asked.tokens // 2}
    return data


def tiered(asked: Asked) -> dict[str, Any]:
    """Browses, loads `CATEGORY name`, then does `CALL name {json}` if that is offered."""
    spoken = [message for message in asked.body["messages"] if message.get("tool_calls")]
    made = [call["function"]["name"] for message in spoken for call in message["tool_calls"]]
    category = asked.line("CATEGORY")
    wanted, _, arguments = (asked.line("CALL") or "").partition(" ")
    if wanted in asked.tools and wanted not in made:
        return reply(asked, [call(len(made), wanted, arguments or "{}")])
    if BROWSE in asked.tools and BROWSE not in made:
        return reply(asked, [call(len(made), BROWSE, "{}")])
    if LOAD in asked.tools and LOAD not in made and category:
        return reply(asked, [call(len(made), LOAD, json.dumps({"category": category}))])
    return no_call(asked)


def dynamic(asked: Asked) -> dict[str, Any]:
    """Lists toolkits, loads `TOOLKIT name`, and does `CALL name {json}` once that is offered: in a later turn."""
    said = [line for message in asked.body["messages"] if message["role"] == "user" for line in _lines(message)]
    wanted = {word: rest for word, _, rest in (line.partition(" ") for line in said) if word in ("TOOLKIT", "CALL")}
    spoken = [message for message in asked.body["messages"] if message.get("tool_calls")]
    made = [call["function"]["name"] for message in spoken for call in message["tool_calls"]]
    name, _, arguments = wanted.get("CALL", "").partition(" ")
    if name in asked.tools and name not in made:
        return reply(asked, [call(len(made), name, arguments or "{}")])
    if LIST in asked.tools and LIST not in made:
        return reply(asked, [call(len(made), LIST, "{}")])
    if LOAD in asked.tools and LOAD not in made and "TOOLKIT" in wanted:
        return reply(asked, [call(len(made), LOAD, json.dumps({"toolkit": wanted["TOOLKIT"].strip()}))])
    text = "That is done." if name in made else f"I have loaded {wanted.get('TOOLKIT')}; say when to go ahead."
    return reply(asked, text=text)


def _lines(message: dict[str, Any]) -> list[str]:
    return str(message["content"]).splitlines()


def search(asked: Asked) -> dict[str, Any]:
    """Searches for `SEARCH words`, then does `CALL name {json}`, through a meta-tool where that is not offered.

    The meta-tool that searches is the first that is offered, and the one that calls is the second.
    """
    spoken = [message for message in asked.body["messages"] if message.get("tool_calls")]
    made = [call["function"]["name"] for message in spoken for call in message["tool_calls"]]
    wanted, _, arguments = (asked.line("CALL") or "").partition(" ")
    words = asked.line("SEARCH")
    if words and not made:
        name, (argument, schema) = asked.tools[0], _arguments(asked, 0)[0]
        given = [words] if schema["type"] == "array" else words
        return reply(asked, [call(0, name, json.dumps({argument: given}))])
    if len(made) != 1 or not wanted:
        return no_call(asked)
    if wanted in asked.tools:
        return reply(asked, [call(1, wanted, arguments or "{}")])
    (by_name, _), (with_arguments, _) = _arguments(asked, 1)
    through = {by_name: wanted, with_arguments: json.loads(arguments or "{}")}
    return reply(asked, [call(1, asked.tools[1], json.dumps(through))])


def _arguments(asked: Asked, position: int) -> list[tuple[str, dict[str, Any]]]:
    return list(asked.body["tools"][position]["function"]["parameters"]["properties"].items())


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Vectors of texts: two texts are the nearer, the more words they share."""
    data = [{"object": "embedding", "index": n, "embedding": vector_of(text)} for n, text in enumerate(body["input"])]
    tokens = sum(len(text) // 4 for text in body["input"])
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": body["model"], "data": data, "usage": usage}


def vector_of(text: str, size: int = 256) -> list[float]:
    """How often the text has words of each kind; of words, the hash decides the kind."""
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.lower().replace("_", " ")) or [text]:
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % size] += 1.0
    return vector


def bad_arguments(asked: Asked) -> dict[str, Any]:
    """Arguments that are no JSON."""
    return reply(asked, [call(0, asked.tools[0], '{"path": "a')])


def object_arguments(asked: Asked) -> dict[str, Any]:
    """Arguments as an object, where the API says text."""
    return reply(asked, [call(0, asked.tools[0], {"path": "ä"})])


def duplicate_ids(asked: Asked) -> dict[str, Any]:
    """The same id for every call."""
    return reply(asked, [call(0, name, "{}") for name in asked.tools[:3]])


def no_ids(asked: Asked) -> dict[str, Any]:
    """Calls without ids, as some servers send them."""
    calls = [call(0, name, "{}") for name in asked.tools[:2]]
    calls[0]["id"] = None
    calls[1]["id"] = ""
    return reply(asked, calls)


def function_call(asked: Asked) -> dict[str, Any]:
    """The form that tool calls had before they had ids."""
    return reply(asked, function_call={"name": asked.tools[0], "arguments": '{"a": 1}'}, finish_reason="function_call")


def filtered(asked: Asked) -> dict[str, Any]:
    """Stopped by the content filter."""
    return reply(asked, finish_reason="content_filter")


def refusal(asked: Asked) -> dict[str, Any]:
    """The model says that it will not."""
    return reply(asked, refusal="I will not help with that.")


def drafts(asked: Asked) -> dict[str, Any]:
    """Cases for the tool that the prompt is about, as many as it asks for, each query unlike any other."""
    opening = str(next(message["content"] for message in asked.body["messages"] if message["role"] == "user"))
    _, _, rest = opening.partition("The tool:\n")
    parameters = json.loads(rest.splitlines()[0])["parameters"]
    required = {name: parameters["properties"][name] for name in parameters.get("required", ())}
    arguments = {name: _sample(schema) for name, schema in required.items()}
    text, wordings = asked.last_user_text, _number(r"and (\d+) wording", opening)
    about = hashlib.sha256(f"{len(asked.body['messages'])}{opening}".encode()).hexdigest()[:12]
    stated = " ".join(str(value) for value in arguments.values())
    tasks = [
        {"arguments": arguments, "queries": [f"Matter {about}, part {n}, said {m}: {stated}." for m in range(wordings)]}
        for n in range(_number(r"Write (\d+) task|(\d+) more in `tasks`", text))
    ]
    misses = _number(r"Write (\d+) near|(\d+) more in `near_misses`", text)
    near = [{"query": f"Not quite matter {about}, {n}.", "tool": None} for n in range(misses)]
    return reply(asked, text=f"Sure:\n```json\n{json.dumps({'tasks': tasks, 'near_misses': near})}\n```\n")


def _sample(schema: dict[str, Any]) -> Any:
    samples = {"integer": 7, "number": 7, "boolean": True, "array": [], "object": {}}
    return schema["enum"][0] if "enum" in schema else samples.get(str(schema.get("type")), "alpha")


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return 0 if found is None else int(next(filter(None, found.groups())))


def anthropic(asked: Asked) -> dict[str, Any]:
    """As Anthropic says it: calls the first tool; of the prompt, 4 tokens were read from the cache, 3 written to it."""
    call = {"type": "tool_use", "id": "toolu_1", "name": asked.body["tools"][0]["name"], "input": {"path": "a"}}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": [{"type": "text", "text": "So be it."}, call],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 3,
            "output_tokens": 2,
        },
    }
