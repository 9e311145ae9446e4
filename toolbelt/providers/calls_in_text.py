"""Calls that a server left in the text of an answer, where its parser should have taken them out (rule V2).

Two kinds are found. A mark is a token of a chat template, such as `<tool_call>` or `[TOOL_CALLS]`, with a call behind
it. Without a mark, as where a server drops special tokens, it must be a whole call of a tool that was offered: JSON
with name and arguments, `name(key=value)`, or a name with a JSON object behind it. The text around it decides whether
it is a call or an example of one.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

_NAMES = ("name", "tool_name", "function_name", "tool", "function", "action", "recipient_name")
_ARGUMENTS = (
    *("arguments", "parameters", "args", "params", "input", "kwargs"),
    *("tool_input", "action_input", "tool_args", "tool_arguments"),
)
_WRAPPERS = ("tool_calls", "tool_call", "function_call", "function_calls", "function", "calls", "action", "actions")
_OF_A_RECORD = frozenset({"description", "result", "results", "output", "response", "status", "step", "example"})
"""Keys of lists of tools, plans and reports, which name tools with arguments, and are none of their calls."""
_OF_A_SCHEMA = frozenset({"type", "properties", "required", "description", "parameters"})
_PARSERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "<arg_key>": ("glm45", "glm45"),
        "<seed:": ("seed_oss", ""),
        "<minimax:": ("minimax_m2", "minimax-m2"),
        "]<]minimax": ("minimax_m3", "minimax-m3"),
        "<function=": ("qwen3_coder", "qwen3_coder"),
        "<|python_tag|>": ("llama3_json", "llama3"),
        "<|python_start|>": ("llama4_pythonic", "pythonic"),
        "[tool_calls]": ("mistral", "mistral"),
        "｜dsml｜": ("deepseek_v32", "deepseekv32"),
        "<steptml:": ("step3", "step3"),
        "function<｜tool": ("deepseek_v3", "deepseekv3"),
        "<｜tool": ("deepseek_v31", "deepseekv31"),
        "<|tool_calls_section": ("kimi_k2", "kimi_k2"),
        "<|tool_call_begin|>": ("kimi_k2", "kimi_k2"),
        "<|tool_call_start|>": ("lfm2", "lfm2"),
        "<|tool_call>": ("gemma4", "gemma4"),
        "<start_function_call>": ("functiongemma", ""),
        "<|tool_call|>": ("granite", ""),
        "functools[": ("phi4_mini_json", ""),
        "<|action_start|>": ("internlm", "interns1"),
        "<|start_action|>": ("cohere_command3", "cohere_command4"),
        "<|tools_prefix|>": ("apertus", "apertus2509"),
        "to=functions.": ("openai", "gpt-oss"),
        "<tool_calls>": ("hunyuan_a13b", "hunyuan"),
        "<function_calls>": ("olmo3", ""),
        "<longcat_tool_call>": ("longcat", ""),
        "<dots_function_call>": ("", "dots"),
        "<function_call>": ("granite-20b-fc", ""),
        "<|function_call|>": ("gigachat3", "gigachat3"),
        "<tool_call>": ("hermes", "qwen25"),
    }
)
"""Names of the parsers of vLLM and SGLang by what a call holds, in small letters, the special before the general."""
_MARK = re.compile(
    r"<[^<>\n]{0,60}?(?:tool|func|call|action|python|plugin|invoke|recipient|channel)[^<>\n]{0,80}>"
    r"|\[/?[A-Z_]*(?:TOOL|FUNCTION|ARGS)[A-Z_]*\]|\[unused\d+\]|<\|open\|>call[^<>\n]{0,80}<\|sep\|>|functools(?=\[)|✿FUNCTION✿:|<\|start\|>assistant"
    r"|\bto=(?=functions\.)|(?:^|\n)>>>(?=\w)|```(?:tool|function)_?(?:code|calls?|use)\b|-> tool/function_call",
    re.IGNORECASE,
)
_NAMED_MARK = re.compile(
    r"""<(?:[\w:｜|]*?(?:function|invoke|tool|call)\w*)(?:[=:]\s*|\s+(?:name|tool)\s*=\s*)["']?([\w.\-/]+)""",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./\-]+")
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
_STEP = re.compile(r"action\s*:\s*`?([\w./\-]+)`?[ \t]*\n+\s*action[ _]input\s*:", re.IGNORECASE)
_STARTS = re.compile(r"(?:^|(?<=[\n:;`>]))[ \t]*(?=[\[{])")
_EXAMPLE = re.compile(
    r"e\.\s?g\.|example|how to|this way|like (?:this|so)\b|as follows|such as|imagine|suppose|snippet"
    r"|sample|illustrat|earlier|previous|contains|look(?:s|ed)? like|would (?:look|be|call|send|use)|could(?! not|n.t)"
    r"|for instance"
    r"|(?<!required )(?<!requested )(?<!specified )(?<!correct )(?<!proper )format|syntax|schema|shape|template|usage"
    r"|please confirm|do you approve|document|replace"
    r"|you (?:can|may|might|should|need|call|pass|send)|to call it"
    r"|beispiel|z\. ?b\.|sieht .{0,20}aus|wie folgt|folgender|würde|könnte|exemple|comme (?:ceci|suit)|ressembl|pourr"
    r"|ejemplo|así|podría|sería|esempio|così|potrebbe"
    r"|exemplo|poderia|voorbeeld|zou|eksempel|exempel|skulle|przykład|można|příklad|örnek|olabilir|esimer"
    r"|пример|можно|выгляд|приклад|مثال|उदाहरण|例|以下|比如|格式|예를|예시|형식",
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
_THOUGHTS = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_NOTHING = re.compile(r"(?:```\w*|<[^<>\n]*>|[^\w<]|\bjson\b|\baction\b)*", re.IGNORECASE)
_JSON, _CALL = "JSON", "name(key=value)"
_DECODER = json.JSONDecoder()
_LONGEST_LEAD = 400
_LONGEST_END = 8_000
_MOST_STARTS = 100


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call in a text.

    Attributes:
        form: The mark of it, as written; else what it is.
        vllm: vLLM's parser of that form; empty where it is not known.
        sglang: SGLang's.
    """

    form: str
    vllm: str = ""
    sglang: str = ""

    @property
    def remedy(self) -> str:
        """Which option of which server takes such calls out of the text."""
        vllm, sglang = self.vllm or "NAME", self.sglang or "NAME"
        return (
            f"vLLM needs --enable-auto-tool-choice --tool-call-parser {vllm}, SGLang --tool-call-parser {sglang}, "
            "llama.cpp's server --jinja, and Ollama a model whose template has tools."
        )


def find_call_in_text(
    text: str, thoughts: str, offered: Collection[str], *, asked: str = "", is_cut: bool = False
) -> TextCall | None:
    """The call in an answer that has none outside of its text; `None` if the text is only text.

    Args:
        text: What the model said.
        thoughts: Its reasoning, where the server keeps that apart.
        offered: Names of the tools, as they were offered.
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
    if any(_is_offered(element[1], offered) for element in elements):
        return TextCall("<tool's name>")
    if _ASKS_FOR_IT.search(asked):
        return None
    return _find_unmarked(text if text.strip() else thoughts, offered, is_thought=not text.strip())


def _shorten(text: str) -> str:
    """Start and end of a long text: a call stands at one of them."""
    return text if len(text) <= 2 * _LONGEST_END else f"{text[:_LONGEST_END]}\n{text[-_LONGEST_END:]}"


def _find_marked(text: str, offered: Collection[str], is_cut: bool, *, is_thought: bool = False) -> TextCall | None:
    for mark in islice(_MARK.finditer(text), _MOST_STARTS):
        if text[mark.start() - 1 : mark.start()] == "`" and not mark.group().startswith("```"):
            continue  # a mention, as code
        if re.match(r"<\w+\s+\w+\s*=", mark.group()) and _NAMED_MARK.match(mark.group()) is None:
            continue  # HTML
        if not _is_call_behind(text, mark, offered):
            continue
        opening = re.compile(r"[({\[]").search(text, mark.end())
        if is_cut and "</" not in text[mark.end() :] and not (opening and _end_of_call(text, opening.start())):
            continue
        lead = text[: mark.start()]
        tail = _behind_call(text, mark.end())
        in_fence = lead.count("```") % 2 == 1
        around = f"{lead[-200:]} {tail[:200]}"
        if (in_fence or (tail.strip() and lead.strip())) and _EXAMPLE.search(around):
            continue
        is_in_sentence = re.search(r"\w[^\n]*$", lead) and re.match(r"[^\n]*\w", tail) and not _ANNOUNCED.search(around)
        if is_in_sentence or (is_thought and tail.strip()):
            continue  # a mention, or a plan and then something else
        form = re.sub(r"(=|\s+name=).*", r"\1…>", mark.group().strip())
        first = next(_MARK.finditer(text)).start()
        return TextCall(form, *_find_parsers(text[first : mark.end() + 200]))
    return None


def _behind_call(text: str, mark_end: int) -> str:
    """What stands behind a marked call and its closing marks."""
    end, last, bracket = mark_end, text.rfind(">", mark_end) + 1, re.compile(r"[({\[]")
    while (opening := bracket.search(text, end, end + 300)) and (closed := _end_of_call(text, opening.start())):
        end = closed
    return text[max(end, last) :].strip("`]}) \n;") if max(end, last) > mark_end else ""


def _find_parsers(text: str) -> tuple[str, str]:
    lowered = text.lower()
    return next((names for held, names in _PARSERS.items() if held in lowered), ("", ""))


def _is_call_behind(text: str, mark: re.Match[str], offered: Collection[str]) -> bool:
    named = _NAMED_MARK.match(mark.group())
    window = text[mark.end() : mark.end() + 300]
    if named is not None and (_is_offered(named[1], offered) or re.match(r"\s*<|\s*\{", window)):
        return True
    if (inside := re.search(r'tool="([\w.\-/]+)"', mark.group())) is not None and _is_offered(inside[1], offered):
        return True
    if (start := re.match(r"[\s`]*(?:json\s*)?(?=[\[{])", window)) is not None:
        value, _ = _read_json(text, mark.end() + start.end())
        if any(True for _ in _find_names(value)) or _is_single(value, offered):
            return True
    for word in _WORD.finditer(window):
        behind = window[word.end() :]
        if _is_offered(word.group(), offered):
            return _BEHIND.match(behind) is not None
        if word.group().lower() not in _BETWEEN and not word.group().isdigit():
            return re.match(r"[({]|\[ARGS\]|<[|｜/a]|\s*\n\s*[{<]", behind) is not None and not word.start()
    return False


def _is_offered(word: str, offered: Collection[str]) -> bool:
    bare = re.sub(r"^(?:functions?[.:]?|tools?[.:]|default_api\.)", "", word)
    return word in offered or bare in offered or bare.rstrip(".") in offered


def _read_json(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that starts there, and where it ends; `None` if there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _find_names(value: Any) -> Iterator[str]:
    """Names of the tools that are called by a JSON value of some framework's form."""
    if isinstance(value, list):
        for item in value:
            yield from _find_names(item)
    if not isinstance(value, dict) or _OF_A_RECORD & value.keys():
        return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    for key in _ARGUMENTS if name is not None else ():
        arguments = value.get(key)
        if isinstance(arguments, str):
            arguments, _ = _read_json(arguments.strip(), 0)
        if arguments is None and key in value and key in ("arguments", "parameters") and len(value) == 2:
            arguments = {}
        if isinstance(arguments, dict) and not _is_schema(arguments):
            if not any(isinstance(each, str) and _PLACEHOLDER.fullmatch(each) for each in arguments.values()):
                yield str(name)
            return
    for key in _WRAPPERS:
        if isinstance(value.get(key), dict | list):
            yield from _find_names(value[key])


def _is_schema(value: Mapping[str, Any]) -> bool:
    parts = value.values()
    is_flat = bool(parts) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts)
    return is_flat or "properties" in value or (value.get("type") == "object" and len(value) <= 2)


def _is_single(value: Any, offered: Collection[str]) -> bool:
    """Whether it is `{"name": {arguments}}`, or a list of such."""
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, dict) and len(item) == 1 for item in items):
        return False
    pairs = [pair for item in items for pair in item.items()]
    return all(name in offered and isinstance(each, dict) and not _OF_A_SCHEMA & each.keys() for name, each in pairs)


