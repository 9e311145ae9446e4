"""Change the core of the harness in small ways, and check that a test fails for each change.

    python tests/safety/mutants.py check CHECKOUT [--renames FILE] [--only TEXT] [--processes N]
    python tests/safety/mutants.py make CHECKOUT COVERAGE TIMES LIST

A mutant is a small change of one statement. It is found again by the name of its function and the text of its
statement, so it may move to another module. Where identifiers were renamed, it is found by the shape of the statement,
or with `--renames`, a JSON object of old identifiers and new ones.

`check` takes the mutants of `mutants.json` that a test killed when the list was made. It applies each to a copy of
CHECKOUT, and runs the tests that killed it then, wherever they are now; if these pass, tests that covered it, and then
those of its folder. The exit code is 1 unless every mutant is found and killed. Run it with CHECKOUT/.venv/bin/python.

`make` writes such a list for the modules in COVERAGE, which `pytest --cov --cov-context=test` writes (pytest-cov).
TIMES is what `--junit-xml` writes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import click

COUNT = 330
SEED = 15
MOST_TESTS = 150
SECONDS = 60.0
"""After which a run of tests is stopped."""
LIST = Path(__file__).with_name("mutants.json")

# Statements, and what can be changed about one.

_OTHER: Mapping[type[ast.AST], Sequence[type[ast.AST]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Raise, ast.Continue, ast.Break)
_COMPOUND = (ast.If, ast.While, ast.For)
Change = Callable[[], None]


def mutations(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Each mutant of a statement, in an order that its shape alone decides; what is inside its bodies stays."""
    number = 0
    while True:
        mutant = copy.deepcopy(statement)
        holder = ast.Module([mutant], [])
        changes = list(_changes(holder, mutant))
        if number >= len(changes):
            return
        changes[number]()
        yield holder.body[0]
        number += 1


