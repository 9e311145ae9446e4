"""The default dataset in a project with tools of its own: a run of it measures others' tools, which is said."""

from __future__ import annotations

import shlex
from pathlib import Path

from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.setup.inputs import RunInputs
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.stores.catalogs import datasets_here


def note_other_catalog(inputs: RunInputs, reporter: EvalReporter) -> None:
    """Note that the run is not over the catalog that `toolbelt.yaml` names, if it is not."""
    named, used = inputs.project.config.catalog, inputs.dataset.catalog_file.source
    if named is None or named in (inputs.dataset.reference, used):
        return
    text = (
        f"no dataset was named, so this is {inputs.dataset.name!r}, over its own catalog; the tools of {named!r}, "
        f"which toolbelt.yaml names, are not tried. {_what_to_do()}"
    )
    reporter.note(RunNote(NoteKind.DEFAULT_DATASET, text, (inputs.dataset.name, named), is_warning=True))


def explain_mismatch(error: InvalidFileError, dataset: str, catalog: str) -> ToolbeltError:
    """What to raise where the default dataset cannot be read over a catalog: what to do, if its tools are missing."""
    if not any(finding.rule == "unknown-tool" for finding in error.findings):
        return error
    return ToolbeltError(
        f"No dataset was named, and the cases of the default one, {dataset!r}, are over other tools than those of "
        f"{catalog!r}. {_what_to_do()} --catalog {shlex.quote(catalog)}"
    )


def _what_to_do() -> str:
    """The command to run instead; where there are no cases to name, how to come by some."""
    if found := (*datasets_here(), *sorted(map(str, Path().glob("cases.*")))):
        return f"To try your cases: toolbelt eval run --dataset {shlex.quote(found[0])}"
    return (
        "Cases over your tools: toolbelt dataset generate --model M drafts them, toolbelt dataset import takes them "
        "from logs; then: toolbelt eval run --dataset FOLDER"
    )
