"""The prompts that ask a model for drafts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from toolbelt.catalog.definitions import openai_definition
from toolbelt.catalog.frozen import thaw
from toolbelt.evals.conversation import Message
from toolbelt.evals.drafts.jobs import Job

_MOST_DESCRIPTION = 400
"""Characters of a neighbour's description in a prompt."""
_MOST_REPEATED = 20_000
"""Characters of an unusable answer that the second prompt repeats."""
_MOST_FAULTS = 12

SYSTEM = (
    "You write test cases for assistants that choose between tools. You speak for their users: real people with "
    "something to get done, who have never seen the tools and do not know what they are called."
)


def opening_messages(job: Job) -> tuple[Message, ...]:
    """The first request about a tool."""
    return ({"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n".join(_opening(job))})


def further_messages(
    before: Sequence[Message], answer: str, faults: Sequence[str], missing: Sequence[str]
) -> tuple[Message, ...]:
    """The second request, with what was wrong with the first answer.

    Args:
        before: The first request.
        answer: Text of the answer.
        faults: The unusable parts of the answer, and why.
        missing: The missing parts.
    """
    lines = ["Thank you. Not all of it can be used:"] if faults else ["Thank you. Some of it is missing."]
    lines += [f"- {fault}" for fault in faults[:_MOST_FAULTS]]
    lines += ["", "Still wanted, by the same rules and unlike what you wrote before:"]
    lines += [f"- {part}" for part in missing]
    lines += ["", "Answer with JSON alone, in the same form, with what is still wanted; nothing else."]
    repeated = answer.strip()[:_MOST_REPEATED] or "(nothing)"
    return (*before, {"role": "assistant", "content": repeated}, {"role": "user", "content": "\n".join(lines)})


def _opening(job: Job) -> Iterator[str]:
    quota = job.quota
    yield f"Drafting for: {job.tool.id}"
    yield ""
    yield "The tool:"
    yield _json(openai_definition(job.tool, job.name)["function"])
    if job.neighbours:
        yield ""
        yield "Other tools that are easily taken for it:"
        for neighbour in job.neighbours:
            description = " ".join(neighbour.tool.description.split())[:_MOST_DESCRIPTION]
            yield f"- {neighbour.name}: {description}"
    yield ""
    if quota.tasks:
        yield (
            f"Write {_count(quota.tasks, 'task')} that differ from each other, each done by one call of the tool and "
            "by no other tool. For each give the arguments of the call, valid against its parameters, and "
            f"{_count(quota.wordings, 'wording')} of the same request, as different people would type it: curt, "
            "chatty, indirect, careless."
        )
    if quota.near_misses:
        yield (
            f"Write {_count(quota.near_misses, 'near miss', 'near misses')}: a request that sounds as if it were for "
            "the tool, but for which one of the other tools is right (give its name), or none at all (give null)."
        )
    yield "Rules:"
    yield "- Every wording states every value in the arguments, word for word; what is not stated is no argument."
    yield "- No request names a tool, or says that there are tools."
    yield "- No two requests are alike, and each can be understood on its own."
    if job.language is not None:
        yield f"- Write the requests in {job.language}."
    yield ""
    yield "Answer with JSON alone, in this form:"
    yield _json(_form(job))


def _form(job: Job) -> dict[str, Any]:
    form: dict[str, Any] = {}
    if job.quota.tasks:
        form["tasks"] = [{"arguments": {"NAME": "VALUE"}, "queries": ["REQUEST"]}]
    if job.quota.near_misses:
        form["near_misses"] = [{"query": "REQUEST", "tool": "NAME OR null"}]
    return form


def _json(value: Any) -> str:
    return json.dumps(thaw(value), ensure_ascii=False)


def _count(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