def _changes(holder: ast.Module, statement: ast.stmt) -> Iterator[Change]:
    if isinstance(statement, ast.Raise | ast.Continue | ast.Break | ast.AugAssign) or (
        isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant)
    ):
        yield lambda: holder.body.__setitem__(0, ast.Pass())
    if isinstance(statement, ast.Raise):
        return
    if isinstance(statement, ast.Return) and statement.value and not _is_none(statement.value):
        yield lambda: setattr(statement, "value", ast.Constant(None))
    for node in _expressions(statement):
        yield from _changes_of(node)


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """The statement and what is in it, without its bodies, annotations and messages."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop(0)
        yield node
        skipped = {*(_BODIES if isinstance(node, ast.stmt) else ()), "annotation"}
        for name, value in ast.iter_fields(node):
            if name not in skipped:
                inside = value if isinstance(value, list) else [value]
                todo += [one for one in inside if isinstance(one, ast.AST) and not isinstance(one, ast.JoinedStr)]


def _changes_of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(value=bool(value)):
            yield lambda: setattr(node, "value", not value)
        case ast.Constant(value=int(value)):
            yield lambda: setattr(node, "value", value + 1)
            yield lambda: setattr(node, "value", value - 1)
        case ast.Constant(value=float(value)):
            yield lambda: setattr(node, "value", value * 2 or 1.0)
            yield lambda: setattr(node, "value", value / 2 or -1.0)
        case ast.If() | ast.While() | ast.IfExp():
            yield lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension():
            for place, test in enumerate(node.ifs):
                yield partial(node.ifs.__setitem__, place, ast.UnaryOp(ast.Not(), test))
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
            yield lambda: setattr(node.func, "id", _FUNCTIONS[name])
        case _:
            yield from _changes_of_operators(node)


def _changes_of_operators(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                for other in _OTHER[type(operator)]:
                    yield partial(node.ops.__setitem__, place, cast(ast.cmpop, other()))
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign():
            for other in _OTHER.get(type(node.op), ()):
                yield partial(setattr, node, "op", other())
        case ast.UnaryOp(op=ast.USub()):
            yield lambda: setattr(node, "op", ast.UAdd())
        case ast.UnaryOp(op=ast.Not()):
            yield lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def text_of(statement: ast.stmt) -> str:
    """The statement in one form, whatever its layout; of one with a body, the head alone."""
    if not isinstance(statement, _COMPOUND):
        return ast.unparse(statement)
    head = copy.copy(statement)
    head.body, head.orelse = [ast.Expr(ast.Constant(...))], []
    return ast.unparse(head)


def _parse(text: str) -> ast.stmt:
    """The statement that a text from `text_of` is of; `break` and the like need no loop."""
    return ast.parse(text).body[0]


def shape_of(text: str) -> str:
    """The statement with each identifier replaced by the number of its first use."""
    numbers: dict[str, str] = {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ("id", "attr", "arg"):
            if isinstance(old := getattr(node, name, None), str) and old not in _FUNCTIONS:
                setattr(node, name, numbers.setdefault(old, f"n{len(numbers)}"))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.unparse(tree)


@dataclass(frozen=True, eq=False)
class Place:
    """A statement of the code.

    Attributes:
        module: Its file, relative to the checkout.
        function: The names of the functions and classes around it.
        text: See `text_of`.
        index: How many of the same text come before it in the function.
        path: The lists that it is in from the module down: field and number of each.
        lines: Its first line and its last, without its bodies.
    """

    module: str
    function: str
    text: str
    index: int
    path: tuple[tuple[str, int], ...]
    lines: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.module} {self.function}: {self.text!r}"


def places(checkout: Path, module: str) -> list[Place]:
    """The statements of a module that can be changed."""
    found: list[Place] = []
    counts: dict[tuple[str, str], int] = defaultdict(int)

    def visit(node: ast.AST, function: str, path: tuple[tuple[str, int], ...]) -> None:
        if isinstance(node, _SIMPLE + _COMPOUND):
            text = text_of(node)
            last = node.end_lineno if isinstance(node, _SIMPLE) else node.body[0].lineno - 1
            lines = (node.lineno, max(last or 0, node.lineno))
            found.append(Place(module, function, text, counts[function, text], path, lines))
            counts[function, text] += 1
        if isinstance(node, _SCOPES):
            function = f"{function}.{node.name}".lstrip(".")
        for name in _BODIES:
            for number, one in enumerate(getattr(node, name, None) or ()):
                if isinstance(one, ast.AST):
                    visit(one, function, (*path, (name, number)))

    visit(ast.parse((checkout / module).read_text(encoding="utf-8")), "", ())
    return found


def mutated(checkout: Path, place: Place, which: int) -> str:
    """The source of the module with one mutant of a statement."""
    tree: Any = ast.parse((checkout / place.module).read_text(encoding="utf-8"))
    *way, (name, number) = place.path
    parent = tree
    for step, place_in_list in way:
        parent = getattr(parent, step)[place_in_list]
    statements = getattr(parent, name)
    statements[number] = list(mutations(statements[number]))[which]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _modules(checkout: Path) -> list[str]:
    paths = (path for top in ("toolbelt", "evals") for path in sorted((checkout / top).rglob("*.py")))
    names = {path.resolve().relative_to(checkout.resolve()).as_posix() for path in paths}
    return sorted(names)


# The list.


@dataclass(slots=True)
class Mutant:
    """A line of the list.

    Attributes:
        module: Where the statement was when the list was made, as are the next three.
        function: The names of the functions and classes around it.
        before: The statement.
        index: How many of the same text come before it in the function.
        after: What it is changed to.
        which: Number of the change among those of the statement.
        status: `killed` if a test noticed; else `survived`, `timeout` or `crashed` (no test could be run).
        killers: Tests that noticed.
        tests: Some of the tests that run the statement.
    """

    module: str
    function: str
    before: str
    index: int
    after: str
    which: int
    status: str = ""
    killers: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.module} {self.function}: {self.before!r} -> {self.after!r}"


def read_list(path: Path) -> list[Mutant]:
    """All mutants."""
    return [Mutant(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def write_list(path: Path, mutants: Sequence[Mutant]) -> None:
    """A mutant a line."""
    lines = ",\n".join(
        json.dumps({name: getattr(one, name) for name in Mutant.__slots__}, ensure_ascii=False) for one in mutants
    )
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


# Running tests.


_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Hypothesis is imported before pytest starts, which pytest warns of."""


