"""Importing the code that somebody names (rule M2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.patterns import is_python_reference
from toolbelt.servers.importing import import_reference
from toolbelt.servers.spec import PythonReference


def load(reference: str, folder: Path) -> Any:
    return import_reference(PythonReference(reference, str(folder)))


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("tools.py", True),
        ("a b/tools.py:TOOLS", True),
        ("package.tools:TOOLS", True),
        ("folder/tools:Class.method", True),
        ("tools.json", False),
        ("assistant", False),
        ("https://example.com/tools", False),
        ("tools:1", False),
    ],
)
def test_what_has_the_form_of_code(text: str, is_code: bool) -> None:
    assert is_python_reference(text) is is_code


def test_a_file_of_that_very_name_is_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd:name").write_text("{}")
    assert not is_python_reference("odd:name")


def test_a_file_is_imported_again_when_it_changed_and_only_then(tmp_path: Path) -> None:
    file = tmp_path / "one_import.py"
    file.write_text("value = object()")
    first = load("one_import.py:value", tmp_path)
    assert load("one_import.py:value", tmp_path) is first
    file.write_text("value = 'another one'")
    assert load("one_import.py:value", tmp_path) == "another one"


def test_a_file_never_replaces_a_module_of_python(tmp_path: Path) -> None:
    import email

    (tmp_path / "email.py").write_text("value = 1")
    assert load("email.py:value", tmp_path) == 1
    assert not hasattr(email, "value")


def test_a_file_in_a_package_may_import_its_siblings(tmp_path: Path) -> None:
    package = tmp_path / "a_shop_of_tests"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "prices.py").write_text("price = 5")
    (package / "tools.py").write_text("from .prices import price\nclass Till:\n    price = price")
    assert load("a_shop_of_tests/tools.py:Till.price", tmp_path) == 5
    assert load("a_shop_of_tests.tools:Till.price", tmp_path) == 5


def test_what_a_module_prints_goes_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noisy_tools.py").write_text("print('hello')")
    load("noisy_tools.py", tmp_path)
    assert capsys.readouterr() == ("", "hello\n")


@pytest.mark.parametrize(
    ("source", "reference", "message"),
    [
        ("value = 1", "broken_tools.py:valeu", "Did you mean 'value'"),
        ("import no_such_package_of_tests", "broken_tools.py", "install no_such_package_of_tests there"),
        ("import sys; sys.exit(1)", "broken_tools.py", "under `if __name__ == '__main__':`"),
        ("1 / 0", "broken_tools.py", "ZeroDivisionError"),
        ("", "broken_tool.py", "broken_tools.py"),
        ("", "no_such_package_of_tests:value", "Cannot import 'no_such_package_of_tests'"),
        ("", "tools", "module:attribute, file.py or file.py:attribute"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, reference: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_tools.py").write_text(source)
    with pytest.raises(ToolbeltError, match=message) as raised:
        load(reference, tmp_path)
    assert isinstance(raised.value, NotFoundError) == ("Did you" in str(raised.value))
