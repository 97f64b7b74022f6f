"""Programs for those who work on Assay: measurements of itself, and drawings made from its code."""