class _Failures:
    """Notes the tests that fail."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and report.nodeid:
            self.failed.append(report.nodeid)


def run_tests(tree: Path, tests: Sequence[str], most_failures: int, seconds: float) -> tuple[str, list[str]]:
    """Run tests in a child process: `passed`, `failed`, `timeout` or `crashed`; and the tests that failed."""
    result = tree.with_name(f"{tree.name}.json")
    result.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        try:
            os.setsid()
            result.write_text(json.dumps(_run_here(tree, tests, most_failures)), encoding="utf-8")
        except BaseException:  # noqa: BLE001  the parent process sees that there is no result
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + seconds
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if ended == (0, 0):
        os.waitpid(child, 0)
        return "timeout", []
    if not result.exists():
        return "crashed", []
    failed = json.loads(result.read_text(encoding="utf-8"))
    return ("failed" if failed else "passed"), failed


def _run_here(tree: Path, tests: Sequence[str], most_failures: int) -> list[str]:
    import pytest

    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    os.environ["PYTHONPATH"] = str(tree)
    failures = _Failures()
    code = pytest.main(
        [*tests, f"--maxfail={most_failures}", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", *_QUIET],
        plugins=[failures],
    )
    if code and not failures.failed:
        raise RuntimeError(f"pytest ended with {code}")
    return failures.failed


def prepare() -> None:
    """Import what takes long, but none of the code."""
    import importlib

    for name in ("pytest", "hypothesis", "numpy", "scipy.special", "scipy.stats", "yaml", "jsonschema", "click"):
        importlib.import_module(name)
    for name in ("rich.console", "rich.table", "pandas", "pyarrow", "tiktoken", "pydantic", "filelock"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(
        "mutants",
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def copy_tree(checkout: Path, to: Path) -> Path:
    """Copy what the tests need."""
    left_out = shutil.ignore_patterns(".venv", ".git", ".hypothesis", ".toolbelt", "build", "*.egg-info", ".*_cache")
    shutil.copytree(checkout, to, symlinks=True, ignore=left_out)
    return to


_tree = Path()


def _start_worker(checkout: Path, folder: str) -> None:
    global _tree  # noqa: PLW0603  each worker has a copy of its own
    _tree = copy_tree(checkout, Path(folder) / str(os.getpid()))


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant to try, with groups of tests that are run one after the other until one notices it."""

    number: int
    place: Place
    which: int
    groups: Sequence[Sequence[str]]
    most_failures: int = 1


def _try(trial: Trial) -> tuple[int, str, list[str]]:
    """Number, status and killers."""
    for position, tests in enumerate(trial.groups):
        seconds = SECONDS if position == 0 else 10 * SECONDS
        with _changed(trial.place, trial.which):
            status, failed = run_tests(_tree, tests, trial.most_failures, seconds) if tests else ("passed", [])
        if status == "failed" and position:  # these tests may fail without the change, too
            broken = _run_unchanged(sorted({_function(test) for test in failed}))
            failed = [test for test in failed if _function(test) not in broken]
            status = "killed" if failed else "passed"
        if status != "passed":
            return trial.number, "killed" if status == "failed" else status, failed
    return trial.number, "survived", []


