"""Composition: a plan run with its listeners, results as tables. What `import assay` offers stands on it."""
