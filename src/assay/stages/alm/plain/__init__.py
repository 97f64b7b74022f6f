"""The rules in plain Python, for rows that the compiled pass leaves."""
