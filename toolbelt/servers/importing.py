"""Importing the code that somebody names: `module:attribute`, `file.py` or `file.py:attribute`."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from toolbelt.errors import NotFoundError, ToolbeltError, nearest, suggestion
from toolbelt.patterns import PYTHON_FORM
from toolbelt.servers.spec import PythonReference

WANTED = "module:attribute, file.py or file.py:attribute"


def import_reference(reference: PythonReference) -> object:
    """The object that a reference names, or the module of a file; what it prints while it is imported goes to
    standard error.

    Args:
        reference: Approved, or named by the user for this command.

    Raises:
        ToolbeltError: it is of another form, or the module cannot be imported.
        NotFoundError: there is no such file, or the module has no such attribute.
    """
    match = PYTHON_FORM.fullmatch(reference.reference)
    if match is None:
        raise ToolbeltError(f"{reference.reference!r} is not of the form {WANTED}.")
    with contextlib.redirect_stdout(sys.stderr):
        if (file := match["file"]) is not None:
            named, attribute = file, match["of_file"]
            value: object = _import_path(os.path.join(reference.folder, file), file)  # noqa: PTH118
        else:
            named, attribute = match["module"], match["attribute"]
            value = _import_module(named, os.path.join(reference.folder, match["folder"]))  # noqa: PTH118
    for part in attribute.split(".") if attribute else ():
        names = [name for name in getattr(value, "__dict__", ()) if not name.startswith("_")]
        if not hasattr(value, part):
            raise NotFoundError(f"attribute of {named}", part, names)
        value = getattr(value, part)
    return value


def _import_path(path: str, named: str) -> ModuleType:
    try:
        return _import_file(os.path.realpath(path), os.stat(path).st_mtime_ns)  # noqa: PTH116
    except OSError:
        beside = [os.path.join(os.path.dirname(named), each.name) for each in Path(path).parent.glob("*.py")]  # noqa: PTH118, PTH120
        raise NotFoundError("file", named, nearest(named, beside)) from None


@lru_cache(maxsize=64)
def _import_file(path: str, changed: int) -> ModuleType:  # noqa: ARG001  a file that changed is imported again
    """The module of a file: by its dotted name where it is in a package, so that its relative imports work."""
    file = Path(path)
    packages: list[str] = []
    root = file.parent
    while (root / "__init__.py").is_file():
        packages.insert(0, root.name)
        root = root.parent
    if packages:
        return _import_module(".".join([*packages, file.stem]), str(root))
    _look_in(str(root))
    known = sys.modules.get(file.stem)
    own = known is None or getattr(known, "__file__", None) == path
    name = file.stem if own else f"{file.stem}_of_toolbelt"  # `email.py` is not to replace that of Python
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # noqa: S101  a file that ends in .py has a loader
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _refused(file.name, error) from error
    return module


def _import_module(name: str, folder: str) -> ModuleType:
    _look_in(folder)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise _refused(name, error) from error


def _look_in(folder: str) -> None:
    folder = os.path.abspath(folder)  # noqa: PTH100
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _refused(name: str, error: BaseException) -> ToolbeltError:
    hint = ""
    if isinstance(error, SystemExit):
        hint = " It ends the program when it is imported: put what it does under `if __name__ == '__main__':`."
    if isinstance(error, ModuleNotFoundError) and error.name and name.startswith(error.name):
        hint = suggestion(name, [path.stem for path in Path().glob("*.py")])
    elif isinstance(error, ModuleNotFoundError) and error.name:
        hint = f" toolbelt runs on {sys.executable}: install {error.name.partition('.')[0]} there."
    return ToolbeltError(f"Cannot import {name!r}: {type(error).__name__}: {error}{hint}")
