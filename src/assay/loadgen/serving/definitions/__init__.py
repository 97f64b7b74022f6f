"""The same run under the definitions of other tools."""