@contextlib.contextmanager
def _changed(place: Place, which: int) -> Iterator[None]:
    """Apply a mutant to this process's copy meanwhile."""
    path = _tree / place.module
    original = path.read_text(encoding="utf-8")
    changed = mutated(_tree, place, which)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
    path.write_text(changed, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(original, encoding="utf-8")


@contextlib.contextmanager
def _workers(checkout: Path, processes: int) -> Iterator[Any]:
    prepare()
    os.environ.setdefault("TOOLBELT_TEST_DATA", str(checkout.resolve().parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("fork")
        with context.Pool(processes, _start_worker, (checkout, folder)) as pool:
            yield pool


# Making the list.


def read_coverage(path: Path, checkout: Path) -> dict[str, dict[int, set[str]]]:
    """By module and line, the tests that ran it."""
    found: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    query = (
        "SELECT path, context, numbits FROM line_bits "
        "JOIN file ON file_id = file.id JOIN context ON context_id = context.id"
    )
    with sqlite3.connect(path) as connection:
        for file, test, bits in connection.execute(query):
            module = Path(file).resolve().relative_to(checkout.resolve()).as_posix()
            for line in (8 * byte + bit for byte, value in enumerate(bits) for bit in range(8) if value >> bit & 1):
                found[module][line].add(test.rpartition("|")[0])
    return found


def read_times(path: Path) -> dict[str, float]:
    """Seconds of each test."""
    return {
        f"{case.get('file')}::{case.get('name')}": float(case.get("time", 0))
        for case in ElementTree.parse(path).iter("testcase")
    }


def choose(checkout: Path, covered: Mapping[str, Mapping[int, set[str]]]) -> list[tuple[Mutant, Place, set[str]]]:
    """Mutants of covered statements, from each module in turn, none twice from a statement."""
    drawn = random.Random(SEED)
    by_module: list[list[tuple[Mutant, Place, set[str]]]] = []
    for module in sorted(covered):
        candidates = []
        everything = places(checkout, module)
        drawn.shuffle(everything)
        for place in everything:
            lines = range(place.lines[0], place.lines[1] + 1)
            tests = {test for line in lines for test in covered[module].get(line, ()) if test}
            choices = list(mutations(_parse(place.text))) if tests else []
            if choices:
                # The first change of a `return` is `return None`, which is too easy to notice.
                which = drawn.randrange(isinstance(choices[0], ast.Return) and len(choices) > 1, len(choices))
                after = text_of(choices[which])
                candidates.append((Mutant(module, place.function, place.text, place.index, after, which), place, tests))
        by_module.append(candidates)
    rows = (one for row in zip_longest(*by_module) for one in row if one is not None)
    return [one for one, _ in zip(rows, range(COUNT), strict=False)]


def make(checkout: Path, coverage: Path, times: Path, out: Path, processes: int) -> None:
    """Choose mutants, run the tests that cover them, and write the list."""
    covered, seconds = read_coverage(coverage, checkout), read_times(times)
    chosen = choose(checkout, covered)
    trials = []
    for number, (mutant, place, tests) in enumerate(chosen):
        folder = f"tests/{mutant.module.removeprefix('toolbelt/')}".rpartition("/")[0] + "/"
        ranked = sorted(tests, key=lambda test: (not test.startswith(folder), seconds.get(test, 1.0), test))
        functions = list(dict.fromkeys(_function(test) for test in ranked))
        mutant.tests = functions[:8]
        trials.append(Trial(number, place, mutant.which, (functions[:25], functions[25:MOST_TESTS]), most_failures=3))
    start = time.monotonic()
    with _workers(checkout, processes) as pool:
        if broken := pool.apply(_run_unchanged, (trials[0].groups[0],)):
            raise SystemExit(f"These tests fail without any change: {broken}")
        for done, (number, status, killers) in enumerate(pool.imap_unordered(_try, trials), 1):
            mutant = chosen[number][0]
            mutant.status, mutant.killers = status, list(dict.fromkeys(_function(test) for test in killers))
            click.echo(f"{done}/{len(trials)} {time.monotonic() - start:.0f}s {status}: {mutant}")
            write_list(out, [one for one, _, _ in chosen])


def _function(test: str) -> str:
    """A test's file and function."""
    return test.partition("[")[0]


# Checking another checkout.


class Locator:
    """Finds statements again in a tree where much was moved and renamed."""

    def __init__(self, checkout: Path, renames: Mapping[str, str]) -> None:
        self._renames = renames
        self._texts: dict[str, list[Place]] = defaultdict(list)
        self._shapes: dict[str, list[Place]] = defaultdict(list)
        for module in _modules(checkout):
            for place in places(checkout, module):
                self._texts[place.text].append(place)
                self._shapes[shape_of(place.text)].append(place)

    def find_all(self, mutants: Sequence[Mutant]) -> dict[int, tuple[Place, str]]:
        """By number of the mutant, its statement now, and how it was found: by its text, or by its shape alone."""
        found = {number: one for number, mutant in enumerate(mutants) if (one := self._find(mutant))}
        homes: dict[str, set[str]] = defaultdict(set)
        for number, (place, _) in found.items():
            homes[mutants[number].module].add(place.module)
        for number, mutant in enumerate(mutants):
            if number not in found and (one := self._find(mutant, homes[mutant.module])):
                found[number] = one
        return found

    def _find(self, mutant: Mutant, homes: Collection[str] = ()) -> tuple[Place, str] | None:
        """In functions of the same name; else anywhere if it is long, or in these modules."""
        names = {mutant.function, self._renamed(mutant.function)}
        last = {name.rpartition(".")[2] for name in names}
        renamed = (self._renamed(mutant.before, strings=False), self._renamed(mutant.before))
        same = [place for text in dict.fromkeys((mutant.before, *renamed)) for place in self._texts.get(text, ())]
        alike = self._shapes.get(shape_of(mutant.before), [])
        for how, found, long in (("text", same, 25), ("shape", alike, 60)):
            for chosen in (
                [place for place in found if place.function in names],
                [place for place in found if place.function.rpartition(".")[2] in last],
                found if len(mutant.before) >= long else [],
                [place for place in found if place.module in homes],
            ):
                if (place := self._one(mutant, chosen, how)) is not None:
                    return place, how
        return None

    def _one(self, mutant: Mutant, found: Sequence[Place], how: str) -> Place | None:
        """The one that is meant, if that is clear."""
        same_module = [place for place in found if place.module == mutant.module]
        stem = mutant.module.rpartition("/")[2]
        same_name = [place for place in found if place.module.rpartition("/")[2] == stem]
        for some in (same_module, same_name, found):
            functions = {(place.module, place.function) for place in some}
            if len(functions) == 1 and (how == "text" or len(some) == 1):
                return next((place for place in some if place.index == mutant.index), some[0])
        return None

    def _renamed(self, text: str, *, strings: bool = True) -> str:
        """A text under the new identifiers."""
        pattern = r"[A-Za-z_]\w*" if strings else r"""'[^']*'|"[^"]*"|[A-Za-z_]\w*"""
        return re.sub(pattern, lambda found: self._renames.get(found[0], found[0]), text)


class TestIndex:
    """Finds tests by their names, wherever their files are."""

    __test__ = False

    def __init__(self, checkout: Path) -> None:
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._files: list[str] = []
        for path in sorted((checkout / "tests").rglob("test_*.py")):
            file = path.relative_to(checkout).as_posix()
            self._files.append(file)
            self._visit(ast.parse(path.read_text(encoding="utf-8")), file)

    def _visit(self, node: ast.AST, place: str) -> None:
        for one in getattr(node, "body", ()):
            if isinstance(one, _SCOPES):
                self._by_name[one.name].append(f"{place}::{one.name}")
                if isinstance(one, ast.ClassDef):
                    self._visit(one, f"{place}::{one.name}")

    def find(self, tests: Iterable[str]) -> list[str]:
        """Where tests of these names are; of several of a name, that in the same file or one of the same name."""
        found: list[str] = []
        for test in tests:
            file, _, name = test.partition("::")
            if not name:  # the whole file could not be read
                found += [one for one in self._files if one.rpartition("/")[2] == file.rpartition("/")[2]]
            all_of_name = self._by_name.get(name.rpartition("::")[2], [])
            same = [one for one in all_of_name if one.startswith(f"{file}::")]
            stem = file.rpartition("/")[2]
            found += same or [one for one in all_of_name if f"/{stem}::" in one] or all_of_name[:3]
        return list(dict.fromkeys(found))

    def beside(self, *modules: str) -> list[str]:
        """The files of tests that go with modules, by their names or their folder's."""
        found = []
        for module in modules:
            *folders, stem = module.removesuffix(".py").removeprefix("toolbelt/").split("/")
            place = "/".join(["tests", *folders, ""])
            parent = folders[-1] if folders else stem
            for file in self._files:
                named = re.match(rf"test_({re.escape(stem)}|{re.escape(parent)})(_|\.)", file.rpartition("/")[2])
                if named or (len(folders) > 1 - module.startswith("toolbelt/") and file.startswith(place)):
                    found.append(file)
        return sorted(set(found))


def _run_unchanged(tests: Sequence[str]) -> list[str]:
    """Those of some tests that fail without any change."""
    status, failed = run_tests(_tree, tests, 10_000, 20 * SECONDS)
    return list(tests) if status in {"timeout", "crashed"} else [_function(test) for test in failed]


def check(checkout: Path, mutants: Sequence[Mutant], renames: Mapping[str, str], processes: int) -> int:
    """Try the mutants that tests killed when the list was made; 1 unless all are found and killed."""
    locator, index = Locator(checkout, renames), TestIndex(checkout)
    found = locator.find_all(mutants)
    groups: dict[int, list[list[str]]] = {}
    for number, mutant in enumerate(mutants):
        if number not in found:
            click.echo(f"not found: {mutant}")
            continue
        files = index.beside(mutant.module, found[number][0].module)
        groups[number] = [index.find(mutant.killers), index.find(mutant.tests), files]
        if found[number][1] == "shape":
            click.echo(f"found by its shape alone: {mutant}\n    now: {found[number][0]}")
    counts = Counter({"not found": len(mutants) - len(found)})
    with _workers(checkout, processes) as pool:
        broken = _find_broken(pool, {test for tests, *_ in groups.values() for test in tests}, 2 * processes)
        trials = []
        for number, (place, _) in found.items():
            whole = [[test for test in tests if test not in broken] for tests in groups[number]]
            trials.append(Trial(number, place, mutants[number].which, whole))
        for number, status, _ in pool.imap_unordered(_try, trials):
            counts[status] += 1
            if status != "killed":
                click.echo(f"{status}: {mutants[number]}\n    now: {found[number][0]}")
    ways = Counter(how for _, how in found.values())
    click.echo(f"{len(mutants)} mutants: {_told(counts)}; found by: {_told(ways)}")
    return counts["killed"] != len(mutants)


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _find_broken(pool: Any, tests: set[str], parts: int) -> set[str]:
    """Those of some tests that fail without any change, which can kill nothing."""
    ordered = sorted(tests)
    given = [part for number in range(parts) if (part := ordered[number::parts])]
    failed = {test for some in pool.imap_unordered(_run_unchanged, given) for test in some}
    for test in sorted(failed):
        click.echo(f"fails without any change: {test}")
    return {test for test in tests if test in failed or test.partition("::")[0] in failed}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    making, checking = commands.add_parser("make"), commands.add_parser("check")
    for one in (making, checking):
        one.add_argument("checkout", type=Path)
        one.add_argument("--processes", type=int, default=2)
    for name in ("coverage", "times", "out"):
        making.add_argument(name, type=Path)
    checking.add_argument("--renames", type=Path)
    checking.add_argument("--list", type=Path, default=LIST)
    checking.add_argument("--only", default="", help="a part of the module's name")
    given = parser.parse_args()
    if given.command == "make":
        make(given.checkout.resolve(), given.coverage, given.times, given.out, given.processes)
        return 0
    renames = json.loads(given.renames.read_text(encoding="utf-8")) if given.renames else {}
    mutants = [one for one in read_list(given.list) if one.status == "killed" and given.only in one.module]
    return check(given.checkout.resolve(), mutants, renames, given.processes)


if __name__ == "__main__":
    sys.exit(main())
