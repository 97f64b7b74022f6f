"""Results of suites as readings, tables and folders."""
