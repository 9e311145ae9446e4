"""Calls that a server left in the text of an answer, where its parser should have taken them out (rule V2).

Two kinds are found. A mark is a token of a chat template, such as `<tool_call>` or `[TOOL_CALLS]`, with a call behind
it. Without a mark, as where a server drops special tokens, it must be a whole call of an offered tool: a value in JSON,
Python or YAML with its name and arguments, its name with a JSON object behind it, or Python that does nothing but call
offered tools. Where no key names the arguments, they must be parameters of that tool. The text around it decides
whether it is a call or an example of one.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from toolbelt.errors import InvalidFileError

_NAMES = ("name", "tool_name", "function_name", "tool", "function", "action", "recipient_name", "api", "api_name")
_ARGUMENTS = (
    *("arguments", "parameters", "args", "params", "input", "kwargs"),
    *("tool_input", "action_input", "tool_args", "tool_arguments"),
)
_WRAPPERS = ("tool_calls", "tool_call", "function_call", "function_calls", "function", "calls", "action", "actions")
_OF_A_RECORD = frozenset({"description", "result", "results", "output", "response", "status", "step", "example"})
"""Keys of lists of tools, plans and reports, which name tools with arguments, and are none of their calls."""
_OF_A_SCHEMA = frozenset({"type", "properties", "required", "description", "parameters"})
_MARK = re.compile(
    r"<[^<>\n]{0,60}?(?:tool|func|call|action|python|plugin|invoke|recipient|channel)[^<>\n]{0,80}>"
    r"|\[/?[A-Z_]*(?:TOOL|FUNCTION|ARGS)[A-Z_]*\]|\[unused\d+\]|<\|open\|>call[^<>\n]{0,80}<\|sep\|>|functools(?=\[)|✿FUNCTION✿:|<\|start\|>assistant"
    r"|\bto=(?=functions\.)|(?:^|\n)>>>(?=\w)|```(?:tool|function)_?(?:code|calls?|use)\b|-> tool/function_call",
    re.IGNORECASE,
)
_NAMED_MARK = re.compile(
    r"""(?:function|invoke|tool|call)\w*(?:[=:]\s*|\s+(?:name|tool)\s*=\s*)["']?([\w.\-/]+)""", re.IGNORECASE
)
_WORD, _BRACKET = re.compile(r"[\w./\-]+"), re.compile(r"[({\[]")
_BETWEEN = frozenset(
    {
        *(*_NAMES, *_ARGUMENTS, *_WRAPPERS, "functions", "tools", "call", "type", "id", "index", "json", "to", "code"),
        *("commentary", "assistant", "string", "recipient", "tool_call_id", "invoke", "python", "default_api", "print"),
    }
)
"""Words that stand between a mark and the name of the tool."""
_BEHIND = re.compile(r"""(?::\d+)?\s*(?:["'({\[<|｜:>`]|\n|$)""")
_TO_OBJECT = re.compile(
    r"(?::\d+)?[`*\"']*\s*(?:<[^<>\n]*>\s*)*(?:\[ARGS\])?"
    r"(?:(?:json|code|action[ _]?input|arguments?|args|parameters|input|✿ARGS✿)\s*:?\s*)?(?:<[^<>\n]*>\s*)*"
    r"(?:```\w*\s*)?(?=\{)",
    re.IGNORECASE,
)
_IN_YAML = re.compile(
    rf"""^[ \t]*(?:-[ \t]+)?(?:(?:{"|".join(_NAMES)})[ \t]*:[ \t]*[`"']?([\w./\-]+)[`"']?|([\w./\-]+):)[ \t]*$"""
    r"(?:\n+(?!```)[^\n]+)+?(?=\s*\Z|\s*```|\n[ \t]*\n(?![ \t]*(?:action|arg|param|-)))",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines that begin with a name, as YAML and ReAct have it."""
_CODE = re.compile(r"```([\w-]*)[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_STARTS = re.compile(r"(?:^|(?<=[\n:;`>]))[ \t]*(?=[\[{])")
_EXAMPLE = re.compile(
    r"e\.\s?g\.|example|how to|this way|like (?:this|so)\b|as follows|such as|imagine|suppose|snippet|sample"
    r"|illustrat|earlier|previous|contains|look(?:s|ed)? like|would (?:look|be|call|send|use)|could(?! not|n.t)"
    r"|(?<!required )(?<!requested )(?<!specified )(?<!correct )(?<!proper )format|syntax|schema|shape|template|usage"
    r"|please confirm|do you approve|document|replace|you (?:can|may|might|should|need|call|pass|send)|to call it"
    r"|for instance|beispiel|z\. ?b\.|sieht .{0,20}aus|wie folgt|folgender|würde|könnte|exemple|comme (?:ceci|suit)"
    r"|ressembl|pourr|ejemplo|así|podría|sería|esempio|così|potrebbe|exemplo|poderia|voorbeeld|zou|eksempel|exempel"
    r"|skulle|przykład|można|příklad|örnek|olabilir|esimer|пример|можно|выгляд|приклад|مثال|उदाहरण|例|以下|比如|格式|예를|예시"
    r"|형식",
    re.IGNORECASE,
)
"""Words beside an example of a call."""
_ANNOUNCED = re.compile(
    r"\b(?:I(?:'|’)?ll|I will|I(?: a|'|’)m going to|let me|let's|calling|je vais|ich werde|ich rufe|voy a|vou|sto per"
    r"|ik ga|jeg vil|jag ska|сейчас|вызываю)\b|我来|我将|呼び出し|確認し",
    re.IGNORECASE,
)
"""Words beside a call that has text on both sides."""
_ASKS_FOR_IT = re.compile(
    r"\bjson\b|example|snippet|beispiel|exemple|ejemplo|esempio"
    r"|\bhow (?:do|can|would|should|to)\b.{0,40}\b(?:call|use)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"<[\w -]+>|\{+[\w -]+\}+|\.{3}|…|\[(?:your|insert|enter)\b.*\]|string|your_\w+|your[ -](?:[\w-]+ )?"
    r"(?:here|value|key|id|name)|YOUR_\w+|[A-Z]+_(?:HERE|ID|KEY|NAME|VALUE)"
)
_OBJECT = re.compile(r"""\{\s*["']""")
_THOUGHTS = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_NOTHING = re.compile(r"(?:```\w*|<[^<>\n]*>|[^\w<]|\bjson\b|\baction\b)*", re.IGNORECASE)
_JSON, _PYTHON = "JSON", "name(key=value)"
_DECODER = json.JSONDecoder(strict=False)
_LANGUAGES = ("", "python", "py", "python3", "tool_code", "text", "plaintext")
_LONGEST_LEAD, _LONGEST_END, _MOST_STARTS = 400, 8_000, 100
Offered = Mapping[str, frozenset[str] | None]
"""By name of each tool, as it was offered, the names of its parameters; `None` where any may be given."""


def offered_parameters(definitions: Iterable[Any]) -> Offered:
    """Of definitions in OpenAI's form, or without its wrapper; what is none of these is left out."""
    parameters: dict[str, frozenset[str] | None] = {}
    for each in definitions:
        entry = each.get("function", each) if isinstance(each, Mapping) else None
        if isinstance(entry, Mapping) and isinstance(name := entry.get("name"), str):
            schema = entry.get("parameters", entry.get("input_schema"))
            known = schema.get("properties") if isinstance(schema, Mapping) else None
            parameters[name] = frozenset(known) if isinstance(known, Mapping) else None
    return parameters


class TextCall(NamedTuple):
    """A call in a text.

    Attributes:
        form: The mark of it, as written; else what it is.
        written: The text around its marks; empty for Python.
        is_broken: Whether no parser could read it, since the model wrote it wrongly.
    """

    form: str
    written: str = ""
    is_broken: bool = False


def find_call_in_text(
    text: str, thoughts: str, offered: Offered, *, asked: str = "", is_cut: bool = False
) -> TextCall | None:
    """The call in an answer that has none outside of its text; `None` if the text is only text.

    Args:
        text: What the model said.
        thoughts: Its reasoning, where the server keeps that apart.
        offered: The tools, as `offered_parameters` reads them.
        asked: The user's last message: whoever asks for JSON, or how a tool is called, gets that.
        is_cut: Whether the answer ended at its token limit, so that a call must be whole: a part of one is the model's.
    """
    if not offered:
        return None
    text, thoughts = _shorten(text), _shorten(thoughts)
    found = _find_marked(text, offered, is_cut) or _find_marked(thoughts, offered, is_cut, is_thought=True)
    if found is not None:
        return found
    elements = re.finditer(r"<([\w.\-]+)>\s*<\w[^<>]*>.*?</\1>", text, re.DOTALL)
    if any(_find_offered(element[1], offered) for element in elements):
        return TextCall("<tool's name>")
    if _ASKS_FOR_IT.search(asked):
        return None
    return _find_unmarked(text if text.strip() else thoughts, offered, is_thought=not text.strip())


def _shorten(text: str) -> str:
    """Start and end of a long text: a call stands at one of them."""
    return text if len(text) <= 2 * _LONGEST_END else f"{text[:_LONGEST_END]}\n{text[-_LONGEST_END:]}"


def _find_marked(text: str, offered: Offered, is_cut: bool, *, is_thought: bool = False) -> TextCall | None:
    for mark in islice(_MARK.finditer(text), _MOST_STARTS):
        if text[mark.start() - 1 : mark.start()] == "`" and not mark.group().startswith("```"):
            continue  # a mention, as code
        if re.match(r"<\w+\s+\w+\s*=", mark.group()) and _NAMED_MARK.search(mark.group()) is None:
            continue  # HTML
        if not _is_call_behind(text, mark, offered):
            continue
        opening = _BRACKET.search(text, mark.end())
        if is_cut and "</" not in text[mark.end() :] and not (opening and _end_of_call(text, opening.start())):
            continue
        lead, tail = text[: mark.start()], _behind_call(text, mark.end())
        around = f"{lead[-200:]} {tail[:200]}"
        if (lead.count("```") % 2 or (tail.strip() and lead.strip())) and _EXAMPLE.search(around):
            continue
        is_in_sentence = re.search(r"\w[^\n]*$", lead) and re.match(r"[^\n]*\w", tail) and not _ANNOUNCED.search(around)
        if is_in_sentence or (is_thought and tail.strip()):
            continue  # a mention, or a plan and then something else
        form = re.sub(r"(=|\s+name=).*", r"\1…>", mark.group().strip())
        first = next(_MARK.finditer(text)).start()
        return TextCall(form, text[first : mark.end() + 200], not is_cut and _is_broken(text, mark.end()))
    return None


def _behind_call(text: str, mark_end: int) -> str:
    """What stands behind a marked call and its closing marks."""
    end, last = mark_end, text.rfind(">", mark_end) + 1
    while (opening := _BRACKET.search(text, end, end + 300)) and (closed := _end_of_call(text, opening.start())):
        end = closed
    return text[max(end, last) :].strip("`]}) \n;") if max(end, last) > mark_end else ""


def _is_call_behind(text: str, mark: re.Match[str], offered: Offered) -> bool:
    named = _NAMED_MARK.search(mark.group())
    window = text[mark.end() : mark.end() + 300]
    if named is not None and (_find_offered(named[1], offered) or re.match(r"\s*<|\s*\{", window)):
        return True
    start = re.match(r"[\s`]*(?:json\s*)?(?=[\[{])", window)
    if start is not None and any(_find_names(_read_json(text, mark.end() + start.end())[0], offered)):
        return True
    if (alone := re.match(r"\s*[\w./\-]+\s*</[\w ]+>(?!\s*[<{\[])", window)) is not None:
        lead, tail = text[: mark.start()].rpartition("\n")[2], window[alone.end() :].partition("\n")[0]
        if lead.strip() or tail.strip():
            return False  # only a name, within a line
    for word in _WORD.finditer(window):
        behind = window[word.end() :]
        if _find_offered(word.group(), offered):
            return _BEHIND.match(behind) is not None
        if word.group().lower() not in _BETWEEN and not word.group().isdigit():
            return re.match(r"[({]|\[ARGS\]|<[|｜/a]|\s*\n\s*[{<]", behind) is not None and not word.start()
    return False


def _find_offered(word: str, offered: Offered) -> str | None:
    bare = re.sub(r"^(?:functions?[.:]?|tools?[.:]|default_api\.)", "", word)
    return next((name for name in (word, bare, bare.rstrip(".")) if name in offered), None)


def _parsed(parse: Callable[..., Any], *given: Any) -> Any:
    """What a parser makes of a text; `None` where it refuses it."""
    try:
        return parse(*given)
    except (ValueError, SyntaxError, RecursionError, MemoryError, InvalidFileError):
        return None


def _read_yaml(text: str) -> Any:
    from toolbelt.sources import parse_yaml  # rarely needed, and it loads PyYAML

    return parse_yaml(text, "").data


def _read_json(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that starts there, and where it ends; `None` if there is none."""
    return _parsed(_DECODER.raw_decode, text, start) or (None, start)


def _find_names(value: Any, offered: Offered) -> Iterator[str]:
    """Names of the tools that are called by a value of some framework's form."""
    if isinstance(value, list):
        for item in value:
            yield from _find_names(item, offered)
    if not isinstance(value, dict) or (_OF_A_RECORD & value.keys() and len(value) > 1):
        return
    value = {_lowered(key): part for key, part in value.items()}
    key = next((key for key in _NAMES if isinstance(value.get(key), str)), "")
    name, given = value.get(key), {part: value[part] for part in value if part not in (key, "type", "id")}
    if not key and len(value) == 1:
        ((name, given),) = value.items()
    found = [arguments for part in _ARGUMENTS if (arguments := _read_arguments(part, value)) is not None]
    if isinstance(given, dict) and given and given.keys() <= (offered.get(name) or frozenset()):
        yield name
    elif key and found:
        if not _has_placeholder(found[0].values()):
            yield str(name)
    else:
        for part in _WRAPPERS:
            yield from _find_names(value.get(part), offered)


def _read_arguments(key: str, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    arguments = value.get(key)
    if isinstance(arguments, str):
        arguments = {} if key == "action_input" else _read_json(arguments.strip(), 0)[0]
    elif arguments is None and key in ("arguments", "parameters") and key in value and len(value) == 2:
        arguments = {}
    return arguments if isinstance(arguments, dict) and not _is_schema(arguments) else None


def _lowered(key: Any) -> str:
    """A key that says what a part of a call is, in the one spelling; any other as it is."""
    word = str(key).lower().replace(" ", "_")
    return word if word in _NAMES or word in _ARGUMENTS else str(key)


def _has_placeholder(values: Iterable[Any]) -> bool:
    return any(isinstance(value, str) and _PLACEHOLDER.fullmatch(value) for value in values)


def _is_schema(value: Mapping[str, Any]) -> bool:
    parts = value.values()
    is_flat = bool(parts) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts)
    return is_flat or "properties" in value or (value.get("type") == "object" and len(value) <= 2)


def _find_unmarked(text: str, offered: Offered, *, is_thought: bool) -> TextCall | None:
    text = _THOUGHTS.sub("", text)
    spans = sorted(_find_spans(text, offered))
    if not spans:
        return None
    lead, tail = text[: spans[0][0]], text[max(end for _, end, _ in spans) :]
    has_lead, has_tail = (_NOTHING.fullmatch(part) is None for part in (lead, tail))
    if is_thought and has_tail:
        return None  # a plan, and then something else
    if has_lead or has_tail:
        around = f"{lead[-_LONGEST_LEAD:]}\n{tail[:_LONGEST_LEAD]}"
        if _EXAMPLE.search(around) or re.search(r"(?m)^#+ |```\w*\n(?!\s*$)", lead):
            return None
        if len(lead) > _LONGEST_LEAD or (has_lead and has_tail and not _ANNOUNCED.search(around)):
            return None
    form = spans[0][2]
    return TextCall(form, text if form == _JSON else "")


def _find_spans(text: str, offered: Offered) -> Iterator[tuple[int, int, str]]:
    """Where whole calls of offered tools stand, and in which form."""
    end = 0
    for start in islice(_STARTS.finditer(text), _MOST_STARTS):
        if start.end() < end or _is_quoted(text, start.end()):
            continue
        value, end = _read_value(text, start.end())
        if _calls_offered(value, offered):
            yield start.end(), end, _JSON
    for lines in islice(_IN_YAML.finditer(text), _MOST_STARTS):
        if _find_offered(lines[1] or lines[2], offered) and _calls_offered(_parsed(_read_yaml, lines.group()), offered):
            yield *lines.span(), _JSON
    fences = list(islice(_CODE.finditer(text), _MOST_STARTS))
    for code in fences:
        if code[1].lower() in _LANGUAGES and _calls_python(code[2], offered):
            yield *code.span(2), _PYTHON
    words = (word for word in _WORD.finditer(text) if _find_offered(word.group(), offered))
    for word in islice(words, _MOST_STARTS):
        is_code = any(code.start() <= word.start() < code.end() for code in fences)
        yield from _find_call_of(text, word, offered, is_code=is_code)


def _calls_offered(value: Any, offered: Offered) -> bool:
    names = list(_find_names(value, offered))
    return bool(names) and all(_find_offered(name, offered) for name in names)


def _find_call_of(text: str, word: re.Match[str], offered: Offered, *, is_code: bool) -> Iterator[tuple[int, int, str]]:
    """`name(…)` on lines of their own, or a name with a JSON object behind it."""
    line_start = text.rfind("\n", 0, word.start()) + 1
    before = text[line_start : word.start()]
    if text[word.end() : word.end() + 1] == "(":
        end = _end_of_call(text, line_start)
        is_sure = not text[word.end() :].startswith("()") or "[" in before or "print" in before
        is_alone = not text[:line_start].strip() and not text[end:].strip()
        if not is_code and end and (is_sure or is_alone) and _calls_python(text[line_start:end], offered):
            yield line_start, end, _PYTHON
        return
    if any(each.lower() not in _BETWEEN for each in _WORD.findall(before)) and "to=" not in before:
        return
    if (glue := _TO_OBJECT.match(text, word.end())) is not None:
        value, last = _read_value(text, glue.end())
        if isinstance(value, dict) and not _is_schema(value) and not _OF_A_SCHEMA & value.keys():
            yield line_start, last, _JSON
        elif before.endswith("call:") and (last := text.find("}", glue.end())) >= 0:
            yield line_start, last + 1, _JSON


def _is_quoted(text: str, position: int) -> bool:
    """Whether it is code within a sentence."""
    before = text[text.rfind("\n", 0, position) + 1 : position].replace("```", "")
    return before.count("`") % 2 == 1 and re.search(r"\w", before) is not None


def _read_value(text: str, start: int) -> tuple[Any, int]:
    """As `_read_json`, and also Python's spelling of it, with single quotes."""
    value, end = _read_json(text, start)
    if value is not None or not (end := _end_of_call(text, start)):
        return value, max(end, start)
    return _parsed(ast.literal_eval, text[start:end]), end


_QUOTED = re.compile(r"""\"(?:\\.|[^"\\])*\"|'(?:\\.|[^'\\])*'|[()\[\]{}]""", re.DOTALL)


def _end_of_call(text: str, start: int) -> int:
    """Behind the bracket that closes the one that is there; 0 if none does."""
    depth = 0
    for piece in _QUOTED.finditer(text, start, start + 20_000):
        depth += (piece.group() in "([{") - (piece.group() in ")]}")
        if depth == 0:
            return piece.end()
    return 0


def _is_broken(text: str, start: int) -> bool:
    """Whether JSON begins behind a mark and cannot be read."""
    opening = _OBJECT.search(text, start, start + 300)
    return opening is not None and _read_value(text, opening.start())[0] is None


def _calls_python(code: str, offered: Offered) -> bool:
    """Whether it is Python that does nothing but call offered tools."""
    tree = _parsed(ast.parse, code.strip()) or _parsed(ast.parse, code.replace("\n", " ").strip())
    if tree is None or not all(isinstance(each, ast.Expr | ast.Assign | ast.AnnAssign) for each in tree.body):
        return False
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) != "print"]
    return bool(calls) and all(_is_call_of(call, offered) for call in calls)


def _is_call_of(call: ast.Call, offered: Offered) -> bool:
    name, words = _find_offered(ast.unparse(call.func), offered), [word.arg for word in call.keywords]
    if name is None or _has_placeholder(getattr(word.value, "value", None) for word in call.keywords):
        return False
    parameters = offered[name]
    if parameters is None or (len(call.args) == 1 and isinstance(call.args[0], ast.Dict)):
        return True
    return len(call.args) <= len(parameters) and (not words or any(word in parameters for word in words))
