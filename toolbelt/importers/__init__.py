"""Catalogs from what people already have."""

from toolbelt.importers.formats import IMPORTERS, Importer, import_catalog, recognise

__all__ = ["IMPORTERS", "Importer", "import_catalog", "recognise"]
