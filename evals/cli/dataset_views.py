"""Datasets and cases on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from toolbelt.console.tables import fitted_table
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.evals.cli.dataset_card_view import card_parts
from toolbelt.evals.cli.dataset_card_view import fact as _fact
from toolbelt.text import json_text, plural, visible, visible_lines

_MOST_TAGS = 20
_MOST_UNANSWERED = 5


def list_view(rows: Sequence[Mapping[str, Any]], screen: Console) -> RenderableType:
    """Datasets, a line each."""
    cells = [
        (
            visible(row["name"]),
            f"{row['cases']:,}",
            f"{row['catalog']['tools']:,}",
            row["digest"][:16],
            Text(_counts(row["kinds"])),
        )
        for row in rows
    ]
    return fitted_table(screen, ("dataset", "cases", "tools", "digest", "kinds"), cells, right=(1, 2))


def dataset_view(data: Mapping[str, Any], screen: Console) -> RenderableType:
    """What a dataset holds."""
    catalog = data["catalog"]
    tools = f"{plural(catalog['tools'], 'tool')} in {plural(catalog['plugins'], 'plugin')}"
    parts: list[RenderableType] = [
        Text.assemble((visible(data["name"]), "bold"), f"  {plural(data['cases'], 'case')} in {data['source']}"),
        _fact("layout", LayoutKind(data["layout"]).description),
        _fact("catalog", f"{catalog['name']}: {tools} ({catalog['source']})"),
        _fact("digest", data["digest"]),
        _fact("clusters", f"{data['clusters']:,}"),
        _fact("answered", _answered(data)),
    ]
    if data["drafts"]:
        parts.append(_fact("drafts", f"{data['drafts']:,}, not reviewed yet"))
    if data["card"]:
        parts[1:1] = card_parts(data["card"])
    if data["roles"]:
        parts.append(_fact("roles", ", ".join(data["roles"])))
    if data["loadouts"]:
        named = [f"{one['name']} ({one['tools']:,})" for one in data["loadouts"]]
        parts.append(_fact("loadouts", ", ".join(named)))
    for label, counts in (("kind", data["kinds"]), ("tag", data["tags"]), ("excluded", data["excluded"])):
        if counts:
            ranked = sorted(counts.items(), key=lambda row: -row[1])
            rows = [(visible(name) or "(none)", f"{count:,}", "") for name, count in ranked[:_MOST_TAGS]]
            parts += [Text(), fitted_table(screen, (label, "cases", ""), rows, right=(1,))]
            if len(ranked) > _MOST_TAGS:
                parts.append(Text(f"… and {len(ranked) - _MOST_TAGS:,} more (--json)", "bright_black"))
    for one in data["exclusions"][:5]:
        shown = f"line {one['line']}: {one['case']} ({one['detail']})"
        parts.append(Text(f"  {visible(shown)}", "bright_black"))
    return Group(*parts)


def _answered(data: Mapping[str, Any]) -> str:
    """How many tools of the catalog are the answer somewhere; the others by name, where they are few."""
    total, unanswered = data["catalog"]["tools"], data["unanswered"]
    text = f"{total - len(unanswered):,} of {plural(total, 'tool')}"
    if not unanswered:
        return text
    more = " and more (--json)" if len(unanswered) > _MOST_UNANSWERED else ""
    return f"{text}; none asks for {', '.join(unanswered[:_MOST_UNANSWERED])}{more}"


def case_view(data: Mapping[str, Any]) -> RenderableType:
    """One case whole."""
    about = [data["kind"], *(f"#{tag}" for tag in data["tags"])]
    parts: list[RenderableType] = [
        Text.assemble((visible(data["id"]), "bold"), f"  {visible(' '.join(filter(None, about)))}"),
        _fact("line", f"{data['line']} of {data['source']}"),
    ]
    if data["role"]:
        parts.append(_fact("role", data["role"]))
    if data["cluster"] != data["id"]:
        parts.append(_fact("cluster", data["cluster"]))
    parts.append(Text())
    for message in data["messages"]:
        content = message.get("content")
        shown = content if isinstance(content, str) else json_text(content)
        parts.append(Text.assemble((f"{visible(str(message.get('role')))}: ", "bold"), visible_lines(shown)))
        parts += [Text(f"  calls {json_text(call)}") for call in message.get("tool_calls") or ()]
    parts.append(Text())
    parts += _answers(data)
    for label, key in (("forbidden", "forbidden"), ("allowed too", "allowed_extra")):
        if data[key]:
            parts.append(_fact(label, ", ".join(data[key])))
    if data["offered"] is not None:
        parts.append(_fact("offered", ", ".join(data["offered"]) or "nothing"))
    for tool, results in data["results"].items():
        parts += [_fact("result", f"{tool}: {result}") for result in results]
    parts.append(_fact("match", f"{data['match']}, at most {plural(data['steps'], 'step')}"))
    return Group(*parts)


def _answers(data: Mapping[str, Any]) -> Iterable[RenderableType]:
    if data["expected"] is None:
        yield _fact("right", "any call")
        return
    for number, answer in enumerate((data["expected"], *data["accept"])):
        label = "right" if number == 0 else "or"
        if not answer:
            yield _fact(label, "no call")
        for position, call in enumerate(answer):
            yield _fact(label if position == 0 else "and", _call(call))


def _call(call: Mapping[str, Any]) -> str:
    tools = " or ".join(call["tools"])
    arguments = call["arguments"]
    if arguments is None:
        return f"{tools}, whatever the arguments"
    named = [_argument(name, values, arguments["optional"]) for name, values in arguments["accepted"].items()]
    end = "" if arguments["exact"] else ", …"
    rules = "" if arguments["rules"] == "literal" else f"  ({arguments['rules']} rules)"
    return f"{tools}({', '.join(named)}{end}){rules}"


def _argument(name: str, values: Sequence[Any], optional: Sequence[str]) -> str:
    shown = " | ".join(" ".join(json_text(value).split()) for value in values)
    return f"{name}{'?' if name in optional else ''}={shown}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{visible(name) or '(none)'} {count:,}" for name, count in counts.items())
