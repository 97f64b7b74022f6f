"""What campaigns found stays mended: `make torture` writes the files, and each is tried again here."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign.finding_files import FindingFile, kept_findings
from campaign.kinds import KINDS
from campaign.worker import tried


@pytest.mark.slow
@pytest.mark.parametrize("finding", kept_findings(), ids=lambda finding: finding.path.stem)
def test_a_finding_stays_mended(tmp_path: Path, finding: FindingFile) -> None:
    assert tried(KINDS[finding.kind], finding.case, tmp_path).found == []
