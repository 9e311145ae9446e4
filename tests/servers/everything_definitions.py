"""What the test server of `mcp_everything` lists: tools, resources, templates and prompts, as they travel."""

from __future__ import annotations

import base64
from typing import Any

Json = dict[str, Any]

PIXEL = base64.b64encode(bytes.fromhex("89504e470d0a1a0a0000000d49484452")).decode()
SOUND = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt ").decode()
ICONS = [{"src": f"data:image/png;base64,{PIXEL}", "mimeType": "image/png", "sizes": ["48x48", "any"]}]
ANY = {"type": "object"}


def _takes(*required: str, **properties: Json) -> Json:
    schema: Json = {"type": "object", "properties": properties}
    return schema | {"required": list(required)} if required else schema


def _tool(name: str, description: str, schema: Json = ANY, **further: Any) -> Json:
    return {"name": name, "description": description, "inputSchema": schema, **further}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WHOLE = {"type": "integer", "minimum": 0}
READS = {"readOnlyHint": True, "openWorldHint": False}
SUM = {"type": "object", "properties": {"sum": NUMBER}, "required": ["sum"]}

ODD_SCHEMA: Json = {
    "required": ["tree"],
    "x-order": None,
    "$defs": {
        "node": {
            "properties": {
                "children": {"items": {"$ref": "#/$defs/node"}, "type": "array"},
                "name": {"description": "Größe in µm – “quoted” \\ 名前", "type": "string"},
            },
            "type": "object",
            "required": ["name"],
        },
        "unused/~name": True,
    },
    "properties": {
        "tree": {"$ref": "#/$defs/node"},
        "ünïcode key": {"default": None, "anyOf": [{"type": "string"}, {"type": "null"}]},
        "anything": True,
        "pattern": {"pattern": "^[a-z\\d]+$", "type": "string"},
        "number": {"enum": [1, 1.5, "1", None, {"a": []}]},
        "type": {"const": "object"},
    },
    "additionalProperties": False,
    "description": "At the root, too.",
    "type": "object",
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$comment": "Keys are in no usual order.",
}

TOOLS: tuple[Json, ...] = (
    _tool(
        "echo",
        "Return the message, and `_meta` of the request as `_meta` of the result.",
        _takes("message", message={"type": "string", "description": "What to return."}),
        title="Echo ⟲",
        icons=ICONS,
        annotations={"title": "Echo it", "idempotentHint": True, "destructiveHint": False, **READS},
        _meta={"example.org/group": "text", "nested": {"list": [1, None, "ü"]}},
    ),
    _tool("add", "Add two numbers.", _takes("a", "b", a=NUMBER, b=NUMBER), outputSchema=SUM, annotations=READS),
    _tool("add_wrongly", "Return what its output schema does not allow.", outputSchema=SUM, annotations=READS),
    _tool("draw", "Return an image.", annotations=READS),
    _tool("speak", "Return audio.", annotations=READS),
    _tool("link", "Return links to resources.", annotations=READS),
    _tool("embed", "Return embedded resources.", annotations=READS),
    _tool("mixed", "Return every kind of content at once.", annotations=READS, outputSchema={"type": "object"}),
    _tool("nothing", "Return no content.", annotations=READS),
    _tool("fail", "Return an error as a result.", _takes(text=TEXT)),
    _tool("refuse", "Answer with a protocol error.", _takes(code={"type": "integer"}, message=TEXT, data={})),
    _tool("crash", "Raise an exception that nobody expects."),
    _tool("count", "Report progress at each step.", _takes(steps=WHOLE), annotations=READS),
    _tool("wait", "Wait; cancelling is written to the journal.", _takes(seconds=NUMBER), annotations=READS),
    _tool("log", "Log a message at each level.", _takes(logger=TEXT), annotations=READS),
    _tool("ask_user", "Ask the user with a form or a URL, so many times.", _takes(url=TEXT, times=WHOLE)),
    _tool("ask_model", "Ask the client's model.", _takes(prompt=TEXT)),
    _tool("ask_roots", "Ask for the client's roots.", annotations=READS),
    _tool("odd_schema", "Takes a tree.", ODD_SCHEMA, annotations={"readOnlyHint": True}),
    {"name": "bare", "inputSchema": {"type": "object"}},
    _tool(
        "unicode",
        '日本語 – emoji 👩‍👩‍👧, right-to-left שלום, combining e\u0301, \u2028 and "quotes".',
        title="Ünï\tcode",
    ),
    _tool("long_description", "Every word counts. " * 1_000),
    _tool("a_tool_whose_name_is_longer_than_some_clients_accept_with_a_prefix", "Its name has 66 characters."),
    _tool("with.dots-and_dashes", "Its name has a dot."),
    _tool(
        "destroy",
        "Destroy something; written to the journal.",
        _takes(what=TEXT),
        annotations={"readOnlyHint": False, "destructiveHint": True},
        execution={"taskSupport": "forbidden"},
    ),
    _tool("whoami", "Describe process, client and request.", _takes(variables={"type": "array", "items": TEXT})),
    _tool("huge", "Return a text of so many bytes.", _takes("bytes", bytes=WHOLE), annotations=READS),
    _tool("change_tools", "Change definitions: a patch by tool name, `null` removes.", _takes("patch", patch=ANY)),
    _tool("touch", "Announce that a resource changed.", _takes("uri", uri=TEXT)),
    _tool("flood_stderr", "Write so many bytes to standard error.", _takes("bytes", bytes=WHOLE)),
    _tool("print_rubbish", "Write a line that is no JSON to standard output.", _takes(line=TEXT)),
    _tool("die", "End the process at once.", _takes(code=WHOLE)),
)

