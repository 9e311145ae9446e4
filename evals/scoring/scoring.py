"""The outcome of a trial: the first one of rule E4 that applies.

Details that the rule leaves open:

- **Surplus calls** are permitted if their tool is in `allowed_extra`, or if the case is matched as `superset` or
  `in_order`, or as `starts_with` and the call comes after as many calls as the answer has; their arguments are
  ignored. A call that is forbidden, was not offered or is of no tool is never permitted and meets nothing: it counts
  as made for precision.
- **`[]`** is met by calling nothing but tools in `allowed_extra`, however the case is matched. Where it is accepted
  and no answer is met by names, the outcome is `unneeded_call`.
- **Several answers**: one that is met by names goes before one that is not, and among those the one with the better
  outcome; otherwise the nearest counts, by F1.
- **`ordered`, `in_order`, `starts_with`**: the right calls in another order are `wrong_tool`; those in order count as
  hits.
- **A forbidden call** is an `unneeded_call` where `[]` is accepted; an `extra_call` where nothing is missing; else a
  `wrong_tool`.
- **`null`**: any offered tool that is not forbidden will do; the arguments of every such call, those of
  `allowed_extra` left out where others are made, are checked by its schema alone.
- **A trial that gave up, was truncated, was refused or ended in a broken call** is that, whatever was called before;
  its hits still count for recall.
- **Missing and surplus** calls are those the nearest answer leaves when calls are laid against it; in `ordered` cases
  a right call out of order is both.
- **A label goes before the schema**: what it accepts is right, even where the tool's schema refuses it (`null`, a text
  such as `dontcare` where a number is declared); what it does not name is held against the schema.
- **Arguments** are counted over calls that were asked for, not over wrong ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never

from toolbelt.evals.cases.case import Answer, ArgumentRules, Case, ExpectedArguments, ExpectedCall, Matching
from toolbelt.evals.scoring import reasons
from toolbelt.evals.scoring.bfcl import check_bfcl
from toolbelt.evals.scoring.literal import check_literal
from toolbelt.evals.scoring.matching import MatchedCall, MatchQuality, match_calls
from toolbelt.evals.scoring.outcome import Ending, Outcome, Score, SelectedTool
from toolbelt.evals.scoring.schemas import ArgumentSchemas


def check_arguments(arguments: Mapping[str, Any], expected: ExpectedArguments, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments of a call; `None` if they are right.

    Args:
        arguments: As the model gave them.
        expected: What is right, and by which rules.
        schema: JSON Schema of the tool's arguments, for rules that go by types; need not be a valid one.

    Returns:
        A clause that names the first argument that is wrong, what was given and what is accepted; short, however
        long those are.
    """
    match expected.rules:
        case ArgumentRules.LITERAL:
            return check_literal(arguments, expected)
        case ArgumentRules.BFCL:
            return check_bfcl(arguments, expected, schema)
        case _:
            assert_never(expected.rules)


_RANK = {outcome: rank for rank, outcome in enumerate(Outcome)}


