"""docs/ and the generated pages in one folder, and MkDocs run over it.

The generator writes plain Markdown before MkDocs starts, without a plug-in: whatever builds sites from Markdown can
take its place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tools.site.drawings import with_drawings
from tools.site.llms_text import llms_text
from tools.site.reference.commands_page import commands_page
from tools.site.reference.exit_codes_page import exit_codes_page
from tools.site.reference.messages_page import messages_page
from tools.site.reference.metrics_page import metrics_page
from tools.site.reference.python_page import python_page
from tools.site.reference.reference_page import reference_page
from tools.site.reference.variables_page import variables_page
from tools.site.reference.yaml_page import colocation_page, profile_page, yaml_page

ROOT = Path(__file__).parents[2]
LIBRARIES = ROOT / ".peers" / "docs"
"""Where `make setup` puts MkDocs: apart, since nothing of Assay needs it."""
PAGES = {
    "index": reference_page,
    "yaml": yaml_page,
    "colocation-yaml": colocation_page,
    "weight-profiles": profile_page,
    "commands": commands_page,
    "python": python_page,
    "metrics": metrics_page,
    "exit-codes": exit_codes_page,
    "environment": variables_page,
    "messages": messages_page,
}


def build(output: Path) -> Path | None:
    """The folder of the site; None if MkDocs warned of something, which it has said."""
    source, site = output / "site-source", output / "site"
    configuration = stage(source, output / "mkdocs.yml", site)
    environment = {**os.environ, "PYTHONPATH": str(LIBRARIES), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean", "-f", str(configuration)]
    done = subprocess.run(command, env=environment, check=False)
    return site if done.returncode == 0 else None


def stage(source: Path, configuration: Path, site: Path) -> Path:
    """Everything that MkDocs reads."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source)
    for page in source.rglob("*.md"):
        page.write_text(with_drawings(page.read_text(encoding="utf-8")), encoding="utf-8")
    (source / "reference").mkdir()
    for name, made in PAGES.items():
        (source / "reference" / f"{name}.md").write_text(made(), encoding="utf-8")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings |= {"docs_dir": str(source), "site_dir": str(site)}
    settings["nav"] += more(settings["nav"], source)
    (source / "llms.txt").write_text(llms_text(settings["nav"], source), encoding="utf-8")
    configuration.write_text(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return configuration


def listed(nav: Any) -> list[str]:
    """Pages of the navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    items = nav.values() if isinstance(nav, dict) else nav
    return [page for item in items for page in listed(item)]


def more(nav: Any, source: Path) -> list[Any]:
    """A page that nobody has given a place stands under a heading of its own: it is never lost."""
    pages = sorted(path.relative_to(source).as_posix() for path in source.rglob("*.md"))
    left = [page for page in pages if page not in listed(nav)]
    return [{"More": left}] if left else []
