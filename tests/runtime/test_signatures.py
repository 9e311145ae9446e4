"""What is read off a function: name, description, which parameters are the model's, and which are nobody's."""

from __future__ import annotations

import functools
import inspect
import math
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.arguments import ArgumentsError
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool, as_executable
from toolbelt.runtime.signatures import Docstring, Signature, read_signature

if TYPE_CHECKING:
    from toolbelt.runtime.context import ToolContext as Hidden  # noqa: F401  what a strict linter makes of an import


def search(query: str, limit: int = 10) -> list[str]:
    """Search the notes.

    Args:
        query: What for.
        limit: How many.
    """
    return [query] * limit


class Notes:
    """Notes of a person."""

    def search(self, query: str) -> str:
        """Search them."""
        return query

    @classmethod
    def count(cls, kind: str) -> int:
        """Count them."""
        return len(kind)

    @staticmethod
    def is_note(text: str) -> bool:
        """Whether it is one."""
        return bool(text)

    def __call__(self, text: str) -> str:
        return text


class Writer:
    """Writes."""

    async def __call__(self, text: str) -> str:
        """Write it."""
        return text


@dataclass
class Point:
    x: int
    y: int = 0


@functools.wraps(search)
def logged(*args: Any, **kwargs: Any) -> Any:
    return search(*args, **kwargs)


def named(function: Callable[..., Any], **parts: str) -> Callable[..., Any]:
    vars(function).update(parts)
    return function


@pytest.mark.parametrize(
    ("function", "name", "description", "properties"),
    [
        pytest.param(search, "search", "Search the notes.", ["query", "limit"], id="function"),
        pytest.param(Notes().search, "search", "Search them.", ["query"], id="method-of-an-object"),
        pytest.param(Notes.count, "count", "Count them.", ["kind"], id="class-method"),
        pytest.param(Notes.is_note, "is_note", "Whether it is one.", ["text"], id="static-method"),
        pytest.param(Notes(), "Notes", "Notes of a person.", ["text"], id="object-that-can-be-called"),
        pytest.param(Writer(), "Writer", "Write it.", ["text"], id="its-call-says-more"),
        pytest.param(Point, "Point", "", ["x", "y"], id="class-without-the-docstring-of-dataclass"),
        pytest.param(logged, "search", "Search the notes.", ["query", "limit"], id="wrapped"),
        pytest.param(functools.lru_cache(search), "search", "Search the notes.", ["query", "limit"], id="cached"),
        pytest.param(functools.partial(search, "x"), "search", "Search the notes.", ["limit"], id="partial-by-place"),
        pytest.param(functools.partial(search, limit=3), "search", "Search the notes.", ["query"], id="partial-by-key"),
        pytest.param(
            functools.partial(functools.partial(Notes().search)),
            "search",
            "Search them.",
            ["query"],
            id="partial-of-a-partial-of-a-method",
        ),
        pytest.param(
            named(functools.partial(search), __name__="find", __doc__="Find."),
            "find",
            "Find.",
            ["query", "limit"],
            id="partial-with-a-name",
        ),
        pytest.param(lambda text: text, "", "", ["text"], id="lambda-has-no-name"),
    ],
)
def test_R1_any_callable_says_what_it_is(
    function: Callable[..., Any], name: str, description: str, properties: list[str]
) -> None:
    read = read_signature(function, derive=True)
    assert (read.name, read.description, list(read.parameters["properties"])) == (name, description, properties)
    assert read_signature(function, derive=False) == Signature(name, description, {}, None, None)


def test_R1_what_a_partial_has_bound_is_out_of_reach() -> None:
    def send(text: str, channel: str, **more: str) -> str:
        return f"{channel}: {text} {more}"

    read = read_signature(functools.partial(send, "hi", channel="#safe"), derive=True)
    assert read.parse is not None
    assert read.parse({"colour": "red"}) == {"colour": "red"}
    for name in ("text", "channel"):
        with pytest.raises(ArgumentsError, match=f"no argument '{name}'"):
            read.parse({name: "other"})


