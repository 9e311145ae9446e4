"""Docstrings: what is said of the function, and of each parameter, in every style."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.runtime.docstrings import Docstring

GOOGLE = """Read a file.

    All of it: unless there is a limit.

    Args:
        path (str): Where it is, from the
            root of the project.
        limit: How many lines:
            - none
            - some

    Returns:
        str: The text.
    """
NUMPY = """Read a file.

    All of it: unless there is a limit.

    Parameters
    ----------
    path : str
        Where it is, from the
        root of the project.
    limit : int, optional
        How many lines:
        - none
        - some

    Returns
    -------
    str
        The text.
    """
SPHINX = """Read a file.

    All of it: unless there is a limit.

    :param str path: Where it is, from the
        root of the project.
    :param limit: How many lines:
        - none
        - some
    :returns: The text.
    :rtype: str
    """
EPYDOC = SPHINX.replace(":param str path", ":param path").replace("    :", "    @")


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX, EPYDOC], ids=["google", "numpy", "sphinx", "epydoc"])
def test_R1_every_style_says_the_same(text: str) -> None:
    read = Docstring(text)
    assert read.description == "Read a file.\n\nAll of it: unless there is a limit."
    assert read.parameters == {
        "path": "Where it is, from the root of the project.",
        "limit": "How many lines:\n- none\n- some",
    }


@pytest.mark.parametrize(
    ("text", "description"),
    [
        pytest.param(None, "", id="none"),
        pytest.param("  \n ", "", id="blank"),
        pytest.param("One line.", "One line.", id="one-line"),
        pytest.param("Say it.\n\n    Note: that is all.\n    ", "Say it.\n\nNote: that is all.", id="a-note-is-prose"),
        pytest.param("Look.\n\n    :smile: is an emoji.\n", "Look.\n\n:smile: is an emoji.", id="no-tag-after-all"),
        pytest.param("Args: none.", "Args: none.", id="a-heading-stands-alone"),
        pytest.param("Do.\n\n    Returns:\n        It.\n", "Do.", id="results-are-left-out"),
        pytest.param(
            "Do.\n\n    Raises:\n        E: bad.\n\n    Args:\n        x: X.\n", "Do.", id="the-first-section"
        ),
        pytest.param("Do.\n\n    Example:\n        >>> do()\n", "Do.\n\nExample:\n    >>> do()", id="examples-stay"),
        pytest.param(
            "Do.\n\n    Parameters\n    of all kinds.\n", "Do.\n\nParameters\nof all kinds.", id="no-line-below"
        ),
    ],
)
def test_R1_the_description_ends_where_arguments_begin(text: str | None, description: str) -> None:
    assert Docstring(text).description == description


@pytest.mark.parametrize(
    ("section", "parameters"),
    [
        pytest.param(
            "Args:\n    a: A.\n    **rest: The rest.", {"a": "A.", "rest": "The rest."}, id="stars-are-no-name"
        ),
        pytest.param("Args:\n    a : int\n        A.", {"a": "int A."}, id="blank-before-the-colon"),
        pytest.param("Args:\n    a: One.\n\n        Two.", {"a": "One. Two."}, id="paragraphs"),
        pytest.param("Parameters\n----------\na, b : int\n    Both.", {"a": "Both.", "b": "Both."}, id="two-at-once"),
        pytest.param("Args:\n    a:\n    b: B.", {"b": "B."}, id="nothing-said"),
        pytest.param("Args:\n    just prose", {}, id="cannot-be-read"),
        pytest.param(":param: a\n:param x: X.", {}, id="a-tag-without-name"),
        pytest.param(":param x: X.\n:  :y", {}, id="a-tag-that-is-blank"),
        pytest.param("Returns:\n    a: is no parameter", {}, id="results"),
    ],
)
def test_R1_what_is_said_of_parameters(section: str, parameters: dict[str, str]) -> None:
    read = Docstring(f"Do it.\n\n{section}\n")
    assert (read.description, read.parameters) == ("Do it.", parameters)


SNIPPETS = st.sampled_from(
    [
        "Args:",
        "Parameters",
        "----------",
        "Returns:",
        ":param",
        "x:",
        "@param x:",
        "    ",
        "\n",
        ":",
        "y (int): no",
        "é",
    ]
)


@given(st.lists(SNIPPETS | st.text(max_size=5), max_size=12).map("".join))
def test_R1_whatever_a_docstring_says_it_can_be_read(text: str) -> None:
    read = Docstring(text)
    assert all(name and said for name, said in read.parameters.items())
    assert inspect.cleandoc(text).strip().startswith(read.description)
