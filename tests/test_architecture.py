"""The plan of the house, held against the imports: floors go down, nothing goes round, the heavy stays outside."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "toolbelt"
EVALS = ROOT / "evals"
"""Installed as `toolbelt.evals`."""

FLOORS: dict[str, int] = {
    "toolbelt.errors": 0,
    "toolbelt.findings": 0,
    "toolbelt.patterns": 0,
    "toolbelt.text": 0,
    "toolbelt.sources": 0,
    "toolbelt.reporter": 0,
    "toolbelt.catalog": 1,
    "toolbelt.views": 1,
    "toolbelt.loadouts": 2,
    "toolbelt.models": 2,
    "toolbelt.servers": 2,
    "toolbelt.tiers": 2,
    "toolbelt.search": 2,
    "toolbelt.runtime": 2,
    "toolbelt.toolkits": 2,
    "toolbelt.sessions": 2,
    "toolbelt.agents": 2,
    "toolbelt.importers": 3,
    "toolbelt.stores": 3,
    "toolbelt.providers": 3,
    "toolbelt.mcp": 3,
    "toolbelt.render": 3,
    "toolbelt.project": 4,
    "toolbelt.command": 4,
    "toolbelt.evals": 5,
    "toolbelt.cli": 6,
    "toolbelt.__main__": 6,
    "toolbelt": 6,  # the front door may know everything; below it, nobody goes through the front door
}
WITHIN_EVALS = (
    ("conversation", "statistics"),
    ("cases", "offers"),
    ("scoring", "models", "toolsets"),
    ("responses",),
    ("running",),
    ("analysis", "drafts", "engines", "probing", "retrieval", "setup"),
    ("views",),
    ("viewer",),
    ("exports",),
    ("browsing",),
    ("run", "execution", "evaluate", "gate_and_top_up", "imported_run"),
    ("cli",),
)
"""The floors of the harness, the lowest first; parts of one floor may import each other, but not in a circle."""
WITHIN_MCP = (("configs",), ("logs",), ("upstreams",), ("gateway",), ("sync", "serving"))
ONE_WAY_IN = {
    "tiktoken": {"toolbelt.providers.tokenizers"},
    "litellm": {"toolbelt.providers.litellm_loading"},
    "pandas": {"toolbelt.evals.views.frames"},
    "matplotlib": {"toolbelt.evals.views.pictures.canvas"},
    "pydantic": {"toolbelt.mcp.gateway.front", "toolbelt.runtime.annotations"},  # the SDK takes messages as models
    # What pydantic is made of is loaded in a third of the time, for results that only it can write.
    "pydantic_core": {"toolbelt.runtime.annotations", "toolbelt.runtime.results"},
    "docstring_parser": {"toolbelt.runtime.signatures"},
    "scipy": {
        "toolbelt.catalog.ranking.large",  # sparse matrices
        "toolbelt.evals.statistics.distributions",
        "toolbelt.evals.statistics.logistic",
    },
    "pyarrow": {
        "toolbelt.evals.cases.imports.tables",
        "toolbelt.evals.views.frames",
    },  # what others wrote; what we write
    "markdown_it": {"toolbelt.evals.cases.imports.tables"},
    "distributed": {
        "toolbelt.evals.engines.clusters",
        "toolbelt.evals.engines.dask_engine",
        "toolbelt.evals.engines.parts",
    },
    "dask": {"toolbelt.evals.engines.clusters"},
    "jinja2": {"toolbelt.evals.viewer.rendering"},
    "markupsafe": {"toolbelt.evals.viewer.rendering", "toolbelt.render.html"},
    "junitparser": {"toolbelt.evals.views.junit"},
    "jsonschema_rs": {"toolbelt.catalog.validators"},
    "jsonschema": set(),  # of the tests
}
"""Heavy packages and the modules that may import each: one, unless there is a reason."""
MAX_LINES = 400
TABLES = frozenset(
    {
        "toolbelt.catalog.ranking.rankers",
        "toolbelt.cli.root",
        "toolbelt.evals.cases.imports.formats",
        "toolbelt.evals.cases.lint.lint",
        "toolbelt.evals.models.opening",
        "toolbelt.evals.toolsets.spec",
        "toolbelt.evals.views.pictures.drawing",
        "toolbelt.importers.formats",
    }
)
"""Modules that hold a table: of rankers, commands, formats, findings, models, toolsets or pictures; a row, a file."""
SIBLING_ONLY = {
    "toolbelt.catalog.gate.schema_breaks": "compares two schemas; knows nothing of tools",
    "toolbelt.catalog.gate.wording": "compares descriptions; knows nothing of changes and rules",
    "toolbelt.evals.analysis.comparison.amounts": "contrasts of amounts; shares have a module of their own, too",
    "toolbelt.evals.analysis.evidence.case_names": "packs ids, whatever is known of the cases; together over 400 lines",
    "toolbelt.evals.analysis.gate.checks": "which checks a gate has, apart from its verdict",
    "toolbelt.evals.analysis.matrix.explain_pick": "finds the reasons of a choice; together over 400 lines",
    "toolbelt.evals.analysis.summary.queries": "the SQL of a summary; together over 400 lines",
    "toolbelt.evals.cases.imports.json_array": "streams one JSON array, whatever format is imported",
    "toolbelt.evals.cases.imports.query_fields": "which field of a row is what; together over 400 lines",
    "toolbelt.evals.cases.imports.promptfoo_assertions": "what each assertion means; together over 400 lines",
    "toolbelt.evals.cases.imports.promptfoo_demands": "the label that several demands make; knows no assertion",
    "toolbelt.evals.cases.imports.promptfoo_outputs": "what a script takes from an output; knows no assertion",
    "toolbelt.evals.cases.imports.promptfoo_files": "the files that a configuration names; reads the disk",
    "toolbelt.evals.cases.imports.redaction": "patterns of what is private; together over 400 lines",
    "toolbelt.evals.cases.lint.literals": "finds literals in a text; knows nothing of cases",
    "toolbelt.evals.cases.lint.similarity": "finds sets of words that are alike; knows nothing of cases",
    "toolbelt.evals.cli.dataset_generate_views": "what is shown, apart from the command",
    "toolbelt.evals.cli.probe_running": "runs probes and shows progress, apart from the options",
    "toolbelt.evals.cli.watching": "its imports take 0.2 s, which reading a dataset does without",
    "toolbelt.evals.drafts.asking": "requests to the drafting model, apart from what is drafted",
    "toolbelt.evals.models.local.call_planning": "chooses calls; the agent is the model around it",
    "toolbelt.evals.models.local.meta_tools": "chooses what to load; the agent is the model around it",
    "toolbelt.evals.analysis.matrix.choose_toolsets": "the rules of the choice; the matrix around it is layout",
    "toolbelt.evals.models.local.searching": "chooses what to search for; the agent is the model around it",
    "toolbelt.evals.models.local.values": "reads values from a text; together over 400 lines",
    "toolbelt.evals.engines.clusters": "starts and finds workers; the engine gives them work",
    "toolbelt.evals.engines.part_rows": "rows of SQLite; the engine knows chunks",
    "toolbelt.evals.probing.judging": "judges a reply; the scripts make the requests",
    "toolbelt.evals.retrieval.compute": "means and differences of scores; knows nothing of datasets and rankers",
    "toolbelt.evals.running.grouped_writes": "many rows, one transaction; together over 400 lines",
    "toolbelt.evals.running.schema": "the tables of a store; docs/data.md describes them column by column",
    "toolbelt.evals.running.stored_shards": "which shards belong together; with the merge over 400 lines",
    "toolbelt.evals.scoring.bfcl": "compares arguments as BFCL does",
    "toolbelt.evals.scoring.matching": "which calls match, apart from what that means for a trial",
    "toolbelt.evals.viewer.arm_columns": "the table of the arms; the page puts its parts together",
    "toolbelt.evals.viewer.pairs": "each pair of arms in full; the page puts its parts together",
    "toolbelt.evals.viewer.records": "the data of the page, apart from its HTML",
    "toolbelt.evals.viewer.sections": "the values of the page's tables; the page puts them together",
    "toolbelt.evals.viewer.top": "the result on top of the page; the page puts its parts together",
    "toolbelt.evals.views.pictures.legend": "what marks and lines mean; together over 400 lines",
    "toolbelt.evals.views.pictures.placing": "places labels, whatever they belong to",
    "toolbelt.importers.openapi.arguments": "the arguments of one operation; together over 400 lines",
    "toolbelt.importers.openapi.loops": "schemas that contain themselves; together over 400 lines",
    "toolbelt.mcp.gateway.call_audit": "records of calls; the log knows nothing of the protocol",
    "toolbelt.mcp.serving.http": "any server of the SDK over HTTP; knows nothing of gateways",
    "toolbelt.mcp.serving.http_clients": "which client a request belongs to, apart from who is let in",
    "toolbelt.mcp.upstreams.idleness": "when a connection is not needed; together over 400 lines",
    "toolbelt.mcp.upstreams.processes": "one of the transports; together over 400 lines",
    "toolbelt.models.google_rules": "the rules of one provider; the others are a table",
    "toolbelt.models.json_patches": "RFC 6902, which knows nothing of providers",
    "toolbelt.models.property_renaming": "one of the rewritings; together over 400 lines",
    "toolbelt.models.schema_drafts": "older drafts in the words of the newest; knows no provider",
    "toolbelt.models.schema_merging": "what two schemas come to together; knows no provider",
    "toolbelt.models.schema_rewriting": "one of the rewritings; together over 400 lines",
    "toolbelt.project.fits": "a cache; the project knows only that fits are found",
    "toolbelt.providers.embedding_requests": "one request, over each transport; batches and retries are around it",
    "toolbelt.providers.provider_texts": "a table of what providers write, apart from reading it",
    "toolbelt.runtime.annotations": "the one way to pydantic",
    "toolbelt.runtime.batch": "runs calls; what happens before they run is in `execution`",
    "toolbelt.runtime.preparation": "guards and backends before a call; together over 400 lines",
    "toolbelt.runtime.reducers.git_status": "one of the outputs that are reduced; together over 400 lines",
    "toolbelt.runtime.reducers.shell_noise": "which lines of an output matter, apart from cutting it",
    "toolbelt.runtime.signatures": "reads a function's parameters; together over 400 lines",
    "toolbelt.runtime.watchdog": "watches a blocked loop from a thread; together over 400 lines",
    "toolbelt.stores.stored_catalogs": "the cache of large catalogs, which small ones do without",
}
"""Every module that only one sibling imports, outside the tables, and why it stands alone."""


def _modules() -> dict[str, Path]:
    found = {}
    inside = ((path, path.relative_to(ROOT)) for path in PACKAGE.rglob("*.py") if EVALS not in path.resolve().parents)
    beside = ((path, Path("toolbelt") / path.relative_to(ROOT)) for path in EVALS.rglob("*.py"))
    for path, place in sorted((*inside, *beside)):
        parts = place.with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


@cache
def _imports(path: Path, *, typing_too: bool = False) -> tuple[str, ...]:
    """Every module that `path` imports, also inside functions; those for type checkers only if wanted."""
    return tuple(_find_imports(path, typing_too=typing_too))


def _find_imports(path: Path, *, typing_too: bool) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        test = node.test if isinstance(node, ast.If) else None
        if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING" and not typing_too:
            skipped.update(child for child in ast.walk(node) if child is not node)
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            for alias in node.names:
                if (node.module, alias.name) == ("toolbelt", "__version__"):
                    continue
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else str(node.module)


def _floor(module: str) -> int:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if (floor := FLOORS.get(".".join(parts[:length]))) is not None:
            return floor
    raise AssertionError(f"{module} is on no floor")


def _package(module: str) -> str:
    """The package of a module; each part of the harness counts as one."""
    return ".".join(module.split(".")[: 3 if module.startswith("toolbelt.evals.") else 2])


def test_imports_go_down_or_sideways() -> None:
    above = [
        f"{module} (floor {_floor(module)}) imports from above: {target}"
        for module, path in MODULES.items()
        for target in _imports(path)
        if target.split(".")[0] == "toolbelt" and _floor(target) > _floor(module)
    ]
    assert above == []


@pytest.mark.parametrize(
    ("package", "floors"), [("toolbelt.evals", WITHIN_EVALS), ("toolbelt.mcp", WITHIN_MCP)], ids=["evals", "mcp"]
)
def test_imports_within_a_package_go_down_or_sideways(package: str, floors: Sequence[Sequence[str]]) -> None:
    def floor(module: str) -> int:
        part = module.removeprefix(f"{package}.").split(".")[0]
        return next(floor for floor, parts in enumerate(floors) if part in parts)

    above = [
        f"{module} imports from above: {target}"
        for module in MODULES
        if module.startswith(f"{package}.")
        for target in _imports(MODULES[module])
        if target.startswith(f"{package}.") and floor(target) > floor(module)
    ]
    assert above == []


def test_every_package_has_a_floor() -> None:
    packages = {_package(module) for module in MODULES}
    assert {room for room in packages if not room.startswith("toolbelt.evals.")} <= set(FLOORS)


def test_no_cycle_between_modules() -> None:
    """Imports inside functions count, too; those for type checkers alone do not."""
    graph = {
        module: {target for target in _imports(path) if target in MODULES and target != module}
        for module, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, f"cycle: {' -> '.join((*way[way.index(module) :], module))}"
        if module in done:
            return
        for target in sorted(graph[module]):
            visit(target, (*way, module))
        done.add(module)

    for module in graph:
        visit(module, ())


def test_a_module_that_one_sibling_imports_has_a_reason() -> None:
    importers: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, path in MODULES.items():
        text = path.read_text(encoding="utf-8")
        named = {target for target in re.findall(r'"(toolbelt[\w.]*)[":]', text) if target in MODULES}
        for target in {*_imports(path, typing_too=True), *named} & MODULES.keys() - {module}:
            importers[target].add(module)
    lonely = set()
    for module, users in importers.items():
        user = next(iter(users)) if len(users) == 1 else ""
        package = "__init__" in {MODULES[module].stem, *(MODULES[name].stem for name in users)}
        if not package and user.rpartition(".")[0] == module.rpartition(".")[0] and user not in TABLES:
            lonely.add(module)
    assert lonely == set(SIBLING_ONLY), "merge them into the module that imports them, or give a reason"


def test_no_cycle_between_packages() -> None:
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        targets = {_package(t) for t in _imports(path) if t.startswith("toolbelt.") and _package(t) != _package(module)}
        graph.setdefault(_package(module), set()).update(targets)
    for start, targets in graph.items():
        reached, pending = set(), list(targets)
        while pending:
            current = pending.pop()
            if current not in reached:
                reached.add(current)
                pending.extend(graph.get(current, ()))
        assert start not in reached, f"{start} reaches itself"


@pytest.mark.parametrize(("heavy", "allowed"), ONE_WAY_IN.items())
def test_a_heavy_package_comes_in_through_one_module(heavy: str, allowed: set[str]) -> None:
    importers = {module for module, path in MODULES.items() if heavy in {t.split(".")[0] for t in _imports(path)}}
    assert importers == allowed


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        pytest.param(["-c", "import toolbelt"], {"click", "yaml", "rich"}, id="import-toolbelt-loads-only-itself"),
        pytest.param(
            ["-c", "from toolbelt import ToolLoadoutRegistry, Catalog, Tool"], {"click", "yaml"}, id="library"
        ),
        pytest.param(["-m", "toolbelt", "--help"], {"yaml", "rich", "dataclasses"}, id="help"),
        pytest.param(["-m", "toolbelt", "loadout", "inspect", "developer"], {"yaml", "rich.table"}, id="inspect"),
        pytest.param(["-m", "toolbelt", "loadout", "inspect", "developer", "--json"], {"yaml", "rich"}, id="json"),
    ],
)
def test_what_starts_quickly_loads_little(arguments: list[str], absent: set[str], tmp_path: Path) -> None:
    # Once to fill the caches, once to look.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, cwd=tmp_path
        )
    said = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert (done.returncode, said) == (0, [])
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    heavy = {
        "litellm",
        "pandas",
        "matplotlib",
        "pydantic",
        "tiktoken",
        "numpy",
        "scipy",
        "jsonschema_rs",
        "openai",
        "httpx",
        "mcp",
        "mcp_types",
        "anyio",
        "starlette",
        "uvicorn",
    }
    assert not loaded & (absent | heavy)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["eval", "run", "--limit", "3", "--toolset", "oracle+4"], id="run-local"),
        pytest.param(["eval", "run", "--limit", "3", "--model", "gpt-4o", "--dry-run"], id="dry-run"),
        pytest.param(["dataset", "lint", "assistant"], id="lint"),
    ],
)
def test_an_eval_that_asks_no_hosted_model_loads_no_client(arguments: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "toolbelt", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert not loaded & {
        "litellm",
        "pandas",
        "matplotlib",
        "numpy",
        "pydantic",
        "openai",
        "httpx",
        "aiohttp",
        "bm25s",
        "distributed",
    }


def test_files_stay_small() -> None:
    long = {
        module: count for module, path in MODULES.items() if (count := len(path.read_text().splitlines())) > MAX_LINES
    }
    assert not long, f"over {MAX_LINES} lines, so two things live together: {long}"