class Scorer:
    """Finds the outcome of trials.

    Args:
        schemas: What the catalog's tools take.
    """

    def __init__(self, schemas: ArgumentSchemas) -> None:
        self._schemas = schemas

    def score(self, case: Case, selections: Sequence[SelectedTool], ending: Ending, *, error: str = "") -> Score:
        """What became of a trial, the first outcome that applies, and why.

        Args:
            case: What was asked.
            selections: The calls made, those of meta-tools left out, in order.
            ending: Why the trial ended.
            error: What the provider said where it did not answer.
        """
        if ending.is_error:
            return Score(Outcome.ERROR, error or reasons.NO_ANSWER)
        if ending.is_overflow:
            return Score(Outcome.CONTEXT_OVERFLOW, error or reasons.OVERFLOW)
        score = self._judge_any(case, selections) if case.expected is None else self._judge_best(case, selections)
        if ending is Ending.REFUSED:
            return replace(score, outcome=Outcome.REFUSED, reason=error or reasons.REFUSAL)
        if ending is Ending.REQUEST_LIMIT:
            return replace(score, outcome=Outcome.GAVE_UP, reason=reasons.gave_up(selections))
        if ending is Ending.TRUNCATED:
            return replace(score, outcome=Outcome.TRUNCATED, reason=reasons.TRUNCATED)
        if ending is Ending.BROKEN_CALL:
            return replace(score, outcome=Outcome.BROKEN_CALL, reason=error or reasons.BROKEN_CALL)
        for selection in selections:
            if selection.tool_id is None:
                return replace(score, outcome=Outcome.HALLUCINATED_TOOL, reason=reasons.hallucinated(selection))
        for selection in selections:
            if not selection.was_offered:
                return replace(score, outcome=Outcome.UNOFFERED_TOOL, reason=reasons.unoffered(selection))
        return score

    def count_calls(self, case: Case, selections: Sequence[SelectedTool]) -> int:
        """Calls made so far; where a case permits calls of any tool, only those that are right or not permitted.

        A request that does not raise it brings no answer nearer, and is no step of such a case.
        """
        if not case.match.allows_more or not case.answers:
            return len(selections)
        scores = [self._judge(case, answer, selections) for answer in case.answers]
        return max((score.made or 0) - score.arguments_checked + score.arguments_right for score in scores)

    def _judge_best(self, case: Case, selections: Sequence[SelectedTool]) -> Score:
        answers = case.answers
        scores = [self._judge(case, answer, selections) for answer in answers]
        best = scores[0] if len(scores) == 1 else max(scores, key=_nearness)
        if () in answers and not best.outcome.is_right_by_names:
            # Not met, so something was called that is neither asked for nor permitted.
            banned = [selection for selection in selections if selection.tool_id in case.forbidden]
            called = [selection for selection in selections if selection.tool_id not in case.allowed_extra]
            reason = reasons.forbidden(banned) if banned else reasons.unneeded(called)
            return replace(best, outcome=Outcome.UNNEEDED_CALL, reason=reason)
        return best

    def _judge(self, case: Case, answer: Answer, selections: Sequence[SelectedTool]) -> Score:
        """Against one accepted answer."""
        callable_ = [_is_callable(case, selection) for selection in selections]
        any_from = len(selections)
        if answer and case.match.allows_more:
            any_from = len(answer) if case.match is Matching.STARTS_WITH else 0
        permitted = [
            callable_[column] and (column >= any_from or selection.tool_id in case.allowed_extra)
            for column, selection in enumerate(selections)
        ]
        faults: dict[int, str | None] = {}

        def fit(row: int, column: int) -> MatchQuality | None:
            selection, wanted = selections[column], answer[row]
            if not callable_[column] or selection.tool_id not in wanted.tools:
                return None
            if column not in faults:
                faults[column] = self._find_fault(selection)
            is_right = self._find_difference(selection, answer, row) is None
            is_valid = faults[column] is None or (is_right and self._find_fault(selection, wanted.arguments) is None)
            return MatchQuality(is_valid, is_valid and is_right)

        pairs = match_calls(len(answer), permitted, fit, in_order=case.match.unordered is not None)
        met = {pair.made for pair in pairs}
        surplus = [s for column, s in enumerate(selections) if column not in met and not permitted[column]]
        rows = {pair.wanted for pair in pairs}
        missing = [call for row, call in enumerate(answer) if row not in rows]
        outcome, reason = self._judge_names(case, answer, selections, missing, surplus)
        if outcome is Outcome.CORRECT:
            outcome, reason = self._judge_arguments(answer, selections, pairs, faults)
        checked = [pair for pair in pairs if self._is_checked(selections[pair.made], answer, pair.wanted)]
        return Score(
            outcome,
            reason,
            hits=len(pairs),
            made=len(pairs) + len(surplus),
            wanted=len(answer),
            arguments_checked=len(checked),
            arguments_right=sum(pair.fit.is_right for pair in checked),
            missing=tuple([call.tools[0] for call in missing]),
            surplus=tuple([selection.label for selection in surplus]),
        )

    def _judge_names(
        self,
        case: Case,
        answer: Answer,
        selections: Sequence[SelectedTool],
        missing: Sequence[ExpectedCall],
        surplus: Sequence[SelectedTool],
    ) -> tuple[Outcome, str]:
        """What the names of the tools say; `CORRECT`, without a reason yet, if they are right."""
        if not missing and not surplus:
            return Outcome.CORRECT, ""
        banned = [selection for selection in surplus if selection.tool_id in case.forbidden]
        if not missing:
            return Outcome.EXTRA_CALL, reasons.forbidden(banned) if banned else reasons.extra_call(surplus)
        if banned:
            return Outcome.WRONG_TOOL, reasons.forbidden(banned)
        if case.match.unordered is not None:
            unordered = self._judge(replace(case, match=case.match.unordered), answer, selections)
            if unordered.outcome.is_right_by_names:
                return Outcome.WRONG_TOOL, reasons.wrong_order(selections, answer)
        if not surplus:
            return Outcome.MISSING_CALL, reasons.missing_call(missing)
        return Outcome.WRONG_TOOL, reasons.wrong_tool(surplus, missing)

    def _judge_arguments(
        self,
        answer: Answer,
        selections: Sequence[SelectedTool],
        pairs: Sequence[MatchedCall],
        faults: dict[int, str | None],
    ) -> tuple[Outcome, str]:
        """What the arguments say where the names are right."""
        for pair in pairs:
            if not pair.fit.is_valid and (fault := faults[pair.made]) is not None:
                return Outcome.INVALID_ARGUMENTS, reasons.invalid_arguments(selections[pair.made], fault)
        for pair in pairs:
            if not pair.fit.is_right:
                selection = selections[pair.made]
                difference = self._find_difference(selection, answer, pair.wanted) or ""
                return Outcome.WRONG_ARGUMENTS, reasons.wrong_arguments(selection, difference)
        return Outcome.CORRECT, reasons.correct([selections[pair.made] for pair in pairs])

    def _judge_any(self, case: Case, selections: Sequence[SelectedTool]) -> Score:
        """Where any call will do."""
        banned = [selection for selection in selections if selection.tool_id in case.forbidden]
        able = [selection for selection in selections if _is_callable(case, selection)]
        counted = [selection for selection in able if selection.tool_id not in case.allowed_extra] or able
        faults = [self._find_fault(selection) for selection in counted]
        checked = [
            fault
            for selection, fault in zip(counted, faults, strict=True)
            if fault is not None or self._can_check(selection)
        ]
        may_be_nothing = () in case.accept
        outcome, reason = Outcome.CORRECT, ""
        if banned:
            outcome = Outcome.EXTRA_CALL if able else Outcome.WRONG_TOOL
            if may_be_nothing:
                outcome = Outcome.UNNEEDED_CALL
            reason = reasons.forbidden(banned)
        elif not able and not may_be_nothing:
            outcome, reason = Outcome.MISSING_CALL, reasons.NOTHING_THOUGH_ANY
        else:
            for selection, fault in zip(counted, faults, strict=True):
                if fault is not None:
                    outcome, reason = Outcome.INVALID_ARGUMENTS, reasons.invalid_arguments(selection, fault)
                    break
            else:
                reason = reasons.correct(counted)
        right = sum(fault is None for fault in checked)
        surplus = tuple([selection.label for selection in banned])
        return Score(outcome, reason, arguments_checked=len(checked), arguments_right=right, surplus=surplus)

    def _find_fault(self, selection: SelectedTool, label: ExpectedArguments | None = None) -> str | None:
        return self._schemas.find_fault(selection.tool_id or "", selection.arguments, label)

    def _find_difference(self, selection: SelectedTool, answer: Answer, row: int) -> str | None:
        expected = answer[row].arguments
        if expected is None or selection.arguments is None:
            return None
        return check_arguments(selection.arguments, expected, self._schemas.get_schema(selection.tool_id or ""))

    def _is_checked(self, selection: SelectedTool, answer: Answer, row: int) -> bool:
        return answer[row].arguments is not None or self._can_check(selection)

    def _can_check(self, selection: SelectedTool) -> bool:
        return selection.arguments is None or self._schemas.can_check(selection.tool_id or "")


def _is_callable(case: Case, selection: SelectedTool) -> bool:
    """Whether a call can meet anything: of a tool there is, which was offered and is not forbidden."""
    return selection.was_offered and selection.tool_id is not None and selection.tool_id not in case.forbidden


def _nearness(score: Score) -> tuple[int, float, int]:
    """Greater is better: met by names, and how well; else by F1 (hits is a count of both calls made and wanted)."""
    rank = _RANK[score.outcome]
    both = (score.made or 0) + (score.wanted or 0)
    return (rank if score.outcome.is_right_by_names else -1, 2 * (score.hits or 0) / both if both else 1.0, rank)
