"""What each form of reply is, and whose fault: the one table of rule V2, to read from the top.

Direct, litellm's, recorded and imported answers are read by it. A row is found by the finish reason of an answer, in
any provider's word and case, or by the `Failure` that an error, or the form of the answer, was classified as. What no
row names is a failure of the server, never an answer. Of an answer without a finish reason the content decides.

Sources of the words: the references of OpenAI (chat completions, Responses), Anthropic, Gemini, Mistral, Cohere,
DeepSeek, Zhipu, Bedrock (Converse), watsonx and OpenRouter; the sources of vLLM, SGLang, TGI, llama.cpp and Ollama; and
the table of litellm, whose own reading (`stop` for what it does not know) is not followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from toolbelt.providers.chat import Failure


class Fault(StrEnum):
    """Whose fault it is that a reply is as it is."""

    CHOICE = "choice"
    """The model's choice: scored."""
    BROKEN_CALL = "broken_call"
    """The model's: its call could not be read. Scored, as wrong."""
    TRANSIENT = "transient"
    """The server's or the network's; asking again may help. Not scored."""
    PERMANENT = "permanent"
    """The server's, the account's or the request's; asking again does not help. Not scored."""
    TOOLS_NOT_SEEN = "tools_not_seen"
    """The server's: it did not show the model the tools. Not scored."""
    CALL_IN_TEXT = "call_in_text"
    """The server's: it left the call in the text. Not scored."""


class ReplyForm(NamedTuple):
    """A form of reply.

    Attributes:
        fault: Whose fault it is.
        finish_reason: OpenAI's word for it, which is stored; empty where no answer comes of it.
        failure: What is raised in place of an answer; `None` where it is one.
        words: Finish reasons that mean it, in lower case.
    """

    fault: Fault
    finish_reason: str = ""
    failure: Failure | None = None
    words: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


REPLY_FORMS = (
    ReplyForm(
        Fault.CHOICE,
        "stop",
        words=_words("stop end_turn stop_sequence complete completed eos eos_token done end finished"),
    ),
    ReplyForm(Fault.CHOICE, "tool_calls", words=_words("tool_calls tool_call tool_use function_call")),
    ReplyForm(
        Fault.CHOICE,
        "length",
        words=_words(
            "length max_tokens max_output_tokens max_completion_tokens model_length token_limit compaction "
            "max_messages model_context_window_exceeded error_limit incomplete pause_turn repetition"
        ),
    ),
    ReplyForm(
        Fault.CHOICE,
        "content_filter",
        Failure.REFUSED,
        _words(
            "content_filter content_filtered refusal safety recitation language blocklist prohibited_content spii "
            "other image_safety image_prohibited_content image_recitation image_other no_image escalation error_toxic "
            "sensitive guardrail_intervened"
        ),
    ),
    ReplyForm(
        Fault.BROKEN_CALL,
        failure=Failure.BROKEN_CALL,
        words=_words(
            "malformed_function_call unexpected_tool_call too_many_tool_calls malformed_response malformed_tool_use "
            "malformed_model_output tool_use_failed"
        ),
    ),
    ReplyForm(Fault.CALL_IN_TEXT, failure=Failure.CALL_IN_TEXT),
    ReplyForm(Fault.TOOLS_NOT_SEEN, failure=Failure.TOOLS_NOT_SEEN),
    ReplyForm(Fault.TRANSIENT, failure=Failure.RATE_LIMIT, words=_words("rate_limit_exceeded resource_exhausted")),
    ReplyForm(Fault.TRANSIENT, failure=Failure.TIMEOUT, words=_words("timeout time_limit")),
    ReplyForm(Fault.TRANSIENT, failure=Failure.UNAVAILABLE, words=_words("insufficient_system_resource")),
    ReplyForm(
        Fault.TRANSIENT,
        failure=Failure.BROKEN_ANSWER,
        words=_words("error network_error server_error failed abort aborted cancelled canceled not_finished unknown"),
    ),
    ReplyForm(Fault.PERMANENT, failure=Failure.CONTEXT_OVERFLOW),
    ReplyForm(Fault.PERMANENT, failure=Failure.AUTHENTICATION),
    ReplyForm(Fault.PERMANENT, failure=Failure.NOT_FOUND),
    ReplyForm(Fault.PERMANENT, failure=Failure.QUOTA),
    ReplyForm(Fault.PERMANENT, failure=Failure.BAD_REQUEST, words=_words("missing_thought_signature")),
    ReplyForm(Fault.PERMANENT, failure=Failure.REQUEST_TOO_LARGE),
)
_BY_WORD: Mapping[str, ReplyForm] = MappingProxyType({word: form for form in REPLY_FORMS for word in form.words})
_BY_FAILURE: Mapping[Failure, ReplyForm] = MappingProxyType(
    {form.failure: form for form in REPLY_FORMS if form.failure is not None}
)


def find_form(finish_reason: str) -> ReplyForm:
    """The form of an answer by its finish reason; an unknown one is a failure, an empty one decides nothing."""
    return _BY_WORD.get(finish_reason.strip().lower() or "stop", _BY_FAILURE[Failure.BROKEN_ANSWER])


def is_failure(finish_reason: str) -> bool:
    """Whether a row names it, and no answer comes of it."""
    form = _BY_WORD.get(finish_reason.strip().lower())
    return form is not None and form.failure is not None


def find_fault(failure: Failure) -> Fault:
    """Whose fault a failure is."""
    return _BY_FAILURE[failure].fault
