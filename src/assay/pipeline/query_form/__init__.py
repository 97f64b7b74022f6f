"""Stages that take queries, as those of the colocation benchmark that Assay grew from do, and payloads beside them."""
