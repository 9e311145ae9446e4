"""The root command and its groups: the table of all commands, none of which is imported before it is called."""

from __future__ import annotations

import click

import toolbelt
from toolbelt.command.groups import EXAMPLE_MODEL, LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.loadout_list:list_loadouts", "All loadouts, with what each makes of the catalog."),
        "show": ("toolbelt.cli.loadout_list:show", "A loadout's definition and lineage."),
        "inspect": ("toolbelt.cli.loadout_inspect:inspect", "What an agent gets, why, what it costs, where it fits."),
        "why": ("toolbelt.cli.loadout_inspect:why", "Why a plugin or tool is there, or is not."),
        "diff": ("toolbelt.cli.loadout_diff:diff", "What changes between two loadouts, or two versions of a file."),
        "lint": ("toolbelt.cli.loadout_lint:lint", "Check your loadouts for mistakes."),
        "export": ("toolbelt.cli.loadout_export:export", "The tool definitions to pass to an API."),
        "create": ("toolbelt.cli.loadout_create:create", "Write a new loadout."),
    },
    epilog=examples(f"toolbelt loadout inspect developer --model {EXAMPLE_MODEL}"),
)
def loadout() -> None:
    """Which tools an agent sees, why, and what they cost."""


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.toolkit_show:list_toolkits", "All toolkits, with what each makes of the catalog."),
        "inspect": ("toolbelt.cli.toolkit_show:inspect", "One toolkit: its tools, prompt text, rules, and who has it."),
        "resolve": ("toolbelt.cli.toolkit_resolve:resolve", "What a configuration of tools switches on, and why."),
    },
    epilog=examples("toolbelt toolkit list", "toolbelt toolkit resolve --tools-config agent.json"),
)
def toolkit() -> None:
    """Bundles of tools, of `toolkits` in toolbelt.yaml: granted by one switch, or loaded by an agent when needed."""


@click.group(
    cls=LazyGroup,
    entries={
        "show": ("toolbelt.cli.session_show:show", "What an agent has in a session, and why; or the stored sessions."),
        "load": ("toolbelt.cli.session_change:load", "Load a toolkit, as the agent itself would."),
        "unload": ("toolbelt.cli.session_change:unload", "Unload a toolkit, as the agent itself would."),
        "reset": ("toolbelt.cli.session_change:reset", "Unload everything that was loaded."),
    },
    epilog=examples("toolbelt session show --agent assistant --session 4711"),
)
def session() -> None:
    """What agents have loaded, by session: `agents` and `toolkits` of toolbelt.yaml, and the stored sessions."""


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.catalog_show:list_tools", "Every tool with its tokens, or the shipped catalogs."),
        "show": ("toolbelt.cli.catalog_show:show", "One plugin or tool in full."),
        "stats": ("toolbelt.cli.catalog_show:stats", "Numbers of plugins, tools and tokens."),
        "search": ("toolbelt.cli.catalog_search:search", "The tools that words or a pattern find."),
        "import": (
            "toolbelt.cli.catalog_import:import_command",
            "A catalog from files and from servers that you have.",
        ),
        "sync": ("toolbelt.cli.catalog_sync:sync", "Ask MCP servers for their tools again."),
        "lint": ("toolbelt.cli.catalog_lint:lint", "Check the tools for mistakes."),
        "gate": ("toolbelt.evals.cli.catalog_gate:gate", "Pass or fail a change of the tools, without any model."),
    },
    epilog=examples("toolbelt catalog stats"),
)
def catalog() -> None:
    """The tools there are: list, search, import, sync, lint, gate."""


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.model_list:list_models", "Models with their windows, limits and prices."),
        "inspect": ("toolbelt.cli.model_inspect:inspect", "All known facts about a model, with their sources."),
        "fit": ("toolbelt.cli.model_fit:fit", "Which toolset fits which model."),
        "probe": ("toolbelt.evals.cli.probe:probe", "Test what a model's API supports of tool calling."),
        "probes": ("toolbelt.evals.cli.probes:probes", "Results of probes, model by model."),
        "calibrate": ("toolbelt.evals.cli.calibrate:calibrate", "Measure a model's tokens on a stored run."),
    },
    epilog=examples("toolbelt model list", f"toolbelt model inspect {EXAMPLE_MODEL}"),
)
def model() -> None:
    """What is known of models: windows, limits, prices; which tools fit them; and what works when they are asked.

    From litellm's table, which is read offline, and from the `models` of toolbelt.yaml, which go before it. Only
    `probe` asks anybody.
    """


