"""Modules of other frameworks that users' code imports, answered with ours where the real ones are not found."""
