"""Importing the code that a file names, once it is approved (rule M2)."""

from __future__ import annotations

import importlib
import sys

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.servers.spec import PythonReference


def import_reference(reference: PythonReference) -> object:
    """The object that a reference names; whatever its module prints goes wherever descriptor 1 points.

    Args:
        reference: Approved.

    Raises:
        ToolbeltError: it is not `module:attribute`, or the module cannot be imported.
        NotFoundError: the module has no such attribute.
    """
    module_name, _, attribute = reference.reference.partition(":")
    if not module_name or not attribute:
        raise ToolbeltError(f"{reference.reference!r} is not of the form module:attribute.")
    if reference.folder not in sys.path:
        sys.path.insert(0, reference.folder)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ToolbeltError(f"Cannot import {module_name!r}: {type(error).__name__}: {error}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        names = [name for name in vars(module) if not name.startswith("_")]
        raise NotFoundError(f"attribute of {module_name}", attribute, names) from None