@click.group(
    "eval",
    cls=LazyGroup,
    entries={
        "run": ("toolbelt.evals.cli.run:run", "Ask cases over toolsets and models, and score the answers."),
        "resume": ("toolbelt.evals.cli.run:resume", "Continue a run that was interrupted, capped or failed in part."),
        "import": (
            "toolbelt.evals.cli.imported_run:import_command",
            "A run of answers that a model gave elsewhere.",
        ),
        "merge": ("toolbelt.evals.cli.merge:merge", "Merge shards into one run."),
        "list": ("toolbelt.evals.cli.show:list_runs", "The stored runs."),
        "show": ("toolbelt.evals.cli.show:show", "The results of a run, or one of its cases, request by request."),
        "note": ("toolbelt.evals.cli.show:note", "Keep a note about a run, or a case of it."),
        "report": ("toolbelt.evals.cli.export:report", "Table, page, Markdown, CSV and pictures of a run."),
        "compare": ("toolbelt.evals.cli.compare:compare", "Compare two runs, or arms of one run, with intervals."),
        "recommend": ("toolbelt.evals.cli.recommend:recommend", "The recommended toolset of each model of a run."),
        "search": ("toolbelt.evals.cli.search:search", "How well rankers find the right tools: recall, MRR, nDCG."),
        "gate": ("toolbelt.evals.cli.gate:gate", "Pass or fail a run against a baseline and limits, for CI."),
        "baseline": ("toolbelt.evals.cli.baseline:baseline", "Save the results of a run as a file to commit."),
        "export": ("toolbelt.evals.cli.export:export", "A run as JSON, CSV, Parquet, JUnit XML, Markdown or HTML."),
        "responses": ("toolbelt.evals.cli.responses:responses", "Recorded responses: export, show, prune."),
        "schema": ("toolbelt.evals.cli.export:schema", "The JSON Schemas of what the harness writes."),
        "plan": (
            "toolbelt.evals.cli.plan:plan",
            "How many cases a comparison needs, and what they can show.",
        ),
    },
    epilog=examples("toolbelt eval run --dataset assistant --toolset full,loadout,tiered --model local/bm25"),
)
def evaluate() -> None:
    """Run evals: the same cases over full, loadout-filtered and tiered toolsets across models."""


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.evals.cli.dataset_show:list_datasets", "The shipped datasets, or those you name."),
        "show": ("toolbelt.evals.cli.dataset_show:show", "What a dataset holds, or one case whole."),
        "lint": ("toolbelt.evals.cli.dataset_lint:lint", "What is wrong or doubtful about the cases."),
        "card": ("toolbelt.evals.cli.dataset_card:card", "Bring a dataset's card up to date, or begin one."),
        "import": (
            "toolbelt.evals.cli.dataset_import:import_command",
            "Cases from logs, transcripts and other harnesses.",
        ),
        "generate": ("toolbelt.evals.cli.dataset_generate:generate", "Drafts of cases, by a model, for you to review."),
        "review": ("toolbelt.evals.cli.dataset_review:review", "Drafts one by one: accept, change or drop."),
        "split": ("toolbelt.evals.cli.dataset_split:split", "Hold a part of the cases out."),
    },
    epilog=examples("toolbelt dataset show assistant"),
)
def dataset() -> None:
    """Cases to try toolsets on: list, show, lint, card, import, generate, review, split."""


@click.group(
    cls=LazyGroup,
    entries={
        "approve": ("toolbelt.cli.mcp_approve:approve", "List servers with their digests; approve by digest."),
        "check": (
            "toolbelt.cli.mcp_check:check",
            "Whether servers still have the tools that were synced, and what a client refuses.",
        ),
        "config": (
            "toolbelt.cli.mcp_config:config",
            "What to write into the file of a client for the gateway.",
        ),
        "login": ("toolbelt.cli.mcp_login:login", "Log in at a server that asks for it (OAuth)."),
        "logout": ("toolbelt.cli.mcp_login:logout", "Forget a login."),
    },
    epilog=examples("toolbelt mcp config developer --client cursor", "toolbelt mcp login github"),
)
def mcp() -> None:
    """MCP servers and clients: what to write into a client's file, logins."""


@click.group(
    cls=LazyGroup,
    entries={
        "init": ("toolbelt.cli.init:init", "Make a project from the MCP servers that you have."),
        "loadout": ("toolbelt.cli.root:loadout", "Which tools an agent sees, why, and what they cost."),
        "toolkit": (
            "toolbelt.cli.root:toolkit",
            "Bundles of tools: what they hold, and what switches them.",
        ),
        "session": ("toolbelt.cli.root:session", "What agents have loaded, by session: show, load, unload, reset."),
        "catalog": ("toolbelt.cli.root:catalog", "The tools of a project: list, search, import, sync, lint."),
        "serve": ("toolbelt.cli.serve:serve", "Offer a loadout's tools to an MCP client: the gateway."),
        "model": ("toolbelt.cli.root:model", "Facts about models: windows, limits, prices, and which toolsets fit."),
        "eval": ("toolbelt.cli.root:evaluate", "Run the same cases over several toolsets and models."),
        "view": ("toolbelt.evals.cli.view:view", "Open a page over all runs: over time, compared, any report."),
        "dataset": ("toolbelt.cli.root:dataset", "Cases to try toolsets on: list, show, lint."),
        "mcp": ("toolbelt.cli.root:mcp", "MCP servers and clients: a client's file, logins."),
        "usage": ("toolbelt.cli.usage:usage", "What was called through the gateway, and what was never called."),
        "config": ("toolbelt.cli.config:config", "toolbelt.yaml: where it is, its JSON Schema."),
    },
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=examples("toolbelt loadout inspect developer", "toolbelt eval run --toolset full,loadout,tiered")
    + "\n\n\b\nNames completed by Tab (bash; zsh_source and fish_source, too):\n"
    + '  eval "$(_TOOLBELT_COMPLETE=bash_source toolbelt)"',
)
@click.version_option(toolbelt.__version__, "-V", "--version", prog_name="toolbelt")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Decide which tools an LLM agent sees, see what that costs, and prove that it is right."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
