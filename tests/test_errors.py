"""Errors carry data, and say what to do next."""

from __future__ import annotations

import inspect
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt import errors
from toolbelt.errors import (
    AmbiguousNameError,
    InvalidDefinitionError,
    InvalidFileError,
    NotFoundError,
    OutOfRangeError,
    StorageError,
    ToolbeltError,
    nearest,
    suggestion,
)
from toolbelt.findings import Finding, Severity, sorted_findings

LOADOUTS = ("minimal", "developer", "research", "devops", "full")


def test_the_tree_at_the_top_of_the_module_is_the_tree() -> None:
    classes = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]
    drawn = {
        line.split()[1 if line.lstrip()[0] in "├└" else 0]
        for line in (errors.__doc__ or "").splitlines()
        if "Error " in line
    }
    assert {value.__name__ for value in classes if value.__module__ == errors.__name__} == drawn
    assert all(issubclass(value, ToolbeltError) for value in classes)


@pytest.mark.parametrize(
    ("error", "also", "exit_code"),
    [
        (InvalidDefinitionError("x"), ValueError, 2),
        (OutOfRangeError("epochs", 0, "at least 1"), ValueError, 2),
        (NotFoundError("loadout", "x"), LookupError, 2),
        (AmbiguousNameError("x", ["a/x", "b/x"]), LookupError, 2),
        (InvalidFileError([Finding("syntax", Severity.ERROR, "Bad.")]), ToolbeltError, 2),
        (StorageError("full"), ToolbeltError, 3),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_E9_each_kind_has_its_exit_code(error: ToolbeltError, also: type[Exception], exit_code: int) -> None:
    assert isinstance(error, also)
    assert error.exit_code == exit_code


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(
            NotFoundError("loadout", "develper", LOADOUTS),
            "No loadout named 'develper'. Did you mean 'developer'?",
            id="the-nearest-name-is-offered",
        ),
        pytest.param(
            NotFoundError("loadout", "zzz", ("minimal", "full")),
            "No loadout named 'zzz'. Known: minimal, full.",
            id="a-short-list-is-shown-where-nothing-is-near",
        ),
        pytest.param(
            NotFoundError("tool", "zzz", [f"tool_{n}" for n in range(16)]),
            "No tool named 'zzz'.",
            id="a-long-list-is-not",
        ),
        pytest.param(
            NotFoundError("catalog", "zzz", hint="See `toolbelt catalog list`."),
            "No file or catalog named 'zzz'. See `toolbelt catalog list`.",
            id="a-hint-stands-at-the-end",
        ),
        pytest.param(
            AmbiguousNameError("search", ["web/search", "files/search"]),
            "2 tools are named 'search'; say which: web/search, files/search.",
            id="candidates-are-listed",
        ),
    ],
)
def test_messages(error: ToolbeltError, message: str) -> None:
    assert str(error) == message


def test_errors_carry_data() -> None:
    missing = NotFoundError("loadout", "x", iter(LOADOUTS))
    assert (missing.kind, missing.name, missing.known) == ("loadout", "x", LOADOUTS)
    ambiguous = AmbiguousNameError("x", iter(["a/x", "b/x"]))
    assert (ambiguous.name, ambiguous.candidates) == ("x", ("a/x", "b/x"))
    found = [Finding("a", Severity.ERROR, "One."), Finding("b", Severity.ERROR, "Two.", "f.yaml", 3)]
    assert InvalidFileError(found).findings == tuple(found)
    assert str(InvalidFileError(found)) == "error: One. [a]\nf.yaml:3: error: Two. [b]"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("develper", ("developer",), id="a-letter-missing"),
        pytest.param("DEVELOPER", ("developer", "devops"), id="case-is-ignored"),
        pytest.param("devel", ("developer",), id="a-beginning"),
        pytest.param("zzz", (), id="nothing-near"),
        pytest.param("", (), id="blank"),
    ],
)
def test_nearest(name: str, expected: tuple[str, ...]) -> None:
    assert nearest(name, LOADOUTS) == expected


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=8))
def test_nearest_gives_only_known_names_and_an_equal_one_first(name: str, known: list[str]) -> None:
    found = nearest(name, known)
    assert set(found) <= set(known)
    assert len(found) <= 3
    if name and name.casefold() in {other.casefold() for other in known}:
        assert found[0].casefold() == name.casefold()
    assert suggestion(name, known)[:1] in ("", " ")


@pytest.mark.parametrize(
    ("finding", "place", "text"),
    [
        (Finding("r", Severity.ERROR, "M."), "", "error: M. [r]"),
        (Finding("r", Severity.WARNING, "M.", "f"), "f", "f: warning: M. [r]"),
        (Finding("r", Severity.ERROR, "M.", "f", 7), "f:7", "f:7: error: M. [r]"),
    ],
)
def test_a_finding_says_where_it_is(finding: Finding, place: str, text: str) -> None:
    assert (finding.place, str(finding)) == (place, text)


def test_findings_are_sorted_by_file_and_line_with_errors_first() -> None:
    expected = [
        Finding("z", Severity.ERROR, ""),
        Finding("z", Severity.ERROR, "", "a.yaml", 2),
        Finding("a", Severity.WARNING, "", "a.yaml", 2),
        Finding("a", Severity.ERROR, "", "a.yaml", 10),
        Finding("a", Severity.ERROR, "", "b.yaml", 1),
    ]
    assert sorted_findings(reversed(expected)) == tuple(expected)


@pytest.mark.parametrize(
    "error",
    [
        NotFoundError("loadout", "develper", ["developer"], "Or make one."),
        AmbiguousNameError("search", ["a/search", "b/search"]),
        InvalidFileError([Finding("syntax", Severity.ERROR, "Not YAML.", "a.yaml", 3)]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_the_way_to_another_process(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_names_are_compared_only_when_a_message_is_read() -> None:
    compared = []

    class Known(str):
        __slots__ = ()

        def casefold(self) -> str:
            compared.append(str(self))
            return super().casefold()

    error = NotFoundError("tool", "serch", [Known("search")])
    assert compared == []
    assert str(error) == "No tool named 'serch'. Did you mean 'search'?"
    assert compared == ["search"]


def test_a_name_that_is_no_text_is_told_as_it_is() -> None:
    assert str(NotFoundError("agent", None, ["helper"])) == "No agent named None."  # type: ignore[arg-type]
