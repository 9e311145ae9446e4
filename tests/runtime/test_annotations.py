"""Annotations: the schema that a model is shown, and that its arguments are held to exactly that."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import os
import pathlib
import subprocess
import sys
import types
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, Required, TypedDict, Union

import jsonschema
import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from typing_extensions import Doc, Unpack

from tests.wording import mentions, naming
from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.annotations import derive
from toolbelt.runtime.arguments import ArgumentsError, Parameter, Parse
from toolbelt.runtime.signatures import read_signature


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    """A place."""

    x: int
    y: int = 0


class Old(TypedDict, total=False):
    """Of the standard library, which pydantic refuses before Python 3.12."""

    name: Required[str]
    inner: NotRequired[Inner]


class Inner(TypedDict):
    number: int


class New(typing_extensions.TypedDict):
    number: int


class Pair(NamedTuple):
    left: int
    right: str


class Tree(BaseModel):
    """A tree."""

    model_config = ConfigDict(title="Tree")
    value: int = Field(title="Value!")
    children: list[Tree] = []


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


UserId = NewType("UserId", int)


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even.")
    return value


def schema_of(annotation: Any) -> Any:
    schema, _ = derive("f", {"x": Parameter(annotation)})
    return schema["properties"]["x"]


def parser_of(**annotations: Any) -> Parse:
    return derive("f", {name: Parameter(annotation) for name, annotation in annotations.items()})[1]


def fault(parse: Parse, args: Mapping[str, Any]) -> str:
    with pytest.raises(ArgumentsError) as raised:
        parse(args)
    return str(raised.value)


DAY = datetime.date(2024, 1, 31)
ID = "12345678-1234-5678-1234-567812345678"


@pytest.mark.parametrize(
    ("annotation", "schema", "given", "made"),
    [
        pytest.param(str, {"type": "string"}, "a", "a", id="str"),
        pytest.param(int, {"type": "integer"}, 3, 3, id="int"),
        pytest.param(int, {"type": "integer"}, 3.0, 3, id="int-written-with-a-point"),
        pytest.param(float, {"type": "number"}, 3, 3.0, id="float-written-without"),
        pytest.param(bool, {"type": "boolean"}, True, True, id="bool"),
        pytest.param(None, {"type": "null"}, None, None, id="none"),
        pytest.param(Iterable[int], {"type": "array", "items": {"type": "integer"}}, [1.0], [1], id="iterable"),
        pytest.param(Any, {}, {"a": [1, None]}, {"a": [1, None]}, id="any"),
        pytest.param(list[int], {"type": "array", "items": {"type": "integer"}}, [1, 2.0], [1, 2], id="list"),
        pytest.param(
            dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}, {"a": 1}, {"a": 1.0},
            id="dict",
        ),
        pytest.param(
            dict[int, str], {"type": "object", "additionalProperties": {"type": "string"}}, {"1": "a"}, {1: "a"},
            id="dict-by-number",
        ),
        pytest.param(
            set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [2, 1], {1, 2}, id="set"
        ),
        pytest.param(
            tuple[int, str],
            {
                "type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2, "maxItems": 2,
            },
            [1, "a"], (1, "a"), id="tuple",
        ),
        pytest.param(Literal["a", 1], {"enum": ["a", 1]}, 1, 1, id="literal"),
        pytest.param(int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "1", "1", id="union"),
        pytest.param(Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}, 1, 1, id="old-union"),  # noqa: UP007
        pytest.param(Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None, id="optional"),  # noqa: UP045
        pytest.param(UserId, {"type": "integer"}, 5, 5, id="new-type"),
        pytest.param(datetime.date, {"type": "string", "format": "date"}, "2024-01-31", DAY, id="date"),
        pytest.param(
            datetime.timedelta, {"type": "string", "format": "duration"}, "PT5S", datetime.timedelta(seconds=5),
            id="duration",
        ),
        pytest.param(uuid.UUID, {"type": "string", "format": "uuid"}, ID, uuid.UUID(ID), id="uuid"),
        pytest.param(pathlib.Path, {"type": "string", "format": "path"}, "a/b", pathlib.Path("a/b"), id="path"),
        pytest.param(Annotated[int, Field(ge=2)], {"type": "integer", "minimum": 2}, 2, 2, id="constraint"),
    ],
)  # fmt: skip
def test_R1_what_a_type_is_to_the_model_and_to_the_function(
    annotation: Any, schema: Any, given: Any, made: Any
) -> None:
    assert schema_of(annotation) == schema
    parsed = parser_of(x=annotation)({"x": given})
    assert parsed == {"x": made}
    assert type(parsed["x"]) is type(made)


@pytest.mark.parametrize(
    ("annotation", "name", "definition", "given", "made"),
    [
        pytest.param(Colour, "Colour", {"type": "string", "enum": ["red", "blue"]}, "red", Colour.RED, id="enum"),
        pytest.param(Level, "Level", {"type": "integer", "enum": [1, 2]}, 2, Level.HIGH, id="int-enum"),
        pytest.param(
            Point, "Point",
            {
                "type": "object", "description": "A place.", "required": ["x"], "additionalProperties": False,
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            },
            {"x": 1}, Point(1), id="dataclass",
        ),
        pytest.param(
            New, "New",
            {
                "type": "object", "required": ["number"], "additionalProperties": False,
                "properties": {"number": {"type": "integer"}},
            },
            {"number": 1}, {"number": 1}, id="typed-dict",
        ),
        pytest.param(
            Old, "Old",
            {
                "type": "object", "required": ["name"], "additionalProperties": False,
                "description": "Of the standard library, which pydantic refuses before Python 3.12.",
                "properties": {"name": {"type": "string"}, "inner": {"$ref": "#/$defs/Inner"}},
            },
            {"name": "a", "inner": {"number": 1}}, {"name": "a", "inner": {"number": 1}}, id="old-typed-dict",
        ),
        pytest.param(
            Tree, "Tree",
            {
                "type": "object", "description": "A tree.", "required": ["value"],
                "properties": {
                    "value": {"type": "integer", "title": "Value!"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "default": []},
                },
            },
            {"value": 1, "children": [{"value": 2}]}, Tree(value=1, children=[Tree(value=2)]), id="model-of-itself",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("in_a_list", [False, True], ids=["plain", "in-a-list"])
def test_R1_kinds_with_names_are_defined_once(
    annotation: Any, name: str, definition: Any, given: Any, made: Any, in_a_list: bool
) -> None:
    listed = types.GenericAlias(list, (annotation,))
    schema, parse = derive("f", {"a": Parameter(listed if in_a_list else annotation), "b": Parameter(annotation)})
    assert schema["properties"]["b"] == {"$ref": f"#/$defs/{name}"}
    assert schema["$defs"][name] == definition
    assert list(schema) == ["type", "properties", "required", "additionalProperties", "$defs"]
    parsed = parse({"a": [given] if in_a_list else given, "b": given})
    assert parsed == {"a": [made] if in_a_list else made, "b": made}


def test_R1_named_tuples_and_decimals() -> None:
    parse = parser_of(pair=Pair, price=decimal.Decimal)
    assert parse({"pair": [1, "a"], "price": "1.10"}) == {"pair": Pair(1, "a"), "price": decimal.Decimal("1.10")}


NAMES = [
    "model_config",
    "model_x",
    "_private",
    "__dunder",
    "schema",
    "copy",
    "json",
    "self_",
    "fields",
    "validate",
    "x y",
]


@pytest.mark.parametrize("name", NAMES)
def test_R1_a_parameter_may_have_any_name(name: str) -> None:
    schema, parse = derive("f", {name: Parameter(int), "other": Parameter(str, "")})
    assert list(schema["properties"]) == [name, "other"]
    assert parse({name: 1}) == {name: 1}


def test_R1_an_alias_is_what_the_model_says_and_not_what_the_function_is_told() -> None:
    def send(from_: Annotated[str, Field(alias="from")], to: str = "me") -> None:
        """Send.

        Args:
            from_: Who sends it.
        """

    read = read_signature(send, derive=True)
    assert read.parameters["properties"]["from"] == {"type": "string", "description": "Who sends it."}
    assert read.parse is not None
    assert read.parse({"from": "you"}) == {"from_": "you"}
    assert mentions(fault(read.parse, {"from_": "you"}), "no argument 'from_'", "'from' is missing")


@pytest.mark.parametrize(
    ("parameter", "schema"),
    [
        pytest.param(Parameter(int, 3), {"type": "integer", "default": 3}, id="plain"),
        pytest.param(Parameter(Colour, Colour.RED), {"$ref": "#/$defs/Colour", "default": "red"}, id="enum"),
        pytest.param(Parameter(datetime.date, DAY), {**schema_of(datetime.date), "default": "2024-01-31"}, id="date"),
        pytest.param(
            Parameter(Point, Point(1)), {"$ref": "#/$defs/Point", "default": {"x": 1, "y": 0}}, id="dataclass"
        ),
        pytest.param(Parameter(float, float("inf")), {"type": "number"}, id="what-JSON-cannot-say"),
        pytest.param(Parameter(Any, object()), {}, id="what-nobody-can-say"),
        pytest.param(Parameter(str, None), {**schema_of(str | None), "default": None}, id="none-makes-none-a-value"),
        pytest.param(Parameter(Any, None), {"default": None}, id="none-of-anything"),
        pytest.param(
            Parameter(Annotated[int, Field(default=1)], 2), {"type": "integer", "default": 2}, id="the-nearest"
        ),
    ],
)
def test_R1_defaults_are_told_and_left_to_the_function(parameter: Parameter, schema: Any) -> None:
    whole, parse = derive("f", {"x": parameter})
    assert whole["properties"] == {"x": schema}
    assert "required" not in whole
    assert parse({}) == {}


def test_R1_none_as_a_default_keeps_the_constraints() -> None:
    _, parse = derive("f", {"x": Parameter(Annotated[int, Field(ge=1)], None)})
    assert parse({"x": None}) == {"x": None}
    assert mentions(fault(parse, {"x": 0}), "'x' is 0", 1)


@pytest.mark.parametrize(
    ("annotation", "described"),
    [
        pytest.param(Annotated[int, Field(description="Field.")], "Field.", id="field"),
        pytest.param(Annotated[int, Doc("Doc.")], "Doc.", id="doc"),
        pytest.param(Annotated[int, "Text."], "Text.", id="text"),
        pytest.param(Annotated[int, Doc("Doc."), Field(description="Field.")], "Field.", id="field-before-doc"),
        pytest.param(int, "Docstring.", id="docstring"),
        pytest.param(Annotated[int, Field(ge=1)], "Docstring.", id="docstring-where-nothing-else-is-said"),
    ],
)
def test_R1_a_parameter_is_described_by_what_stands_nearest(annotation: Any, described: str) -> None:
    schema, _ = derive("f", {"x": Parameter(annotation, description="Docstring.")})
    assert schema["properties"]["x"]["description"] == described


class More(TypedDict, total=False):
    a: Required[int]
    b: str


@pytest.mark.parametrize(
    ("annotation", "additional", "args"),
    [
        pytest.param(Any, True, {"x": 1, "any": ["thing"]}, id="anything"),
        pytest.param(int, {"type": "integer"}, {"x": 1, "y": 2}, id="of-a-type"),
        pytest.param(Unpack[More], False, {"x": 1, "a": 2}, id="unpacked"),
    ],
)
def test_R1_the_rest(annotation: Any, additional: Any, args: dict[str, Any]) -> None:
    schema, parse = derive("f", {"x": Parameter(int), "**rest": Parameter(annotation)})
    assert schema["additionalProperties"] == additional
    assert "**" not in schema["properties"]
    assert parse(args) == args


def test_R1_nothing_else_is_let_in() -> None:
    schema, parse = derive("f", {})
    assert schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert fault(parse, {"x": 1}) == "there is no argument 'x'."


@pytest.mark.parametrize(
    ("annotations", "args", "message"),
    [
        ({"n": int}, {"n": "3"}, "'n' is \"3\" but should be a valid integer."),
        ({"n": int}, {"n": 1.5}, "'n' is 1.5 but should be a valid integer."),
        ({"n": int}, {"n": True}, "'n' is true but should be a valid integer."),
        ({"n": float}, {"n": "1.5"}, "'n' is \"1.5\" but should be a valid number."),
        ({"n": bool}, {"n": 1}, "'n' is 1 but should be a valid boolean."),
        ({"n": str}, {"n": 1}, "'n' is 1 but should be a valid string."),
        ({"n": str}, {"n": None}, "'n' is null but should be a valid string."),
        ({"n": int | str}, {"n": []}, "'n' is [] but should be a valid integer or should be a valid string."),
        ({"n": list[int]}, {"n": [1, "a"]}, "'n[1]' is \"a\" but should be a valid integer."),
        ({"n": Colour}, {"n": "green"}, "'n' is \"green\" but should be 'red' or 'blue'."),
        ({"n": Point}, {"n": {"y": 1}}, "'n.x' is missing."),
        ({"n": list[Point]}, {"n": [{"x": 1}, {}]}, "'n[1].x' is missing."),
        ({"n": Annotated[str, Field(pattern="^a")]}, {"n": "b"}, "'n' is \"b\" but should match pattern '^a'."),
        ({"n": Closed}, {"n": {"name": "a", "b": 1}}, "'n.b' is 1 but is not known here."),
        ({"n": Annotated[int, AfterValidator(even)]}, {"n": 3}, "'n' is 3 but must be even."),
        ({"path": str}, {"pth": "a"}, "there is no argument 'pth' (did you mean 'path'?); 'path' is missing."),
        ({"a": str, "b": str}, {}, "'a' is missing; 'b' is missing."),
        ({"**rest": int}, {"a": "x"}, "'a' is \"x\" but should be a valid integer."),
        ({"n": str}, {"n": "\ud800"}, "they cannot be written as JSON: half a surrogate pair is no character."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_R3_a_fault_is_told_so_that_a_model_can_mend_it(
    annotations: dict[str, Any], args: dict[str, Any], message: str
) -> None:
    assert fault(parser_of(**annotations), args) == message


def test_R3_all_faults_are_told_at_once_and_not_too_many() -> None:
    names = [f"argument_{number}" for number in range(20)]
    message = fault(parser_of(**dict.fromkeys(names, int)), dict.fromkeys(names, "x" * 1_000))
    assert message.count("should be a valid integer") == 8
    assert message.endswith("; and 12 more.")
    assert len(message) < 1_200


def test_R1_objects_of_a_class_may_be_handed_over() -> None:
    parse = parser_of(tree=Tree, day=datetime.date)
    assert parse({"tree": Tree(value=1), "day": DAY}) == {"tree": Tree(value=1), "day": DAY}


PLAIN: list[Any] = [
    str, int, float, bool, None, list[int], dict[str, bool], int | None, list[str | float], Literal["a", "b"],
    tuple[int, str], Annotated[int, Field(ge=0, lt=10)], Annotated[str, Field(min_length=1, max_length=3)], Point,
]  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.sampled_from([0.5, 1.0, -2.0, 1e3])
    | st.sampled_from(["", "a", "b", "1", "abcd", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "a"]), inner, max_size=3),
    max_leaves=6,
)
PARSERS = [derive("f", {"x": Parameter(annotation), "y": Parameter(annotation, None)}) for annotation in PLAIN]


@given(st.sampled_from(range(len(PLAIN))), st.dictionaries(st.sampled_from(["x", "y", "z"]), VALUES, max_size=3))
def test_R3_what_is_let_through_is_exactly_what_the_schema_says(number: int, args: dict[str, Any]) -> None:
    schema, parse = PARSERS[number]
    if jsonschema.Draft202012Validator(schema).is_valid(args):
        assert parse(args).keys() == args.keys()
    else:
        assert fault(parse, args)


def test_R2_a_schema_is_the_same_in_every_process() -> None:
    code = """if True:
        import json
        from dataclasses import dataclass, field
        from toolbelt.runtime.annotations import derive
        from toolbelt.runtime.arguments import Parameter

        @dataclass
        class Tags:
            names: frozenset[str] = field(default=frozenset("qwerty"))

        tags = frozenset("qwertyuiop")
        plain, inside = Parameter(frozenset[str], tags), Parameter(dict[str, set[str]], {"a": set(tags)})
        print(json.dumps(derive("f", {"a": plain, "b": inside, "c": Parameter(Tags, Tags(tags))})[0]))
    """
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert json.loads(said.pop())["$defs"]["Tags"]["properties"]["names"]["default"] == sorted("qwerty")


def test_R1_two_parameters_of_one_alias_are_refused() -> None:
    one = Parameter(Annotated[int, Field(alias="x")])
    with pytest.raises(InvalidDefinitionError, match="parameters of f"):
        derive("f", {"a": one, "b": one})


class Ring(TypedDict):
    rings: list[Ring]


@pytest.mark.parametrize(
    "annotation",
    [
        pytest.param(type[int], id="a-class-is-nothing-a-model-can-write"),
        pytest.param(int | type[int], id="nor-one-of-two"),
        pytest.param(
            Ring,
            id="a-ring-of-the-old-kind",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="no old kind there"),
        ),
    ],
)
def test_R1_what_no_json_can_be_is_refused(annotation: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("'x' of f", "JSON Schema")) as refused:
        derive("f", {"x": Parameter(annotation)})
    assert "recursion" not in str(refused.value)


class Switch(enum.Enum):
    ON = True
    OFF = 0


@pytest.mark.parametrize(
    ("annotation", "taken", "refused", "said"),
    [
        pytest.param(Literal[1, 2], 1, True, "'p' is true but should be 1 or 2", id="true-is-no-1"),
        pytest.param(Literal[0], 0.0, False, "'p' is false but should be 0", id="false-is-no-0"),
        pytest.param(Literal[True], True, 1, "'p' is 1 but should be true", id="1-is-not-true"),
        pytest.param(Level, 1, True, "'p' is true but should be 1 or 2", id="nor-in-an-enum"),
        pytest.param(
            list[Switch], [True, 0], [True, False], "'p[1]' is false but should be true or 0", id="nor-inside"
        ),
        pytest.param(Literal[1] | None, None, True, "'p' is true but should be 1", id="nor-in-a-union"),
        pytest.param(Literal[1] | bool, True, None, "'p' is null but", id="but-where-the-schema-says-so"),
    ],
)
def test_R3_what_is_equal_in_python_alone_is_refused(annotation: Any, taken: Any, refused: Any, said: str) -> None:
    _, parse = derive("f", {"p": Parameter(annotation)})
    parse({"p": taken})
    with pytest.raises(ArgumentsError) as error:
        parse({"p": refused})
    assert str(error.value).startswith(said)
