"""Measures as people read them; an unmeasured value is `–`, which is neither 0 nor empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.spec import BY_ROLE, find_toolset
from toolbelt.evals.views.recorded import recorded_line
from toolbelt.models.facts import ModelFacts, describe_end
from toolbelt.render.numbers import (
    ESTIMATED,
    format_cost,
    format_share,
)
from toolbelt.text import plural
from toolbelt.views.blocks import Note
from toolbelt.views.cells import Tone


def arm_labels(summary: RunSummary) -> list[str]:
    """A label for each arm, in their order; without the model where all have the same."""
    if len({arm.model for arm in summary.arms}) > 1 or len(summary.arms) == 1:
        return [arm.label for arm in summary.arms]
    return [arm.toolset_label for arm in summary.arms]


def same_model(summary: RunSummary) -> str | None:
    """The model, if all arms have the same one."""
    models = {arm.model for arm in summary.arms}
    return models.pop() if len(models) == 1 else None


def status_notes(summary: RunSummary) -> list[Note]:
    """Notes to read before the figures: what was left out, what failed, what is missing."""
    tone = Tone.PLAIN if summary.status == "finished" else Tone.WARNING
    status = _status_line(summary)
    cut = truncated_line(summary)
    return [
        *([Note(status, tone)] if status else []),
        *([Note(cut, Tone.WARNING)] if cut else []),
        *(Note(line, Tone.WARNING) for line in _model_lines(summary)),
        *map(Note, _gap_lines(summary)),
    ]


def status_lines(summary: RunSummary) -> list[str]:
    """The texts of `status_notes`."""
    return [note.text for note in status_notes(summary)]


def _model_lines(summary: RunSummary) -> Iterator[str]:
    """What aliases stood for, and which models were gone or about to go when the run began."""
    try:
        began = date.fromisoformat(summary.created[:10])
    except ValueError:  # unknown, or written by something else
        began = None
    for model, known in summary.model_facts.items():
        if targets := [known[key] for key in ("asked_as", "alias_of") if key in known]:
            yield f"{model} stands for {', which is '.join(targets)}."
        if began is not None and (day := known.get("deprecation_date")):
            left = (date.fromisoformat(day) - began).days
            facts = ModelFacts(model, deprecation_date=day, successor=known.get("successor"), days_left=left)
            yield from filter(None, (describe_end(facts, with_days=False),))


def _gap_lines(summary: RunSummary) -> list[str]:
    lines = []
    if spent := summary.spent_usd:
        unknown = sum(arm.cost_usd_total is None for arm in summary.arms)
        beside = f", without {plural(unknown, 'arm')} of unknown cost" if unknown else ""
        lines.append(f"Cost in all: {format_cost(spent)}, retries and unscored trials included{beside}.")
    if shared := sum(arm.shared for arm in summary.arms):
        of = f"{shared:,} of {plural(sum(arm.finished for arm in summary.arms), 'trial')}"
        saved = sum(arm.shared_cost_usd or 0.0 for arm in summary.arms)
        cost = f", which saved {format_cost(saved)}; each arm's cost is what it takes alone" if saved else ""
        lines.append(f"Asked once: {of} had the same requests as those of another arm, and have its answers{cost}.")
    if files := summary.settings.get("imported_from"):
        named = ", ".join(files[:_MOST_ARMS]) + (f" and {len(files) - _MOST_ARMS:,} more" * (len(files) > _MOST_ARMS))
        lines.append(f"Imported: the answers were given elsewhere, and read from {named}. Nobody was asked.")
    lines += _odd_answer_lines(summary)
    if recorded := recorded_line(summary):
        lines.append(recorded)
    design = summary.settings.get("until_decided", {})
    if design.get("decided_after"):
        cases = f"{design['decided_after']:,} of {plural(design['cases'], 'case')}"
        lines.append(f"Stopped after {cases}, as the comparison was decided.")
    missing = summary.planned - sum(arm.finished for arm in summary.arms)
    if missing > 0:
        lines.append(f"Not run yet: {missing:,} of {summary.planned:,} trials.")
    overflows = sum(arm.outcomes.get(Outcome.CONTEXT_OVERFLOW, 0) for arm in summary.arms)
    if summary.errors:
        lines.append(f"Unscored, so in no rate: {summary.errors:,} error.")
    if overflows:
        lines.append(f"Unscored, so right of asked alone has them, as not right: {overflows:,} context_overflow.")
    if summary.excluded:
        total = sum(summary.excluded.values())
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in summary.excluded.items())
        lines.append(f"Excluded from the dataset: {plural(total, 'case')}: {reasons}.")
    lines += [f"{note[:1].upper()}{note[1:]}." for note in summary.settings.get("toolset_notes", ())]
    if roleless := _without_role(summary):
        lines.append(roleless)
    return lines + _distractor_lines(summary) + _serving_lines(summary) + _token_lines(summary)


def _odd_answer_lines(summary: RunSummary) -> Iterator[str]:
    if summary.encoded_twice:
        answers = plural(summary.encoded_twice, "answer")
        yield f"Arguments that were encoded twice, as a text in JSON, were read: in {answers}."
    if summary.impossible:
        yield (
            f"Reported tokens that cannot be, in {plural(summary.impossible, 'answer')}, count as not reported: "
            "`toolbelt eval show --case` has the figures."
        )
    if summary.dropped:
        yield (
            "Parts of earlier turns, such as reasoning, were not sent back: before "
            f"{plural(summary.dropped, 'answer')}. `toolbelt eval show --case` names them."
        )


_MOST_ARMS = 3
"""The most arms, or files, that are named in a line."""


def truncated_line(summary: RunSummary) -> str | None:
    """How often the token limit cut an answer, and what helps; `None` where it never did."""
    rates = [(label, arm.truncated) for label, arm in zip(arm_labels(summary), summary.arms, strict=True)]
    cut = [(label, rate) for label, rate in rates if rate.numerator]
    if not cut:
        return None
    limit = summary.settings.get("max_tokens")
    above = f" above {limit:,}" if isinstance(limit, int) else ""
    reasons = any(arm.reasoning_tokens for arm in summary.arms if arm.truncated.numerator)
    less = ", which reasoning counts towards, or ask for less --effort" if reasons else ""
    return (
        f"The token limit cut answers before their calls were complete, which count as wrong: {_counts(cut)}. "
        f"Raise --max-tokens{above}{less}."
    )


def uncovered_line(summary: RunSummary) -> str | None:
    """How often nothing was called where no right answer could be reached (rule E5); `None` where one could always be
    reached.
    """
    rates = zip(arm_labels(summary), (arm.abstained_uncovered for arm in summary.arms), strict=True)
    uncovered = [(label, rate) for label, rate in rates if rate.denominator]
    if not uncovered:
        return None
    return f"Nothing was called where no right answer could be reached: {_counts(uncovered)}."


def _counts(rates: Sequence[tuple[str, Rate]]) -> str:
    """How many trials of which arm; of many arms those where it happened most often stand for the rest."""
    most = sorted(rates, key=lambda row: -row[1].numerator)[:_MOST_ARMS]
    named = {label for label, _ in most}
    counts = "; ".join(
        f"{rate.numerator:,} of {plural(rate.denominator, 'trial')} of {label}"
        for label, rate in rates
        if label in named
    )
    others = len(rates) - len(most)
    return f"{counts}; and of {plural(others, 'other')}" if others else counts


def _status_line(summary: RunSummary) -> str:
    """A note on the run's status; empty if all went as planned."""
    if summary.status == "finished":
        return f"{summary.reason.removesuffix('.')}." if summary.reason else ""
    words = {"running": "still running", "killed": "not finished: it was killed, and nobody works on it"}
    reason = f": {summary.reason.removesuffix('.')}" if summary.reason and summary.status not in words else ""
    return f"This run is {words.get(summary.status, summary.status)}{reason}."


