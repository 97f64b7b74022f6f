from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)
