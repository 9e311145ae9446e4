"""A run as Markdown: its settings, its results, how to read them, how to run it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.economics import ArmEconomics
from toolbelt.evals.analysis.matrix.build_matrix import order_models
from toolbelt.evals.analysis.result import RunResult, find_result
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.running.top_up import format_epochs
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.variants.variant import PLAIN
from toolbelt.evals.views import comparison_text
from toolbelt.evals.views.arms import arms_table
from toolbelt.evals.views.comparison import flips_table
from toolbelt.evals.views.economics import READING as ECONOMICS_READING
from toolbelt.evals.views.economics import economics_view
from toolbelt.evals.views.figures import epoch_lines, status_lines
from toolbelt.evals.views.glance import describe_findings, glance_table
from toolbelt.evals.views.matrix_text import PICTURE
from toolbelt.evals.views.result_text import result_sentence, result_title
from toolbelt.render.markdown import escaped, markdown_table, render_markdown
from toolbelt.render.numbers import NOTHING
from toolbelt.stores.files import shown_path
from toolbelt.text import visible
from toolbelt.views.blocks import Picture

_OPTIONS = {
    "config": "--config",
    "catalog": "--catalog",
    "dataset": "--dataset",
    "kinds": "--kind",
    "tags": "--tag",
    "ids": "--case",
    "limit": "--limit",
    "system": "--system",
    "effort": "--effort",
    "temperature": "--temperature",
    "tool_choice": "--tool-choice",
    "max_tokens": "--max-tokens",
    "tokenizer": "--tokenizer",
    "request_limit": "--request-limit",
    "api_base": "--api-base",
}
"""The option of each setting, in the order of the command."""

_READING = """\
- **accuracy**: the right tools were called, by name, of the scored trials. The interval says where the true share lies,
  with 95% confidence; arms whose intervals overlap may not differ.
- **solved**: they were called with the right arguments, too.
- **coverage**: a complete right answer could be reached with the tools that the toolset offers. What is not covered is
  never right, so accuracy = coverage × **selection given coverage**: the first is the toolset's part, the second the
  model's.
- **abstention**: nothing needed calling, and the answer was right: of the cases that expect no call. **abstained
  uncovered**: nothing was called, of the trials in which no right answer could be reached; those refused, given
  up or cut are not among them. **hallucinated**: a tool was called that is in no catalog.
- **definition tokens**: the tool definitions at the first request, estimated. **prompt tokens**: all of the
  prompt over all requests, as the provider reported it; `~` marks an estimate where it did not report that of every
  trial. **reasoning tokens** are among the **answer tokens**. **invalidated tokens**: of the prefix that changes of the
  tool list made uncacheable, over all requests, estimated.
- Tokens, requests and cost are means over the scored trials. A trial that ended with `error` or `context_overflow` says
  nothing about the choice made: it is in no rate, and **scored / planned** says how many are. But arms are ranked, and
  compared with each other, by **right of asked**: there what was too long for the model is not right.
