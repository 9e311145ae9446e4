"""Which answers of a run were recorded, and which it asked (rule X3)."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from toolbelt.views.json_values import Amount, Count, described


@dataclass(frozen=True, slots=True)
class AnswerOrigin:
    """Where answers of one model come from, recorded or asked by the run.

    Attributes:
        responses: Their number.
        oldest: When the first was answered, ISO 8601 in UTC; empty where there are none.
        newest: When the last was.
        served_by: Models that answered, as the provider names them, sorted.
        fingerprints: Of builds and settings that answered, where the provider reports them, sorted.
    """

    responses: Count = field(default=0, metadata=described("answers"))
    oldest: str = field(default="", metadata=described("when the first was given, ISO 8601 in UTC; empty for none"))
    newest: str = field(default="", metadata=described("when the last was given; empty for none"))
    served_by: tuple[str, ...] = field(
        default=(), metadata=described("models that answered, as the provider names them")
    )
    fingerprints: tuple[str, ...] = field(
        default=(), metadata=described("of builds and settings that answered, where they are reported")
    )


@dataclass(frozen=True, slots=True)
class ModelResponses:
    """The answers of a model that is asked over a response cache."""

    model: str = field(metadata=described("name of the model"))
    recorded: AnswerOrigin = field(
        default=AnswerOrigin(), metadata=described("reused; they are no requests of this run, and cost it nothing")
    )
    live: AnswerOrigin = field(default=AnswerOrigin(), metadata=described("asked by this run"))
    original_cost_usd: Amount | None = field(
        default=0.0,
        metadata=described(
            "what the reused ones cost when they were asked; null where a price is unknown", "US dollars"
        ),
    )


def join_origins(*origins: AnswerOrigin) -> AnswerOrigin:
    """Answers of several origins together."""
    some = [one for one in origins if one.responses]
    return AnswerOrigin(
        sum(one.responses for one in some),
        min((one.oldest for one in some), default=""),
        max((one.newest for one in some), default=""),
        tuple(sorted({name for one in some for name in one.served_by})),
        tuple(sorted({name for one in some for name in one.fingerprints})),
    )


def read_responses(connection: sqlite3.Connection, run: str, arms: int) -> tuple[ModelResponses, ...]:
    """The answers of each model of a run of which any was reused or recorded, by the order of the arms.

    Args:
        connection: To the file of runs.
        run: Its id.
        arms: Their number, by which a trial's number gives its arm.
    """
    if not connection.execute("SELECT 1 FROM responses WHERE run = ? LIMIT 1", (run,)).fetchone():
        return ()
    rows = connection.execute(
        "SELECT a.model, coalesce(p.is_reused, 0) AS reused, count(*), "
        "min(coalesce(p.recorded, t.finished, u.created)), max(coalesce(p.recorded, t.finished, u.created)), "
        "json_group_array(DISTINCT json_extract(r.reply, '$.served_by')), "
        "json_group_array(DISTINCT json_extract(r.reply, '$.fingerprint')), "
        "total(CASE WHEN p.is_reused THEN p.cost_usd END), sum(p.is_reused AND p.cost_usd IS NULL) "
        "FROM requests AS r JOIN runs AS u ON u.run = r.run JOIN arms AS a ON a.run = r.run AND a.arm = r.trial % ?2 "
        "LEFT JOIN responses AS p ON p.run = r.run AND p.trial = r.trial AND p.request = r.request "
        "AND p.attempt = r.attempt LEFT JOIN trials AS t ON t.run = r.run AND t.trial = r.trial "
        "WHERE r.run = ?1 AND r.failure IS NULL GROUP BY a.model, reused ORDER BY min(a.arm)",
        (run, arms),
    ).fetchall()
    cached = {
        model
        for (model,) in connection.execute(
            "SELECT DISTINCT a.model FROM responses AS p JOIN arms AS a ON a.run = p.run AND a.arm = p.trial % ?2 "
            "WHERE p.run = ?1",
            (run, arms),
        )
    }
    found: dict[str, dict[int, AnswerOrigin]] = {}
    costs: dict[str, float | None] = {}
    for model, reused, count, oldest, newest, served_by, fingerprints, cost, unpriced in rows:
        if model in cached:
            found.setdefault(model, {})[reused] = AnswerOrigin(
                count, oldest, newest, _names(served_by), _names(fingerprints)
            )
            if reused:
                costs[model] = None if unpriced else cost
    return tuple(
        ModelResponses(model, of.get(1, AnswerOrigin()), of.get(0, AnswerOrigin()), costs.get(model, 0.0))
        for model, of in found.items()
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in json.loads(text) if isinstance(name, str) and name))


def read_response_keys(connection: sqlite3.Connection, run: str) -> set[str]:
    """Keys of the recorded responses that a run reused, and of those that it recorded."""
    return {key for (key,) in connection.execute("SELECT key FROM responses WHERE run = ?", (run,))}


def read_answers(connection: sqlite3.Connection, run: str, arm: int) -> Mapping[str, str]:
    """By case, a digest of the recorded responses that an arm used in it; cases without any are left out.

    A case has the same digest in another run if it was asked the same, and answered the same: requests and answers, of
    all epochs, are what it is of, and not when they were recorded.
    """
    rows = connection.execute(
        "SELECT t.case_id, p.key, p.answer FROM trials AS t CROSS JOIN responses AS p ON p.run = t.run "
        "AND p.trial = coalesce(t.same_as, t.trial) WHERE t.run = ? AND t.arm = ? "
        "ORDER BY t.case_id, t.epoch, p.request, p.attempt",
        (run, arm),
    )
    digests: dict[str, list[str]] = {}
    for case, key, answer in rows:
        digests.setdefault(case, []).append(f"{key}{answer}")
    return {case: digest_texts(texts) for case, texts in digests.items()}


def digest_texts(texts: Iterable[str]) -> str:
    """A short digest of texts in their order; 10 hexadecimal digits."""
    digest = hashlib.sha256()
    for number, text in enumerate(texts):  # one at a time: a run may have a million
        digest.update(f"\n{text}".encode() if number else text.encode())
    return digest.hexdigest()[:10]
