"""Recorded and live responses at the gate (rule X3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.evals.analysis.evidence.sides import ABOUT
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, CaseEvidence, SideInfo
from toolbelt.evals.analysis.gate.checks import check_preconditions
from toolbelt.evals.analysis.gate.recorded import MixKind, RecordedUse, find_recorded_use
from toolbelt.evals.analysis.gate.verdict import PASS, UNSURE
from toolbelt.evals.analysis.summary.responses import AnswerOrigin, ModelResponses
from toolbelt.evals.scoring.outcome import Outcome

OLD = AnswerOrigin(10, "2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z", ("m-1",), ("fp_1", "fp_2"))
NEW = AnswerOrigin(2, "2026-09-20T00:00:00Z", "2026-09-21T12:00:00Z", ("m-1",), ("fp_2",))


class Side:
    """A side whose cases have these digests."""

    def __init__(self, responses: tuple[ModelResponses, ...], digests: Mapping[str, str]) -> None:
        self.about: SideInfo = replace(ABOUT, responses=responses)
        self.arms = (ArmName("m", "full"),)
        self._digests = digests

    def find_exchange(self, arm: int) -> str:
        return ""

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        attempts = (Attempt(Outcome.CORRECT, True),)
        return {case: CaseEvidence(case, case, "", attempts, digest) for case, digest in self._digests.items()}


def use(live: AnswerOrigin = NEW, recorded: AnswerOrigin = OLD, days: float = 30.0, **options: Any) -> RecordedUse:
    before = Side((ModelResponses("m", OLD),), {"a": "1", "b": "2"})
    now = Side((ModelResponses("m", recorded, live),), {"a": "1", "b": "3", "c": "4", "d": ""})
    found = find_recorded_use(now, before, days, is_allowed=options.get("is_allowed", False))
    assert found is not None
    return found


def test_X3_what_changed_and_was_added_is_counted() -> None:
    found = use()
    assert (found.reused, found.asked) == (10, 2)
    assert (found.same, found.changed, found.added) == (1, 1, 1)
    assert found.digest != found.baseline_digest
    assert found.mixed == ()
    assert found.days == pytest.approx(20.5)


@pytest.mark.parametrize(
    ("live", "kind"),
    [
        (replace(NEW, served_by=("m-2",)), MixKind.MODEL),
        (replace(NEW, fingerprints=("fp_3",)), MixKind.FINGERPRINT),
        (replace(NEW, newest="2026-10-02T00:00:01Z"), MixKind.AGE),
    ],
    ids=["another-model", "another-fingerprint", "31-days"],
)
@pytest.mark.parametrize("recorded", [OLD, AnswerOrigin()], ids=["of-the-run", "of-the-baseline-alone"])
def test_X3_responses_of_two_kinds_decide_nothing_unless_allowed(
    live: AnswerOrigin, kind: MixKind, recorded: AnswerOrigin
) -> None:
    for is_allowed, verdict in ((False, UNSURE), (True, PASS)):
        found = use(live, recorded, is_allowed=is_allowed)
        assert [mixed.kind for mixed in found.mixed] == [kind]
        [check] = [check for check in check_preconditions(ABOUT, (), None, 0, found) if check.name == "responses"]
        assert (check.verdict, check.limit) == (verdict, 30.0)


def test_X3_the_age_is_the_users_choice() -> None:
    assert use(days=20.0).mixed
    assert not use(days=21.0).mixed


def test_X3_a_run_of_recorded_responses_alone_mixes_nothing() -> None:
    found = use(AnswerOrigin())
    assert (found.mixed, found.days, found.asked) == ((), None, 0)


def test_a_run_without_a_cache_has_no_check() -> None:
    assert find_recorded_use(Side((), {"a": ""}), None, 30.0, is_allowed=False) is None
    assert "responses" not in {check.name for check in check_preconditions(ABOUT, (), None)}
