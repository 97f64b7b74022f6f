"""Results of other tools, made into session folders, so that the history can still be rebuilt from folders alone."""

from assay.history.importers.import_file import import_file

__all__ = ["import_file"]