- `–` stands where nothing was measured or a price is unknown, which is not zero."""


_SHOWN_PICTURES = ("tradeoff", "accuracy")
"""What stands beside the result; the other pictures are folded."""
_MOST_FLIPS = 5


def report_markdown(
    summary: RunSummary,
    pictures: Sequence[Picture] = (),
    *,
    result: RunResult | None = None,
    economics: Sequence[ArmEconomics] = (),
    verdict: str = "",
    compared: Comparison | None = None,
    comparison: str = "",
    compatibility: str = "",
    probes: str = "",
    title: str = "",
) -> str:
    """The whole report, made for a pull request: the result, a small table, two pictures, what flipped, and the rest
    folded; foreign names are escaped, so that they appear literally.

    Args:
        summary: Of the run.
        pictures: Those beside it, with their files in the same folder, as `Picture.files` names them.
        result: What the run comes to; without it no arm is recommended.
        economics: Cost with caching, one for each arm; without them the report has no section about it.
        verdict: Markdown that stands on top, beneath the title, in place of the result: what a gate says.
        compared: The arms of the run, compared with each other; any other comparison counts as none here.
        comparison: Markdown of a section, with its heading: what the arms differ in.
        compatibility: Markdown of a section: the recommended toolset of each model. A suite shows it before the arms.
        probes: Markdown of a section: what works with each model.
        title: In place of the result's.
    """
    heat_map = [render_markdown([picture]) for picture in pictures if picture.name == PICTURE]
    which = "\n\n".join(part for part in (compatibility.strip(), *heat_map) if part)
    result = result or find_result(summary, compared)
    shown = [picture for picture in pictures if picture.name in _SHOWN_PICTURES]
    folded = [picture for picture in pictures if picture not in shown and picture.name != PICTURE]
    parts = [
        f"# {escaped(title or result_title(result))}",
        verdict.strip() or f"**{escaped(result_sentence(result))}**",
        "\n".join(f"- {escaped(line)}" for line in status_lines(summary)),
        which if summary.suite else "",
        render_markdown([glance_table(summary, compared)]),
        escaped(describe_findings(compared)),
        render_markdown(shown),
        _flipped(result, compared),
        _fold("Every measure", "## Results", render_markdown([arms_table(summary)]), _passing(summary)),
        _fold("More pictures", render_markdown(folded)),
        _fold("The arms compared, pair by pair", comparison.strip()),
        "" if summary.suite else _fold("Which toolset for which model", which),
        _fold("Outcomes", "## Outcomes", _outcomes(summary.arms)),
        _fold("Cost with a provider's cache", *_costs(economics)),
        _fold("What works with each model", probes.strip()),
        _fold("The run and its settings", _facts(summary), "## How to run it again", _command(summary)),
        _fold("How to read this", "## How to read this", _READING),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _passing(summary: RunSummary) -> str:
    return "\n".join(f"- {escaped(line)}" for line in epoch_lines(summary))


def _costs(economics: Sequence[ArmEconomics]) -> Sequence[str]:
    text = render_markdown(economics_view(economics))
    return (text, ECONOMICS_READING) if text else ()


def _fold(title: str, *parts: str) -> str:
    """A section that folds where HTML is shown; nothing without content."""
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>" if text else ""


def _flipped(result: RunResult, compared: Comparison | None) -> str:
    """The cases that the recommended arm does worse or better than the reference, the first of each."""
    if compared is None or result.recommended is None or result.reference is None or result.is_reference:
        return ""
    keys = [(arm.model, arm.toolset, arm.variant) for arm in (result.reference, result.recommended)]
    pair = next((pair for pair in compared.pairs if [pair.old.key, pair.new.key] == keys), None)
    if pair is None or not pair.flips:
        return ""
    worse, better = comparison_text.worse_flips(pair), comparison_text.better_flips(pair)
    shown = (*worse[:_MOST_FLIPS], *better[:_MOST_FLIPS])
    title = escaped(comparison_text.pair_title(compared, pair))
    counts = f"{pair.flip_counts.worse:,} worse, {pair.flip_counts.better:,} better; the first of each:"
    table = render_markdown([flips_table(compared, pair, shown, is_signed=True)])
    return f"**What flipped, {title}:** {counts}\n\n{table}"


def _facts(summary: RunSummary) -> str:
    trials = f"{summary.scored:,} scored of {summary.planned:,} planned, {summary.errors:,} failed"
    rows = [
        ("dataset", f"{summary.dataset} ({summary.digest})"),
        ("catalog", summary.catalog or NOTHING),
        ("begun", summary.created),
        ("status", summary.status),
        ("cases", f"{summary.cases:,}"),
        ("epochs", format_epochs(summary.epochs, summary.arm_epochs)),
        ("seed", str(summary.seed)),
        ("trials", trials),
        *((f"tokenizer of {model}", name) for model, name in summary.tokenizers.items()),
        *((_setting(name), _plain(value)) for name, value in summary.settings.items() if name not in _SHOWN),
    ]
    return markdown_table(("", ""), rows, right=())


_PATHS = ("dataset", "catalog", "config")
_SHOWN = (*_PATHS, "without_role", "toolset_notes")
"""Settings that stand elsewhere in the report, or are paths of one machine, which the command has."""


def _outcomes(arms: Sequence[ArmSummary]) -> str:
    """Trials by outcome; outcomes that no arm has are left out."""
    outcomes = [outcome for outcome in Outcome if any(arm.outcomes.get(outcome) for arm in arms)]
    headers = ("#", "model", "toolset", *outcomes)
    rows = [
        (str(number), arm.model, arm.toolset_label, *(f"{arm.outcomes.get(outcome, 0):,}" for outcome in outcomes))
        for number, arm in enumerate(arms, start=1)
    ]
    return markdown_table(headers, rows, right=(0, *range(3, len(headers))))


def _command(summary: RunSummary) -> str:
    settings = {"dataset": summary.dataset, **summary.settings}
    files = settings.get("imported_from", ())
    words = ["toolbelt", "eval", *(("import", *files) if files else ("run",))]
    for name, option in _OPTIONS.items():
        value = None if files and name == "request_limit" else settings.get(name)
        for item in value if isinstance(value, list | tuple) else [] if value is None else [value]:
            words += [option, shown_path(Path(item)) if name in _PATHS and Path(item).is_absolute() else str(item)]
            if "\n" in words[-1]:  # a system prompt, which stands above
                words[-1] = "FILE"
    models = order_models(summary)
    variants = [arm.variant or PLAIN for arm in summary.arms] if any(item.variant for item in summary.arms) else []
    for option, values in (
        ("--model", models),
        ("--suite", [summary.suite] if summary.suite else []),
        ("--toolset", [] if summary.suite else [arm.toolset for arm in summary.arms]),
        ("--variant", variants),
    ):
        words += [word for value in dict.fromkeys(values) for word in (option, value)]
    words += ["--ask-anyway"] if settings.get("ask_anyway") else []
    words += [*([] if files else ["--epochs", str(summary.epochs)]), "--seed", str(summary.seed)]
    line = visible(shlex.join(words))
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{line}\n{fence}"


def _setting(name: str) -> str:
    return "seed of sampling" if name == "seed" else name.replace("_", " ")


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