def _without_role(summary: RunSummary) -> str:
    """A note on cases without a role, to which toolset `loadout` shows the whole catalog; empty if there are none."""
    roleless = summary.settings.get("without_role") or 0
    if not roleless or all(find_toolset(arm.toolset) != BY_ROLE for arm in summary.arms):
        return ""
    have = "has" if roleless == 1 else "have"
    shows = "it" if roleless == 1 else "them"
    return f"{plural(roleless, 'case')} {have} no role; `loadout` shows {shows} the whole catalog."


def _distractor_lines(summary: RunSummary) -> list[str]:
    """A note on each `oracle+N` that cannot show N distractors in every case (rule E1)."""
    reached = {arm.toolset: arm.distractors_reached for arm in summary.arms if arm.distractors_reached is not None}
    return [
        f"{toolset} shows all its distractors in {count:,} of {plural(summary.cases, 'case')}; the others have "
        "fewer in `offered`, and show those."
        for toolset, count in reached.items()
        if count < summary.cases
    ]


def _serving_lines(summary: RunSummary) -> list[str]:
    """The digest of what the gateway offers with each loadout (rule M5), once a loadout."""
    digests = {arm.toolset: arm.serving_digest for arm in summary.arms if arm.serving_digest is not None}
    return [f"{toolset}: toolbelt serve offers the list with digest {digest}." for toolset, digest in digests.items()]


def _token_lines(summary: RunSummary) -> list[str]:
    """Explains the prompt tokens where they are not the reported ones."""
    own = [arm for arm in summary.arms if not arm.prompt_tokens_reported and arm.prompt_tokens is not None]
    lines = [
        f"{arm.prompt_tokens_trials:,} of {arm.scored:,} scored trials of {label} reported their prompt tokens."
        for label, arm in zip(arm_labels(summary), summary.arms, strict=True)
        if 0 < arm.prompt_tokens_trials < arm.scored
    ]
    if own:
        none = all(not arm.prompt_tokens_trials for arm in own)
        why = "reported none" if none else "did not report those of every trial"
        lines.append(f"{ESTIMATED} marks prompt tokens counted here, as the provider {why}.")
    return lines


MEANING = (
    "pass@k is the chance that at least one of k trials of a case calls the right tools, pass^k that each of them does."
)


def epoch_lines(summary: RunSummary) -> list[str]:
    """pass@k and pass^k of each arm, with `MEANING` before them; empty if each case was run once."""
    lines = [
        f"{label}: {_pass_text(arm)}"
        for label, arm in zip(arm_labels(summary), summary.arms, strict=True)
        if any(each.cases for each in arm.passing)
    ]
    return [MEANING, *lines] if lines else []


def _pass_text(arm: ArmSummary) -> str:
    draws = ",".join(str(each.k) for each in arm.passing)
    at = " ".join(format_share(each.at_least_once) for each in arm.passing)
    all_of_them = " ".join(format_share(each.each_time) for each in arm.passing)
    fewer = [f"{each.cases:,} at k={each.k}" for each in arm.passing if each.left_out]
    cases = arm.passing[0].cases + arm.passing[0].left_out
    beside = f" (of {cases:,} cases {', '.join(fewer)})" if fewer else ""
    return f"pass@{draws}: {at}; pass^{draws}: {all_of_them}{beside}"
