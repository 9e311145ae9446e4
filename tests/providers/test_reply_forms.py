"""The table of reply forms (rule V2)."""

from __future__ import annotations

import pytest

from toolbelt.providers.chat import Failure
from toolbelt.providers.reply_forms import REPLY_FORMS, Fault, find_fault, find_form


def test_V2_every_word_and_every_failure_is_in_exactly_one_row() -> None:
    words = [word for form in REPLY_FORMS for word in form.words]
    assert len(words) == len(set(words))
    failures = [form.failure for form in REPLY_FORMS if form.failure is not None]
    assert sorted(failures) == sorted(Failure)


@pytest.mark.parametrize("failure", list(Failure))
def test_V2_what_is_asked_again_is_what_passes(failure: Failure) -> None:
    assert failure.is_passing is (find_fault(failure) is Fault.TRANSIENT)


@pytest.mark.parametrize(
    ("word", "fault"),
    [
        ("", Fault.CHOICE),
        ("STOP", Fault.CHOICE),
        ("end_turn", Fault.CHOICE),
        ("MALFORMED_FUNCTION_CALL", Fault.BROKEN_CALL),
        ("ERROR", Fault.TRANSIENT),
        ("a word of next year", Fault.TRANSIENT),
    ],
)
def test_V2_an_unknown_finish_reason_is_a_failure(word: str, fault: Fault) -> None:
    assert find_form(word).fault is fault
