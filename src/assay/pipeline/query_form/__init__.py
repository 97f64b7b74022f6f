"""Stages that take queries, as those of the colocation benchmark do (docs/migrate/colocation.md), beside payloads."""