def in_plain(ctx: ToolContext, x: int) -> None: ...
def in_optional(ctx: ToolContext | None, x: int) -> None: ...
def in_old_optional(ctx: Optional[ToolContext], x: int) -> None: ...  # noqa: UP045
def in_annotated(ctx: Annotated[ToolContext | None, "who calls"], x: int) -> None: ...
def in_keyword_only(*, x: int, ctx: ToolContext = ToolContext()) -> None: ...  # noqa: B008
def for_type_checkers(ctx: ToolContext, x: int) -> None: ...


def by_its_name(ctx, x: int) -> None: ...  # type: ignore[no-untyped-def]
def by_its_name_with_a_default(x: int, *, ctx=None) -> None: ...  # type: ignore[no-untyped-def]


class Special(ToolContext): ...


def in_subclass(ctx: Special, x: int) -> None: ...


for_type_checkers = types.FunctionType(for_type_checkers.__code__, {"__builtins__": __builtins__}, "unimported")
for_type_checkers.__annotations__ = {"ctx": "ToolContext | None", "x": "int"}


@pytest.mark.parametrize(
    "function",
    [
        in_plain,
        in_optional,
        in_old_optional,
        in_annotated,
        in_keyword_only,
        in_subclass,
        for_type_checkers,
        by_its_name,
        by_its_name_with_a_default,
    ],
    ids=lambda function: function.__name__,
)
def test_R1_the_context_is_not_the_models_to_fill(function: Callable[..., Any]) -> None:
    assert read_signature(function, derive=False).context_parameter == "ctx"
    read = read_signature(function, derive=True)
    assert read.context_parameter == "ctx"
    assert read.parameters == {
        "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": False,
    }  # fmt: skip
    assert read.parse is not None
    with pytest.raises(ArgumentsError, match="no argument 'ctx'"):
        read.parse({"x": 1, "ctx": {"session_id": "another"}})


def test_R1_a_ctx_that_is_an_argument_stays_one() -> None:
    def annotated(ctx: str) -> None: ...
    def beside_another(ctx, around: ToolContext) -> None: ...  # type: ignore[no-untyped-def]
    def otherwise_called(context) -> None: ...  # type: ignore[no-untyped-def]
    def bare(ctx) -> str:  # type: ignore[no-untyped-def]
        return str(ctx)

    for function, name in ((annotated, "ctx"), (beside_another, "ctx"), (otherwise_called, "context")):
        assert list(read_signature(function, derive=True).parameters["properties"]) == [name]
    listed = {"type": "object", "properties": {"ctx": {"type": "string"}}}
    assert as_executable(ExecutableTool.of(bare, parameters=listed)).context_parameter is None


def test_R1_open_arguments_do_not_let_a_context_in() -> None:
    def open_one(ctx: ToolContext, **rest: str) -> None: ...

    read = read_signature(open_one, derive=True)
    assert read.parse is not None
    assert read.parse({"a": "b"}) == {"a": "b"}
    with pytest.raises(ArgumentsError, match="no argument 'ctx'"):
        read.parse({"ctx": "b"})


def test_R1_annotations_may_name_what_is_local() -> None:
    @dataclass
    class Local:
        x: int

    def place(at: Local) -> Local:
        return at

    read = read_signature(place, derive=True)
    assert read.parse is not None
    assert read.parse({"at": {"x": 1}}) == {"at": Local(1)}


def test_R1_annotations_may_name_what_was_local() -> None:
    def make() -> Callable[..., Any]:
        @dataclass
        class Local:
            x: int

        def place(at: Local) -> Any:
            return Local, at

        return place

    assert read_signature(make(), derive=True).parameters["$defs"].keys() == {"Local"}


def test_R1_a_result_that_nobody_can_name_does_no_harm() -> None:
    def make(x: int) -> Nowhere: ...  # type: ignore[name-defined]  # noqa: F821

    assert list(read_signature(make, derive=True).parameters["properties"]) == ["x"]


