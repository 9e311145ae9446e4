"""What is wrong with a reply by its form, whatever the case expects (rule E4)."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.conversation import Reply
from toolbelt.evals.offers import Offer


def is_truncated(reply: Reply, offer: Offer, max_tokens: int | None = None) -> bool:
    """Whether the token limit cut a reply before its calls were complete.

    Some servers drop the call that was cut: then there is only text, or nothing. Others send what there is of it, which
    is no JSON, or close it, so that arguments are missing; and some of these say `tool_calls` and not `length`. Calls
    before the last one are complete.

    Args:
        reply: What came.
        offer: What was offered.
        max_tokens: The limit that was set; `None` for the provider's.
    """
    if not reply.calls:
        return reply.is_cut
    used = reply.usage.completion_tokens
    if not reply.is_cut and (max_tokens is None or used is None or used < max_tokens):
        return False
    last = reply.calls[-1]
    if last.arguments is None:
        return True
    offered = offer.by_name.get(last.name)
    required = () if offered is None else offered.tool.parameters.get("required", ())
    return isinstance(required, Sequence) and any(name not in last.arguments for name in required)
