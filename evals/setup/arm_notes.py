"""Notes about arms, from a sample of the cases: arms that do not fit their model, and arms that differ from their
names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolbelt.evals.conversation import Conversation
from toolbelt.evals.models.opening import OPENERS
from toolbelt.evals.running.overflow import describe_overflow
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.setup.arms import PreparedArm
from toolbelt.evals.setup.inputs import ChosenCases
from toolbelt.evals.setup.reporting import NoteKind, RunNote
from toolbelt.evals.toolsets.variants.varied import Varied
from toolbelt.text import plural

SAMPLE = 50
"""Cases of the sample on which an arm is tried before a run."""
_WRONG = "Where that is wrong, say so under `models` in toolbelt.yaml, or send requests anyway with --ask-anyway."
_BY_NAME = "That is known from the model's name, whatever {address} serves under it."
_RESERVED = "What is kept for an answer is --max-tokens."
_KEPT = "That is what was known when the run began; a new run uses what is known now."


def find_shortfalls(arms: Sequence[PreparedArm], cases: ChosenCases) -> Iterator[RunNote]:
    """Notes on arms that do not fully do what their variant's name says."""
    for arm in arms:
        if not isinstance(arm.toolset, Varied):
            continue
        label = arm.arm.label
        shortfall = arm.toolset.find_shortfall(cases.sample(SAMPLE))
        tried = f"{plural(shortfall.tried, 'case')} tried"
        if shortfall.longer:
            text = f"nothing is padded in {shortfall.longer:,} of {tried}, whose definitions are longer already"
            yield RunNote(NoteKind.UNPADDED, f"{label}: {text}", (label,))
        if shortfall.lacking:
            text = f"fewer distractors are available in {shortfall.lacking:,} of {tried}, in one only"
            yield RunNote(NoteKind.FEW_DISTRACTORS, f"{label}: {text} {shortfall.fewest:,}", (label,))


def find_unfit(arms: Sequence[PreparedArm], plan: Plan, cases: ChosenCases, *, is_new: bool) -> Iterator[RunNote]:
    """Notes on arms whose first offer does not fit their model, and on doubtful ones.

    Args:
        arms: Prepared.
        plan: Theirs.
        cases: Of the plan.
        is_new: Whether the run begins now, so that another one may be begun in its place.
    """
    never: dict[str, list[tuple[PreparedArm, str]]] = {}
    for arm in arms:
        if (fit_guard := plan.fit_guard(arm.arm.model)) is None:
            continue
        refusals = [
            fit_guard.find_overflow(arm.toolset.offer(case, Conversation(case.messages)))
            for case in cases.sample(SAMPLE)
        ]
        refused = [describe_overflow(refusal) for refusal in refusals if refusal is not None]
        if len(refused) == len(refusals):
            never.setdefault(arm.arm.model, []).append((arm, refused[0]))
        elif refused:
            tried = f"{len(refused):,} of {plural(len(refusals), 'case')} tried"
            text = f"{arm.arm.label}: not asked in {tried}, as it does not fit. In one: {refused[0]}"
            yield RunNote(NoteKind.PARTLY_NOT_ASKED, text, (arm.arm.label,))
    for model, unfit in never.items():
        names, (first, reason) = ", ".join(arm.arm.shown for arm, _ in unfit), unfit[0]
        which = f"Of {first.arm.shown}: " if len(unfit) > 1 else ""
        text = f"{model} is not asked with what does not fit: {names}. {which}{reason}"
        labels = tuple(arm.arm.label for arm, _ in unfit)
        yield RunNote(NoteKind.NOT_ASKED, f"{text} {_ways_out(plan, model, is_new=is_new)}", labels)
    for model in dict.fromkeys(arm.arm.model for arm in arms):
        if model in plan.limits and plan.limits[model].tool_calling is False:
            text = f"{model} is listed as calling no tools; it is asked anyway"
            yield RunNote(NoteKind.NO_TOOL_CALLING, text, (model,), is_warning=True)


def _ways_out(plan: Plan, model: str, *, is_new: bool) -> str:
    """What to do if a limit is wrong, depending on its source."""
    parts = [_RESERVED] if plan.sampling.max_tokens else []
    if not is_new:
        return " ".join((*parts, _KEPT))
    if plan.api_base and not model.startswith(tuple(OPENERS)):  # those are asked nothing at any address
        parts.append(_BY_NAME.format(address=plan.api_base))
    return " ".join((*parts, _WRONG))