def _find_unmarked(text: str, offered: Collection[str], *, is_thought: bool) -> TextCall | None:
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
    return TextCall(form, *_find_parsers(text)) if form == _JSON else TextCall(form, "pythonic", "pythonic")


def _find_spans(text: str, offered: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Where whole calls of offered tools stand, and in which form."""
    yield from _find_objects(text, offered)
    for step in _STEP.finditer(text):
        if _is_offered(step[1], offered):
            line_end = text.find("\n", step.end())
            yield step.start(), len(text) if line_end < 0 else line_end, _JSON
    words = (word for word in _WORD.finditer(text) if _is_offered(word.group(), offered))
    for word in islice(words, _MOST_STARTS):
        yield from _find_call_of(text, word)


def _find_objects(text: str, offered: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """JSON that holds name and arguments."""
    end = 0
    for number, start in enumerate(_STARTS.finditer(text)):
        if start.end() < end or number > _MOST_STARTS or _is_quoted(text, start.end()):
            continue
        value, end = _read_value(text, start.end())
        names = list(_find_names(value))
        is_whole = not text[: start.end()].strip("`json \n") and not text[end:].strip("` \n")
        is_call = (
            all(_is_offered(name, offered) for name in names) if names else is_whole and _is_single(value, offered)
        )
        if is_call:
            yield start.end(), end, _JSON


def _find_call_of(text: str, word: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """`name(key=value)`, or a name with a JSON object behind it."""
    line_start = text.rfind("\n", 0, word.start()) + 1
    before = text[line_start : word.start()]
    words = _WORD.findall(before)
    if any(each.lower() not in _BETWEEN for each in words) and "to=" not in before:
        return
    if text[word.end() : word.end() + 1] == "(":
        last = _end_of_call(text, word.end())
        is_sure = "[" in before or "print" in words or text[word.end() : last] != "()"
        if last and is_sure and _is_keyword_call(f"f{text[word.end() : last]}"):
            yield line_start, _end_of_call(text, line_start + len(before) - len(before.lstrip())) or last, _CALL
    elif (glue := _TO_OBJECT.match(text, word.end())) is not None:
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
    try:
        return ast.literal_eval(text[start:end]), end
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None, start + 1


_QUOTED = re.compile(r"""\"(?:\\.|[^"\\])*\"|'(?:\\.|[^'\\])*'|[()\[\]{}]""", re.DOTALL)


def _end_of_call(text: str, start: int) -> int:
    """Behind the bracket that closes the one that is there; 0 if none does."""
    depth = 0
    for piece in _QUOTED.finditer(text, start, start + 20_000):
        depth += (piece.group() in "([{") - (piece.group() in ")]}")
        if depth == 0:
            return piece.end()
    return 0


def _is_keyword_call(written: str) -> bool:
    try:
        call = ast.parse(written.replace("\n", " "), mode="eval").body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    if not isinstance(call, ast.Call) or any(not isinstance(value, ast.Dict) for value in call.args):
        return False
    values = (word.value.value for word in call.keywords if isinstance(word.value, ast.Constant))
    return not any(isinstance(value, str) and _PLACEHOLDER.fullmatch(value) for value in values)
