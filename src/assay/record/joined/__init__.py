"""A session that several jobs join, on disk: `.jobs/` in its folder, until one of them puts the parts together."""
