from __future__ import annotations

import subprocess
import sys


def test_reading_results_needs_no_statistics() -> None:
    """scipy takes more than a second to import: only what asks for statistics may pay for it."""
    code = (
        "import sys, assay.history.rows, assay.report.text.session, assay.report.html, assay.report.run_folder;"
        "print(sorted({'numpy', 'scipy', 'ruptures', 'pandas', 'pyarrow', 'starlette'} & set(sys.modules)))"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == "[]"
