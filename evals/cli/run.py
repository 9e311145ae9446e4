"""`toolbelt eval run` and `resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from toolbelt.command.boundary import OK
from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option, tokenizer_option
from toolbelt.console.screen import make_screen, notify, print_json, progress, show_view
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.cli.addresses import without_secrets
from toolbelt.evals.cli.dataset_opening import own_catalog_option
from toolbelt.evals.cli.ending import show_end
from toolbelt.evals.cli.opening import Materials, choose_cases, make_plan, open_materials
from toolbelt.evals.cli.options import CommaList, FiniteRange, asking_options, dataset_option, store_option
from toolbelt.evals.cli.preparing import PreparedArm, make_players, prepare_arms, tell_rooms
from toolbelt.evals.cli.run_probes import warn_contradicted_facts
from toolbelt.evals.cli.watching import watch
from toolbelt.evals.models.opening import ModelOptions
from toolbelt.evals.running.budget import Budget
from toolbelt.evals.running.plan import CaseFilter, Plan
from toolbelt.evals.running.records import RequestRecord
from toolbelt.evals.running.retrying import RetryPolicy
from toolbelt.evals.running.runner import Runner, run_to_end
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.toolsets.spec import BY_ROLE, FULL, TIERED
from toolbelt.evals.toolsets.suites import spell_suite
from toolbelt.evals.toolsets.variants.variant import PLAIN
from toolbelt.providers.chat import TOOL_CHOICES, Sampling
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.text import plural

DEFAULT_MODEL = "local/bm25"
DEFAULT_TOOLSETS = (FULL, BY_ROLE, TIERED)
_asking_options = asking_options(
    api_base="Where hosted models are asked.  [default: the provider's; resume: where they were]",
    max_concurrency="Trials under way at once.",
    max_cost="Stop before the run costs more, but for the answers under way.",
    max_requests="Stop before the run asks more often.",
)


@click.command(
    epilog=examples(
        "toolbelt eval run",
        "toolbelt eval run --model gpt-4o-mini --model local/bm25 --toolset full,loadout:*,tiered --limit 50 --dry-run",
        "toolbelt eval run --toolset full,oracle+9 --variant plain,shuffled,padded:46000 --epochs 3",
        "toolbelt eval run --suite compatibility --model gpt-4o-mini --model ollama/llama3.1 --limit 100 --dry-run",
        "toolbelt eval run --dataset ./mine --model hosted_vllm/qwen3 --api-base http://localhost:8000/v1 --max-cost 1",
    )
)
@dataset_option
@option(
    "--model",
    "-m",
    "models",
    multiple=True,
    metavar="M",
    help="A litellm name, local/bm25 or scripted/FILE; again for more.  [default: local/bm25]",
)
@option(
    "--toolset",
    "-t",
    "toolsets",
    type=CommaList(),
    multiple=True,
    metavar="T",
    help="full, loadout, loadout:NAME, loadout:*, loadout:auto, tiered, dynamic, dynamic:AGENT, dynamic:*, oracle, "
    "oracle+N, oracle+N:near; again or with commas for more.  [default: full,loadout,tiered]",
)
@option(
    "--suite",
    metavar="S",
    help="In place of toolsets: compatibility, which is full, loadout:auto, every loadout that shows something "
    "of the catalog, and tiered: which of them each model bears.",
)
@option(
    "--variant",
    "variants",
    type=CommaList(),
    multiple=True,
    metavar="V",
    help="Also change one thing about each toolset, each change an arm of its own: shuffled (another order in each "
    "trial), padded:N (descriptions of N tokens in all), distractors:N, distractors:N:near (wrong tools added), "
    "anonymous (names that say nothing), undescribed (no descriptions); joined by + for several at once; "
    "plain changes nothing. Again or with commas for more.  [default: plain]",
)
@option(
    "--kind", "kinds", type=CommaList(), multiple=True, metavar="K", help="Only cases of this kind; again for more."
)
@option("--tag", "tags", type=CommaList(), multiple=True, metavar="T", help="Only cases with this tag; again for more.")
@option("--case", "ids", type=CommaList(), multiple=True, metavar="ID", help="Only this case; again for more.")
@option("--limit", type=click.IntRange(min=1), metavar="N", help="Only N cases, drawn with --seed.")
@option(
    "--epochs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    show_default=True,
    help="How often each case is asked.",
)
@option(
    "--seed",
    type=click.IntRange(-(2**63), 2**63 - 1),
    default=0,
    metavar="N",
    show_default=True,
    help="Of the cases drawn, the distractors, what variants draw, and the model's own sampling where it takes one.",
)
@option("--temperature", type=FiniteRange(min=0), metavar="X", help="[default: the provider's]")
@option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Longest answer.  [default: the provider's]")
@option("--tool-choice", metavar="C", help="auto, required, none, or a tool's name.  [default: the provider's]")
@option(
    "--request-limit",
    type=click.IntRange(min=1),
    default=10,
    metavar="N",
    show_default=True,
    help="Requests after which a trial is given up.",
)
@option(
    "--ask-anyway",
    is_flag=True,
    help="Also ask what is known not to fit: more tools than the model takes, or definitions that leave no room "
    "for an answer in its window.  [default: such a trial ends as context_overflow, and nothing is sent]",
)
@_asking_options
@option(
    "--report",
    is_flag=False,
    flag_value="reports",
    metavar="[FOLDER]",
    help="Also write a page, tables and pictures, as `toolbelt eval report` does.  [FOLDER: reports]",
)
@option("--dry-run", is_flag=True, help="Only say how many requests, tokens and dollars it would take.")
@store_option
@own_catalog_option
@config_option
@tokenizer_option
@json_option
def run(**asked: Any) -> int:
    """Ask the cases of a dataset over toolsets and models, score every answer, and show what a toolset costs and gains.

    Every answer is kept as it comes. What is interrupted goes on with `toolbelt eval resume`.

    What is known not to fit a model, by its window or by how many tools a request may hold, is not sent: its trial ends
    as context_overflow, which is unscored. What is known of a model is shown by `toolbelt model inspect`.
    """
    suite = _find_suite(asked["suite"], asked["toolsets"])
    materials = open_materials(asked["dataset"], asked["catalog"], asked["config"], asked["tokenizer"])
    plan = make_plan(
        materials,
        asked["models"] or (DEFAULT_MODEL,),
        () if suite else asked["toolsets"] or _default_toolsets(materials),
        asked["variants"] or (PLAIN,),
        CaseFilter(asked["kinds"], asked["tags"], asked["ids"], asked["limit"]),
        epochs=asked["epochs"],
        seed=asked["seed"],
        sampling=Sampling(asked["temperature"], asked["seed"], asked["tool_choice"], asked["max_tokens"]),
        request_limit=asked["request_limit"],
        api_base=without_secrets(asked["api_base"]),
        suite=suite,
        ask_anyway=asked["ask_anyway"],
    )
    if plan.drafts:
        notify(f"{plural(plan.drafts, 'draft')} that nobody has reviewed: good for a look, not for a proof", "warning")
    warn_contradicted_facts(Path(asked["store"]), plan, materials.workspace)
    if asked["dry_run"]:
        _show_estimate(materials, plan, asked)
        return OK
    prepared = prepare_arms(materials, plan, _model_options(materials, asked))
    _refuse_unpriced(prepared, asked["max_cost"])
    _refuse_unknown_choice(prepared, plan.sampling.tool_choice)
    with RunStore(Path(asked["store"])) as store:
        name = store.create(plan, [one.renderer.tokenizer for one in prepared])
        code = _go(store, name, materials, plan, prepared, asked)
        if asked["report"] is not None:
            _write_report(store, name, asked["report"], materials.workspace.models)
        return code


@click.command(epilog=examples("toolbelt eval resume", "toolbelt eval resume 20260101-120000-ab12 --retry-errors"))
@click.argument("name", metavar="[RUN]", default="latest")
@option("--retry-errors", is_flag=True, help="Also run again the trials that ended with an error.")
@_asking_options
@store_option
@json_option
def resume(name: str, **asked: Any) -> int:
    """Go on with RUN (an id, the beginning of one, or `latest`): nothing that is finished is asked again."""
    with RunStore(Path(asked["store"]), must_exist=True) as store:
        row = store.get(name)
        plan = row.plan
        materials = open_materials(plan.dataset, plan.catalog, plan.config, plan.tokenizer)
        _refuse_changed(plan, materials)
        if asked["api_base"] is None:  # else the rest would go to somebody else, cases, key and all
            asked["api_base"] = plan.api_base
        prepared = prepare_arms(materials, plan, _model_options(materials, asked))
        _refuse_unpriced(prepared, asked["max_cost"])
        if asked["retry_errors"]:
            with store.locks.claim(row.run):
                notify(f"{plural(store.forget_errors(row.run), 'trial')} with an error will be run again")
        return _go(store, row.run, materials, plan, prepared, asked)


def _go(
    store: RunStore,
    name: str,
    materials: Materials,
    plan: Plan,
    prepared: tuple[PreparedArm, ...],
    asked: dict[str, Any],
) -> int:
    requests, cost = store.spent(name)
    budget = Budget(asked["max_requests"], asked["max_cost"], requests, cost)
    policy = RetryPolicy(asked["max_retries"])
    players = make_players(materials, plan, prepared, budget, policy, lambda record: store.add_request(name, record))
    cases = choose_cases(materials, plan)
    tell_rooms(prepared, plan, cases, is_new=not (requests or store.get(name).finished))
    with watch(plan, store.connection, name, budget) as watcher:
        runner = Runner(plan, name, store, cases, players, watcher, asked["max_concurrency"])
        try:
            end = run_to_end(runner)
        except KeyboardInterrupt:
            watcher.stop()
            notify(f"run {name} is kept; go on with: toolbelt eval resume {name}")
            raise
    return show_end(store, name, end, as_json=asked["as_json"])


def _write_report(store: RunStore, name: str, folder: str, models: ModelTable) -> None:
    """As `toolbelt eval report` does; a run of which nothing has finished has none."""
    from toolbelt.evals.exports.findings import Wanted
    from toolbelt.evals.exports.report import write_report  # matplotlib and pandas

    row = store.get(name)
    if not row.finished:
        notify("no trial has finished, so there is no report", "warning")
        return
    wanted = Wanted(models=models)
    for path in write_report(store, row, Path(folder) / name, wanted, progress=progress).files:
        notify(f"wrote {path}")


def _find_suite(suite: str | None, toolsets: tuple[str, ...]) -> str:
    """The suite to be run; empty if none. One of the command line goes before toolsets of the environment, and back.

    Raises:
        NotFoundError: no such suite.
        ToolbeltError: it was asked for in the same place as toolsets.
    """
    if suite is None:
        return ""
    if toolsets:
        source = click.get_current_context().get_parameter_source
        told = {name for name in ("suite", "toolsets") if source(name) is ParameterSource.COMMANDLINE}
        if told == {"toolsets"}:
            return ""
        if told != {"suite"}:
            raise ToolbeltError(
                f"--suite {suite} says which toolsets are run, and so does --toolset; leave one of them out."
            )
    return spell_suite(suite)


def _default_toolsets(materials: Materials) -> tuple[str, ...]:
    """Without the toolset that goes by the role of each case where no case has one, which is told."""
    if materials.dataset.roles:
        return tuple(map(str, DEFAULT_TOOLSETS))
    notify(f"no case has a role, so {str(BY_ROLE)!r} is left out; name one with --toolset loadout:NAME")
    return tuple(str(spec) for spec in DEFAULT_TOOLSETS if spec != BY_ROLE)


def _model_options(materials: Materials, asked: dict[str, Any]) -> ModelOptions:
    return ModelOptions(asked["api_base"], asked["timeout"], materials.workspace.models)


def _refuse_changed(plan: Plan, materials: Materials) -> None:
    if materials.dataset.digest != plan.digest:
        what = f"The cases of {plan.dataset!r}"
    elif materials.digest_surroundings(arm.spec for arm in plan.arms) != plan.surroundings:
        by_agent = any(arm.spec.agent for arm in plan.arms)
        by_window = any(arm.spec.is_auto for arm in plan.arms)
        also = ", agent or toolkit" if by_agent else ""
        also += ", or a ladder, or the window of a model" if by_window else ""
        what = f"The catalog {plan.catalog_name!r}, or a loadout{also},"
    elif materials.dataset.fingerprint(choose_cases(materials, plan).indices) != plan.chosen:
        what = f"The order of the cases of {plan.dataset!r}, or which of them fit the filter,"
    else:
        return
    raise ToolbeltError(
        f"{what} changed since this run began, so that its trials could not be compared; begin a new run."
    )


def _refuse_unpriced(prepared: tuple[PreparedArm, ...], max_cost: float | None) -> None:
    from toolbelt.providers.chat import Usage

    if max_cost is None:
        return
    unknown = dict.fromkeys(one.arm.model for one in prepared if one.model.cost_usd(Usage(1, 1)) is None)
    if unknown:
        raise ToolbeltError(f"--max-cost cannot be kept: the price of {', '.join(unknown)} is unknown.")


def _refuse_unknown_choice(prepared: tuple[PreparedArm, ...], choice: str | None) -> None:
    if choice is None or choice in TOOL_CHOICES:
        return
    for one in prepared:
        if choice not in one.renderer.names and one.renderer.find_id(choice) is None:
            raise NotFoundError("tool choice", choice, (*TOOL_CHOICES, *one.renderer.names))


def _show_estimate(materials: Materials, plan: Plan, asked: dict[str, Any]) -> None:
    from toolbelt.evals.cli.estimates import estimate_data, estimate_view
    from toolbelt.evals.models.local import make_local_model
    from toolbelt.evals.models.opening import open_price
    from toolbelt.evals.running.estimate import SAMPLE, estimate

    kept: list[RequestRecord] = []
    prepared = prepare_arms(materials, plan, _model_options(materials, asked), open_price)
    players = make_players(materials, plan, prepared, Budget(), RetryPolicy(0), kept.append)
    cases = choose_cases(materials, plan)
    with progress("playing a sample", len(prepared) * min(SAMPLE, plan.cases)) as advance:
        found = estimate(plan, players, make_local_model(DEFAULT_MODEL), cases.case, advance)
    if asked["as_json"]:
        print_json(estimate_data(plan, found))
        return
    screen = make_screen()
    show_view(estimate_view(plan, found, screen), screen)
