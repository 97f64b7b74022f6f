from __future__ import annotations

import re

from tools.site.reference.markdown import code, page, prose, table

SUMMARY = "What a script or a CI job can tell from the exit code of `assay`."
MORE = """When several are true of a session, the first of 130, 1 and 3 counts: what was interrupted or failed says
nothing about speed.

`assay run` gives 3 on the night that something is believed to have regressed against the level of earlier sessions.
`assay compare` and `assay ab` give 3 when the verdict of a row is *regressed*. `inconclusive` and "nothing compared"
are 0 with a warning, and 4 with `--strict`: neither is a pass. [Gates](../compare.md#gates) has all of it.

A benchmark program's own exit code is not Assay's: 0 is needed to pass, anything else is the outcome `crashed` or
`failed`, and the number stands in the record as `returncode`."""


def exit_codes_page() -> str:
    from assay.cli.main import EXIT_CODES

    rows = re.findall(r"^ +(\d+) +(.*)$", EXIT_CODES, re.MULTILINE)
    assert rows, "assay --help lists no exit codes"
    return page(
        "Exit codes", SUMMARY, [table(["code", "when"], [[code(one), prose(when)] for one, when in rows]), MORE]
    )
