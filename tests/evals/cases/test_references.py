from __future__ import annotations

import pytest

from tests.evals.cases.samples import CATALOG, NAMES
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.evals.cases.references import LiteralNames, Unresolved


@pytest.mark.parametrize(
    "reference", ["git/git_push", "git_push", "GIT_PUSH", "Git/Git_Push", "web/read", "read", "gone", "web_read", ""]
)
def test_a_reference_means_what_the_catalog_says(reference: str) -> None:
    assert [NAMES.resolve(reference) for _ in range(2)] == [_by_the_catalog(reference)] * 2  # looked up, and kept


def _by_the_catalog(reference: str) -> str | Unresolved:
    try:
        return CATALOG.get_tool(reference).id
    except AmbiguousNameError as error:
        return Unresolved("ambiguous-tool", str(error), error.candidates)
    except NotFoundError as error:
        return Unresolved("unknown-tool", str(error))


def test_a_label_within_what_is_offered_is_an_id_or_a_name() -> None:
    offered = ("web/read", "git/git_log", "file/read")
    assert NAMES.within(offered, "read") == ("web/read", "file/read")
    assert NAMES.within(offered, "file/read") == ("file/read",)
    assert NAMES.within(offered, "search") == ()


def test_as_written_every_reference_stands_for_itself() -> None:
    names = LiteralNames()
    assert (names.resolve("x"), names.within((), "x"), names.find_tool("x")) == ("x", ("x",), None)
