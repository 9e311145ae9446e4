"""Draft cases for the tools of a catalog: estimate what it takes, or ask the model and write the cases."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from toolbelt.catalog import Catalog
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.errors import ToolbeltError
from toolbelt.evals.conversation import Conversation
from toolbelt.evals.drafts.answer_store import AnswerStore, open_answers, read_answers, request_key
from toolbelt.evals.drafts.answers import DraftChecker
from toolbelt.evals.drafts.asking import Drafter
from toolbelt.evals.drafts.folder import DraftFolder, FolderState
from toolbelt.evals.drafts.jobs import DraftQuota, Jobs, choose_tools
from toolbelt.evals.drafts.prompts import opening_messages
from toolbelt.evals.drafts.writing import DraftSummary, DraftWriter
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import open_model, open_price
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.pauses import PauseNotices
from toolbelt.evals.running.prompt_tokens import PromptCounter
from toolbelt.evals.setup.asking import AskingOptions
from toolbelt.providers.chat import Sampling, Usage
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.tokenizers import find_tokenizer, make_counter
from toolbelt.reporter import SILENT, Advance, Reporter
from toolbelt.text import plural

SAMPLE = 300
"""Prompts that an estimate counts; it assumes that the others are like them."""
TOKENS_PER_CASE = 45
"""Tokens of an answer per case: a sentence or two, its share of the arguments, and the JSON around them."""
_MOST_UNREADABLE = 10
"""Unreadable lines of the answers file that a warning names."""


@dataclass(frozen=True)
class DraftSettings:
    """What to draft, who writes it, and where it goes.

    Attributes:
        model: Any litellm name, or `scripted/FILE`.
        folder: Gets `cases.jsonl` and the catalog.
        quota: How much for each tool and language.
        patterns: Only tools that fit one of these (rule L4); all if there is none.
        limit: Only so many tools, drawn with `seed`.
        languages: What queries are written in, in words; the model's choice if there is none.
        seed: Of the draw of tools, and the model's own where it takes one.
        temperature: `None` for the provider's default.
        effort: How much the model reasons; likewise.
        asking: How the model is asked; its caps are those of the folder in all, earlier calls included.
        overwrite: Whether to draft into a folder that a human changed, or that has another catalog.

    Raises:
        ToolbeltError: the model cannot write, or nothing is asked for.
    """

    model: str
    folder: Path
    quota: DraftQuota = field(default_factory=DraftQuota)
    patterns: tuple[str, ...] = ()
    limit: int | None = None
    languages: tuple[str, ...] = ()
    seed: int = 0
    temperature: float | None = None
    effort: str | None = None
    asking: AskingOptions = field(default_factory=AskingOptions)
    overwrite: bool = False

    def __post_init__(self) -> None:
        if self.model.startswith("local/"):
            raise ToolbeltError(
                f"{self.model} chooses between tools and writes nothing. Give a model that writes: one of "
                "`toolbelt model list`, or scripted/FILE."
            )
        if not self.quota.cases:
            raise ToolbeltError("Nothing is asked for: give --per-tool or --near-misses a number above 0.")


@dataclass(frozen=True, slots=True)
class DraftEstimate:
    """The requests that are still to be sent.

    Attributes:
        requests: Number of requests if no answer needs a second one; at most twice as many.
        answered: Requests whose answers are stored already.
        prompt_tokens: Over all requests; estimated.
        completion_tokens: Over all requests, by a rule of thumb.
        cost_usd: `None` where the price is unknown.
    """

    requests: int
    answered: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class DraftResult:
    """What one call drafted.

    Attributes:
        model: Name of the model that wrote them.
        summary: Counts of the file of cases.
        requests: Requests of this call.
        cost_usd: Dollars of this call; `None` where the price is unknown.
        reasons: Why not all jobs have answers, in words: what ended the session, and the first failure.
    """

    model: str
    summary: DraftSummary
    requests: int
    cost_usd: float | None
    reasons: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every tool was answered."""
        return not self.reasons and not self.summary.unanswered