RESOURCES: tuple[Json, ...] = (
    {
        "uri": "everything://text",
        "name": "text",
        "title": "A text",
        "description": "Plain text.",
        "mimeType": "text/plain",
        "size": 12,
        "annotations": {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z"},
        "icons": ICONS,
        "_meta": {"example.org/kept": True},
    },
    {"uri": "everything://blob", "name": "blob", "mimeType": "image/png"},
    {"uri": "everything://größe/ä?q=1#f", "name": "ünïcode"},
)
CONTENTS: dict[str, list[Json]] = {
    "everything://text": [{"uri": "everything://text", "mimeType": "text/plain", "text": "A text – ä\n"}],
    "everything://blob": [{"uri": "everything://blob", "mimeType": "image/png", "blob": PIXEL, "_meta": {"n": 1}}],
    "everything://größe/ä?q=1#f": [
        {"uri": "everything://größe/ä?q=1#f", "text": "one"},
        {"uri": "everything://other", "text": "two"},
    ],
}
TEMPLATES: tuple[Json, ...] = (
    {
        "uriTemplate": "everything://items/{id}",
        "name": "item",
        "title": "An item",
        "description": "By its number.",
        "mimeType": "application/json",
        "annotations": {"priority": 1.0},
    },
)
PROMPTS: tuple[Json, ...] = (
    {
        "name": "greet",
        "title": "Greeting",
        "description": "Greets a person.",
        "arguments": [
            {"name": "person", "title": "Person", "description": "Who.", "required": True},
            {"name": "language"},
        ],
        "icons": ICONS,
        "_meta": {"example.org/kept": [1]},
    },
    {"name": "show"},
)
COMPLETIONS: dict[str, tuple[str, ...]] = {
    "person": ("Ada", "Alan", "Barbara"),
    "language": ("Deutsch", "English", "日本語"),
    "id": ("1", "10", "2"),
}

CONTENT: dict[str, list[Json]] = {
    "draw": [
        {"type": "image", "data": PIXEL, "mimeType": "image/png", "annotations": {"audience": ["user"]}},
        {"type": "text", "text": ""},
    ],
    "speak": [{"type": "audio", "data": SOUND, "mimeType": "audio/wav", "_meta": {"length": 1}}],
    "link": [
        {"type": "resource_link", **RESOURCES[0]},
        {"type": "resource_link", "uri": "https://example.org/a b", "name": "elsewhere"},
    ],
    "embed": [
        {"type": "resource", "resource": CONTENTS["everything://text"][0], "annotations": {"priority": 0.0}},
        {"type": "resource", "resource": CONTENTS["everything://blob"][0]},
    ],
    "nothing": [],
}
CONTENT["mixed"] = [
    {
        "type": "text",
        "text": "Line\nline – 👩‍👩‍👧 \u2028 \u0000",
        "annotations": {"priority": 1.0},
        "_meta": {"a": None},
    },
    *(item for name in ("draw", "speak", "link", "embed") for item in CONTENT[name]),
]


def add_tools(count: int) -> tuple[Json, ...]:
    """Plain tools of seven services, for servers with many: `service3_action_24`."""
    schema = _takes("target", target={"type": "string", "description": "On what."}, limit={**WHOLE, "default": 10})
    return tuple(
        _tool(f"service{n % 7}_action_{n}", f"Do action {n} of service {n % 7}.", schema, annotations=READS)
        for n in range(count)
    )