def positional_only(x: int, /) -> None: ...
def starred(*paths: str) -> None: ...
def unknown_name(x: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def two_contexts(a: ToolContext, b: ToolContext | None) -> None: ...
def half_a_context(a: ToolContext | str) -> None: ...
def no_schema(a: int, when: Callable[[], int]) -> None: ...
def no_schema_in_part(when: int | Callable[[], int]) -> None: ...
def no_schema_inside(when: list[ToolContext | Notes]) -> None: ...
def no_schema_in_the_rest(**when: Notes) -> None: ...


@pytest.mark.parametrize(
    ("function", "told"),
    [
        pytest.param(3, ["3 is no function"], id="no-function"),
        pytest.param(starred, ["starred takes *paths", "take a list instead"], id="starred"),
        pytest.param(positional_only, ["positional_only takes 'x' by position only", "drop the `/`"], id="by-position"),
        pytest.param(math.sqrt, ["sqrt takes 'x' by position only", "wrap it in a function"], id="by-position-in-C"),
        pytest.param(dict, ["The signature of dict cannot be read", "give the `parameters`"], id="no-signature"),
        pytest.param(Notes.search, ["search takes 'self'", "hand over `object.method`"], id="method-of-no-object"),
        pytest.param(unknown_name, ["'Nowhere' of parameter 'x' of unknown_name", "Import"], id="unknown-name"),
        pytest.param(two_contexts, ["two_contexts takes the ToolContext twice", "'a' and 'b'"], id="two-contexts"),
        pytest.param(half_a_context, ["'a' of half_a_context", "two parameters"], id="context-or-argument"),
        pytest.param(no_schema, ["'when' of no_schema is annotated", "Callable[[], int]"], id="no-schema"),
        pytest.param(no_schema_in_part, ["'when' of no_schema_in_part", "int"], id="no-schema-in-part"),
        pytest.param(no_schema_inside, ["'when' of no_schema_inside", "Notes", "`parameters`"], id="no-schema-inside"),
        pytest.param(no_schema_in_the_rest, ["'**when' of no_schema_in_the_rest", "Notes"], id="no-schema-in-the-rest"),
    ],
)
def test_R1_what_cannot_be_a_tool_is_refused_and_says_why(function: Any, told: list[str]) -> None:
    with pytest.raises(InvalidDefinitionError) as refused:
        read_signature(function, derive=True)
    message = str(refused.value)
    assert [part for part in told if part not in message] == []
    assert "\n" not in message
    assert "pydantic.dev" not in message


@pytest.mark.parametrize(
    "function", [starred, unknown_name, no_schema, dict, math.sqrt], ids=lambda each: each.__name__
)
def test_R1_a_given_schema_asks_less_of_the_signature(function: Callable[..., Any]) -> None:
    assert read_signature(function, derive=False).name == function.__name__


def test_R1_field_as_a_default_is_filled_in_as_the_function_cannot() -> None:
    def page(number: int = Field(default=1, ge=1, description="From 1."), size: int = Field()) -> None: ...

    read = read_signature(page, derive=True)
    assert read.parameters["required"] == ["size"]
    assert read.parameters["properties"]["number"] == {
        "type": "integer", "minimum": 1, "description": "From 1.", "default": 1,
    }  # fmt: skip
    assert read.parse is not None
    assert read.parse({"size": 3}) == {"number": 1, "size": 3}


@pytest.mark.cold
@pytest.mark.parametrize(
    "code",
    [
        "import toolbelt.runtime.registry as r; r.ToolRegistry()",
        "import toolbelt.runtime.registry as r; r.ToolRegistry([r.ExecutableTool.of(len, parameters={})])",
    ],
    ids=["an-empty-registry", "a-given-schema"],
)
def test_R1_pydantic_is_loaded_only_to_derive_a_schema(code: str) -> None:
    heavy = "{'pydantic', 'pydantic_core', 'docstring_parser', 'jsonschema', 'toolbelt.runtime.annotations'}"
    command = f"{code}\nimport sys\nprint(sorted(sys.modules.keys() & {heavy}))"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


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