class DraftSession:
    """One call of the drafting of cases.

    Args:
        settings: What to draft, and how.
        catalog: The tools.
        models: What is known of hosted models.
        tokenizer: Counts prompts where the model's own tokenizer is not known.
        reporter: Receives notes and progress.

    Attributes:
        jobs: What is drafted for which tool.

    Raises:
        NotFoundError: a pattern fits no tool, with the nearest names.
        ToolbeltError: the catalog has no tools, or the folder's name is a file's.
    """

    def __init__(
        self,
        settings: DraftSettings,
        catalog: Catalog,
        models: ModelTable,
        tokenizer: str,
        reporter: Reporter = SILENT,
    ) -> None:
        self.folder = DraftFolder(settings.folder)
        self.folder.check_paths()
        tools = choose_tools(catalog, settings.patterns, settings.limit, settings.seed)
        if not tools:
            raise ToolbeltError(f"Catalog {catalog.name!r} has no tools to draft for.")
        self.settings = settings
        self.jobs = Jobs(catalog, tools, settings.quota, settings.languages)
        self._sampling = Sampling(settings.temperature, settings.seed, effort=settings.effort)
        self._options = settings.asking.model_options(models)
        self._tokenizer = tokenizer
        self._reporter = reporter

    def estimate(self) -> DraftEstimate:
        """Estimate the requests that are still to be sent; sends and writes nothing."""
        model = open_price(self.settings.model, self._options)
        progress = self._reporter.progress("reading tools", len(self.jobs))
        with progress as advance, read_answers(self.folder.memory) as answers:
            return estimate_drafts(
                self.jobs, model, self._sampling, self._counter(model), answers, advance, self.settings.asking.api_base
            )

    def run(self) -> DraftResult:
        """Request missing answers, and write the cases; the cases are written after Ctrl-C, too.

        Raises:
            ToolbeltError: a human changed the folder, it has another catalog, or another process drafts into it; the
                model cannot be asked, or the cap of cost cannot be kept because its price is unknown.
            InvalidFileError: lines of a human in the cases have mistakes.
            StorageError: the disk would not.
        """
        settings, catalog = self.settings, self.jobs.catalog
        checker = DraftChecker(catalog)
        state = self.folder.read_state(checker.names)
        if not settings.overwrite:
            _refuse_edited(self.folder, state)
            self.folder.refuse_other_catalog(catalog)
        model = open_model(settings.model, self._options)
        if settings.asking.max_cost_usd is not None and model.cost_usd(Usage(1, 1)) is None:
            raise ToolbeltError(f"--max-cost cannot be kept: the price of {settings.model} is unknown.")
        with open_answers(self.folder.memory) as answers:
            self.folder.put_catalog(catalog, overwrite=settings.overwrite)
            return self._draft(model, checker, answers)

    def _draft(self, model: Model, checker: DraftChecker, answers: AnswerStore) -> DraftResult:
        asking = self.settings.asking
        self._warn_unreadable(answers)
        requests_before, cost_before = answers.requests, answers.cost_usd
        drafter = Drafter(
            self.jobs,
            checker,
            answers,
            model,
            Budget(asking.max_requests, asking.max_cost_usd, answers.requests, answers.cost_usd),
            RetryPolicy(asking.max_retries),
            self._counter(model),
            self._sampling,
            asking.max_concurrency,
            asking.api_base,
            Pace(model.name, asking.max_concurrency, on_pause=PauseNotices(self._reporter.note)),
        )
        try:
            with self._reporter.progress("drafting tools", len(self.jobs)) as advance:
                asyncio.run(drafter.run(advance))
        except KeyboardInterrupt:
            summary = self._write(drafter)
            cases = f"{plural(summary.cases, 'case')} so far in {self.folder.cases}"
            self._reporter.note(
                f"{cases if summary.cases else 'no case so far'}; the same command goes on where it was"
            )
            raise
        summary = self._write(drafter)
        cost = None if model.cost_usd(Usage(1, 1)) is None else answers.cost_usd - cost_before
        return DraftResult(model.name, summary, answers.requests - requests_before, cost, tuple(drafter.reasons))

    def _counter(self, model: Model) -> TokenCounter:
        return make_counter(find_tokenizer(model.name) or self._tokenizer)

    def _write(self, drafter: Drafter) -> DraftSummary:
        writer = DraftWriter(
            self.jobs,
            drafter.checker,
            drafter.answers,
            drafter.model.name,
            self._sampling,
            self.settings.asking.api_base,
        )
        with self._reporter.progress("writing cases", len(self.jobs)) as advance:
            state = self.folder.read_state(drafter.checker.names)
            return writer.write(self.folder, state, advance, drafter.failures)

    def _warn_unreadable(self, answers: AnswerStore) -> None:
        if not answers.unreadable:
            return
        lines = ", ".join(f"{answers.path}:{number}" for number in answers.unreadable[:_MOST_UNREADABLE])
        lines += ", …" * (len(answers.unreadable) > _MOST_UNREADABLE)
        self._reporter.warn(
            f"{plural(len(answers.unreadable), 'line')} of the stored answers cannot be read ({lines}): asked again "
            "where wanted, and what they cost does not count towards a cap"
        )


def estimate_drafts(
    jobs: Jobs,
    model: Model,
    sampling: Sampling,
    counter: TokenCounter,
    answers: AnswerStore | None,
    advance: Advance,
    api_base: str | None,
) -> DraftEstimate:
    """Estimate the requests that are still to be sent; the prompts themselves are counted.

    Args:
        jobs: What to draft.
        model: Gives the price; no request is sent.
        sampling: Temperature and seed of the requests.
        counter: Counts the prompts.
        answers: The stored answers; `None` for none.
        advance: Called with the number of tools read.
        api_base: Address of the model; `None` for that of its provider.
    """
    answered = 0
    if answers is not None:
        for number, job in enumerate(jobs, start=1):
            answered += request_key(model.name, sampling, opening_messages(job), api_base) in answers
            advance(number)
    prompts = PromptCounter(counter)
    step = max(1, len(jobs) // SAMPLE)
    counts = [
        prompts.count_latest(Conversation(opening_messages(jobs.job(number)))) for number in range(0, len(jobs), step)
    ]
    requests = len(jobs) - answered
    mean = sum(counts) / max(len(counts), 1)
    completion = jobs.quota.cases * TOKENS_PER_CASE
    each = model.cost_usd(Usage(round(mean), completion))  # a price may depend on the length of one prompt
    cost = None if each is None else each * requests
    return DraftEstimate(requests, answered, round(mean * requests), completion * requests, cost)


def _refuse_edited(folder: DraftFolder, state: FolderState) -> None:
    if state.is_untouched:
        return
    changed = f"{plural(state.human_lines, 'line')} not drafted here, or changed"
    gone = f", {plural(len(state.gone), 'draft')} changed or taken out" if state.gone else ""
    raise ToolbeltError(
        f"{str(folder.cases)!r} was changed since it was drafted ({changed}{gone}). Use --force to draft anyway: "
        "what you wrote, reviewed or took out stays so. Or name another folder."
    )
