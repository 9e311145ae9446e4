"""200 answers in prose that name tools and call none: 50 forms with the tools of four trades."""

# ruff: noqa: E501  an answer a line

from __future__ import annotations

from collections.abc import Iterator

TRADES = (
    ("get_forecast", "city", "Bergen", "find_alerts", "The forecast for Bergen"),
    ("refund_order", "order_id", "A-1041", "list_orders", "The refund of order A-1041"),
    ("search_manual", "query", "reset the router", "open_ticket", "The page on resetting the router"),
    ("create_branch", "branch", "fix/login", "list_commits", "The branch fix/login"),
)
"""Two tools, an argument of the first with a value, and what it is about."""
FORMS = (
    # plans and offers
    "I would first use TOOL to look into it and then OTHER to make sure that nothing was missed. Shall I go ahead?",
    "Here is my plan:\n\n1. Call `TOOL` with the ARG you gave me.\n2. Compare with `OTHER`.\n3. Report back.\n\nIs that all right?",
    "To answer this I need TOOL. It takes ARG, which you have not named yet. What is it?",
    "My plan:\n- TOOL (ARG: VALUE)\n- OTHER\n- a summary for you\n\nTell me if the order should be different.",
    "Step 1: TOOL(ARG)\nStep 2: OTHER()\nStep 3: write the report.\nI start as soon as you confirm.",
    "I can do that with TOOL, but it cannot be undone. Please confirm that VALUE is right before I call it.",
    "Once you agree, I will run TOOL for VALUE, and nothing else.",
    "```json\n{\"plan\": [{\"step\": 1, \"tool\": \"TOOL\", \"args\": {\"ARG\": \"VALUE\"}}, {\"step\": 2, \"tool\": \"OTHER\"}]}\n```\nDoes this plan suit you?",
    # questions back and refusals
    "Which ARG do you mean? With that, TOOL gives a precise answer.",
    "I'm not able to do that: neither TOOL nor OTHER covers it.",
    "I am sorry, but TOOL may only be used by staff. You could ask your administrator.",
    "None of my tools (TOOL, OTHER) is needed here: two and two is four.",
    "Did you mean TOOL or OTHER? They sound alike, but the second only lists things.",
    "No. Calling TOOL without a reason would be a waste.",
    "That is outside of what TOOL does. It knows about VALUE only where somebody has entered it.",
    # what tools do
    "I have two tools: **TOOL**, which takes `ARG`, and **OTHER**, which takes nothing.",
    "`TOOL` needs one argument, `ARG` (a string). `OTHER` needs none.",
    "| tool | arguments |\n| --- | --- |\n| TOOL | ARG |\n| OTHER | – |",
    "# TOOL\n\nTakes `ARG`. For example `TOOL(ARG=\"VALUE\")` is about VALUE.\n\n# OTHER\n\nTakes nothing.",
    "These are my tools as JSON:\n```json\n[{\"name\": \"TOOL\", \"description\": \"One thing.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"ARG\": {\"type\": \"string\"}}}}, {\"name\": \"OTHER\"}]\n```",
    "{\"name\": \"TOOL\", \"description\": \"Looks one thing up.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"ARG\": {\"type\": \"string\"}}, \"required\": [\"ARG\"]}}",
    "TOOL: {\"type\": \"object\", \"properties\": {\"ARG\": {\"type\": \"string\"}}, \"required\": [\"ARG\"]}",
    "{\"tools\": [\"TOOL\", \"OTHER\"], \"count\": 2}",
    "{\"tool\": \"TOOL\", \"reason\": \"It is the only one that takes ARG.\"}",
    # documentation with an example of a call
    "A call of TOOL looks like this:\n\n```json\n{\"name\": \"TOOL\", \"arguments\": {\"ARG\": \"VALUE\"}}\n```\n\nThe answer is a text.",
    "You can call TOOL from your own code. The arguments are JSON, for example `{\"ARG\": \"VALUE\"}`.",
    "The tool expects an object:\n```json\n{\"ARG\": \"VALUE\"}\n```\nTOOL refuses anything else.",
    "To call it yourself, send\n\n```json\n{\"name\": \"TOOL\", \"arguments\": {\"ARG\": \"<ARG>\"}}\n```\n\nwith your own value.",
    "The syntax is TOOL(ARG=\"VALUE\"). Replace the value by yours.",
    "In Python you would write:\n\n```python\nresult = client.TOOL(ARG=\"VALUE\")\nprint(result)\n```\n\nIt raises an error if there is none.",
    "```python\ndef TOOL(ARG: str) -> str:\n    \"\"\"Look one thing up.\"\"\"\n    return lookup(ARG)\n```\nThis defines the function; it does not run it.",
    "```bash\ncurl -d '{\"ARG\": \"VALUE\"}' https://api.example.com/TOOL\n```\nThat is the request behind TOOL.",
    "Models of the Qwen family write `<tool_call>{\"name\": \"TOOL\", \"arguments\": {\"ARG\": \"VALUE\"}}</tool_call>`, and the server reads it.",
    "The tag <tool_call> opens a call and </tool_call> closes it; between them is the name, such as TOOL, and its arguments.",
    "Mistral marks calls with [TOOL_CALLS], Llama with <|python_tag|>. TOOL can be called by both.",
    # results, and JSON about other things
    "WHAT was found with TOOL: everything is in order.",
    "WHAT is as follows:\n\n```json\n{\"status\": \"ok\", \"ARG\": \"VALUE\"}\n```\n\nI had this from TOOL earlier.",
    "{\"ARG\": \"VALUE\", \"status\": \"done\", \"source\": \"TOOL\"}",
    "{\"tool\": \"TOOL\", \"input\": {\"ARG\": \"VALUE\"}, \"result\": \"nothing found\"}",
    "```yaml\ntools:\n  - TOOL\n  - OTHER\nARG: VALUE\n```\nSave that as config.yaml.",
    "<p>Use <code>TOOL</code> for VALUE, and <code>OTHER</code> for the list.</p>",
    "The log says \"TOOL failed: ARG was empty\". So give it a value and try again.",
    # other languages
    "Dafür ist TOOL da. Es braucht ARG; zum Beispiel `{\"ARG\": \"VALUE\"}`. Soll ich es aufrufen?",
    "Ein Aufruf sieht so aus:\n```json\n{\"name\": \"TOOL\", \"arguments\": {\"ARG\": \"VALUE\"}}\n```\nOTHER braucht keine Angaben.",
    "Pour cela, j'utiliserais TOOL avec ARG. Par exemple :\n```json\n{\"name\": \"TOOL\", \"arguments\": {\"ARG\": \"VALUE\"}}\n```",
    "Puedo usar TOOL, pero antes necesito saber ARG. ¿Es VALUE?",
    "Non posso usare TOOL senza ARG. OTHER invece non ha bisogno di nulla.",
    "TOOL を使うには ARG が必要です。例: {\"ARG\": \"VALUE\"}",
    "Для этого есть TOOL. Пример вызова:\n{\"name\": \"TOOL\", \"arguments\": {\"ARG\": \"VALUE\"}}",
    "可以使用 TOOL，参数是 ARG。OTHER 不需要参数。要我现在查询吗？",
)  # fmt: skip


def prose_answers() -> Iterator[tuple[str, dict[str, frozenset[str]]]]:
    """Each answer with the tools that were offered, and their parameters."""
    for tool, argument, value, other, about in TRADES:
        for form in FORMS:
            words = (
                ("TOOL_CALLS", "\0"),
                ("TOOL", tool),
                ("OTHER", other),
                ("ARG", argument),
                ("VALUE", value),
                ("WHAT", about),
            )
            text = form
            for placeholder, word in words:
                text = text.replace(placeholder, word)
            yield text.replace("\0", "TOOL_CALLS"), {tool: frozenset({argument}), other: frozenset()}
