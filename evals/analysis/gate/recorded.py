"""Recorded and live responses of a run and its baseline: how many changed, and whether they may be mixed (rule X3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.summary.responses import AnswerOrigin, join_origins

MAX_AGE_DAYS = 30.0
"""Days by which recorded and live responses of a model may be apart."""
_DAY_SECONDS = 86_400


class MixKind(StrEnum):
    """In what recorded and live responses of one model differ."""

    MODEL = "model"
    FINGERPRINT = "fingerprint"
    AGE = "age"


@dataclass(frozen=True, slots=True)
class MixedResponses:
    """Recorded and live responses of a model that are not of one kind.

    Attributes:
        model: Its name.
        kind: In what they differ.
        recorded: What the recorded ones report; for `age` the day of the oldest.
        live: What the live ones report; for `age` the day of the newest.
        days: How far they are apart.
    """

    model: str
    kind: MixKind
    recorded: tuple[str, ...]
    live: tuple[str, ...]
    days: float


@dataclass(frozen=True, slots=True)
class RecordedUse:
    """What a run and its baseline have of recorded responses.

    Attributes:
        digest: Of the run's requests and answers, whenever they were recorded; 16 hexadecimal digits.
        baseline_digest: Likewise of the baseline; empty where it has none.
        reused: Responses of the run that were reused.
        asked: Responses that it asked.
        oldest: When the first of the reused ones was recorded; empty for none.
        newest: When the last was.
        same: Cases, counted for each arm, of which requests and answers are those of the baseline.
        changed: Cases of which a request or an answer is another.
        added: Cases for which the baseline has no responses.
        mixed: Why recorded and live responses should not be mixed; empty where nothing speaks against it.
        days: By how many days recorded and live responses are apart at most; `None` where there are not both.
        is_allowed: Whether the user allows it all the same.
    """

    digest: str
    baseline_digest: str
    reused: int
    asked: int
    oldest: str
    newest: str
    same: int
    changed: int
    added: int
    mixed: tuple[MixedResponses, ...]
    days: float | None
    is_allowed: bool


def find_recorded_use(run: Side, baseline: Side | None, max_age_days: float, *, is_allowed: bool) -> RecordedUse | None:
    """What a run and its baseline have of recorded responses; `None` where the run has none.

    Args:
        run: The run that is checked.
        baseline: What it is compared with. Its responses count as recorded, whoever asked them.
        max_age_days: By how much recorded and live responses may be apart.
        is_allowed: Whether they may be mixed in any case.
    """
    used = run.about.responses
    if not used:
        return None
    before = {} if baseline is None else _digest_cases(baseline)
    now = _digest_cases(run)
    both = now.keys() & before.keys()
    same = sum(now[place] == before[place] for place in both)
    of_baseline = () if baseline is None else baseline.about.responses
    known = {one.model: join_origins(one.recorded, one.live) for one in of_baseline}
    pairs = [(one.model, join_origins(one.recorded, known.get(one.model, AnswerOrigin())), one.live) for one in used]
    apart = [_days_between(recorded, live) for _, recorded, live in pairs if recorded.responses and live.responses]
    reused = join_origins(*(one.recorded for one in used))
    return RecordedUse(
        digest=_digest(now),
        baseline_digest=_digest(before) if before else "",
        reused=reused.responses,
        asked=sum(one.live.responses for one in used),
        oldest=reused.oldest,
        newest=reused.newest,
        same=same,
        changed=len(both) - same,
        added=len(now) - len(both),
        mixed=tuple(mix for pair in pairs for mix in _find_mixed(*pair, max_age_days)),
        days=max(apart, default=None),
        is_allowed=is_allowed,
    )


def _find_mixed(model: str, recorded: AnswerOrigin, live: AnswerOrigin, max_days: float) -> Iterator[MixedResponses]:
    if not recorded.responses or not live.responses:
        return
    days = _days_between(recorded, live)
    for kind, before, now in (
        (MixKind.MODEL, recorded.served_by, live.served_by),
        (MixKind.FINGERPRINT, recorded.fingerprints, live.fingerprints),
    ):
        # A provider may answer with several at a time; what only the recorded ones report is no other kind.
        if not set(now) <= set(before):
            yield MixedResponses(model, kind, before, now, days)
    if days > max_days:
        yield MixedResponses(model, MixKind.AGE, (recorded.oldest[:10],), (live.newest[:10],), days)


def _days_between(recorded: AnswerOrigin, live: AnswerOrigin) -> float:
    """Of the two that are farthest apart."""
    first, last = min(recorded.oldest, live.oldest), max(recorded.newest, live.newest)
    return (_read_time(last) - _read_time(first)) / _DAY_SECONDS


def _read_time(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:  # of a file that somebody changed
        return 0.0


def _digest_cases(side: Side) -> Mapping[tuple[str, ...], str]:
    """By arm and case, the digest of its responses; cases without any are left out."""
    if not side.about.responses:
        return {}
    return {
        (*name.key, case.case): case.responses
        for arm, name in enumerate(side.arms)
        for case in side.read(arm).values()
        if case.responses
    }


def _digest(cases: Mapping[tuple[str, ...], str]) -> str:
    texts: Iterable[str] = sorted("\0".join((*place, digest)) for place, digest in cases.items())
    return hashlib.sha256("\n".join(texts).encode(errors="surrogatepass")).hexdigest()[:16]
