"""What is said of a file that cannot be read or holds a value of a wrong kind: what it means and what to do."""

from __future__ import annotations

from collections.abc import Sequence

_KINDS = {
    "list_type": "must be a list, each item on a line that begins with `- `",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
}


def wrong_value(kind: str, said: str, needed: Sequence[str] = ()) -> str:
    """pydantic's word for a problem in plain words; `needed`: keys that a mapping must have there."""
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        keys = " and ".join(f"`{key}:`" for key in needed)
        return f"must be a mapping with {keys}" if keys else "must be a mapping, lines of `key: value`"
    if kind in _KINDS:
        return _KINDS[kind]
    return said.removeprefix("Value error, ").replace("Input should be", "must be")


def broken_yaml(
    problem: str, context: str, lines: Sequence[str], line: int, column: int, opened: tuple[int, int] | None
) -> str:
    """libyaml's word for a problem in plain words. `line` and `column`, from 0: where it was met; `opened`, from 1:
    where what was being read began."""
    here = lines[line] if line < len(lines) else ""
    indent = len(here) - len(here.lstrip())
    since = f" that opens at line {opened[0]}, column {opened[1]}," if opened else ""
    if "\t" in here[:indent] and column <= indent:
        return f"line {line + 1} starts with a tab; use spaces"
    if "quoted scalar" in context and problem == "found unexpected end of stream":
        return f"the quote{since} is never closed"
    if problem == "found unknown escape character":
        return "in double quotes a backslash begins an escape; use single quotes, or write two backslashes"
    if problem in ("did not find expected ',' or ']'", "did not find expected ',' or '}'"):
        return f"the {'[' if ']' in problem else '{'}{since} is never closed, or a comma is missing"
    if problem == "found character that cannot start any token" and here[column : column + 1].strip():
        return f"a value cannot begin with {here[column]}; put it in quotes"
    if problem.startswith("mapping values are not allowed"):
        return "a `:` is not expected here; put the text in quotes, or mend the indentation"
    above = {len(one) - len(one.lstrip()) for one in lines[:line] if one.strip()}
    if problem.startswith("did not find expected") and column == indent and indent not in above:
        return "the line is indented as no line above it is; mend the indentation"
    return f"not YAML: {problem}"
