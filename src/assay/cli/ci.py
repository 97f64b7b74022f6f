"""The verdict of a CI job, where people look: an annotation, the step's summary, a comment on the pull request."""

from __future__ import annotations

import json
import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import AssayError, DataError, UsageError
from assay.files.checked_fields import Written
from assay.files.json_text import parse_json
from assay.sinks.http_target import HttpTarget
from assay.sinks.sink import SinkFailure

if TYPE_CHECKING:
    from assay.record import SessionFolder

LONGEST = 60_000
"""Characters of a comment. GitHub takes 65,536."""

Level = Literal["error", "warning", "notice"]
_COLOURS: dict[Level, str] = {"error": "🔴", "warning": "⚪", "notice": "🟢"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "verdict", metavar="VERDICT",
        help="JSON of `assay ab` or `assay compare` (--output verdict.json), or a session: latest, a name, a folder",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the Markdown there too")
    results_dir_argument(parser)
    parser.epilog = (
        "On GitHub: annotates the job, writes the step's summary and posts a comment with $GITHUB_TOKEN. On GitLab: "
        "posts a note with $ASSAY_GITLAB_TOKEN, a project access token with the scope `api`. A later run updates the "
        "comment. Exit code 0, whatever the verdict is; 1 if a `workflow_run` job can't post."
    )


@dataclass(frozen=True)
class Shown:
    """A verdict as it is shown."""

    level: Level
    headline: str
    markdown: str


@dataclass(frozen=True)
class CiJob:
    """The CI job that this process runs in."""

    environment: Mapping[str, str]

    @property
    def github(self) -> bool:
        return self.environment.get("GITHUB_ACTIONS") == "true"

    @property
    def gitlab(self) -> bool:
        return self.environment.get("GITLAB_CI") == "true"

    @property
    def posts_only(self) -> bool:
        """The second workflow for forks: its verdict was made by another job, and shown there."""
        return self.github and self.environment.get("GITHUB_EVENT_NAME") == "workflow_run"

    @property
    def key(self) -> str:
        """What the comment is found by: the workflow, so that two of them keep a comment each."""
        if self.posts_only:
            return self.event().object("workflow_run").text("name", "")
        return self.environment.get("GITHUB_WORKFLOW") or self.environment.get("CI_JOB_NAME", "")

    @property
    def link(self) -> str:
        get = self.environment.get
        if self.posts_only:
            return self.event().object("workflow_run").text("html_url", "")
        if self.github:
            return f"{get('GITHUB_SERVER_URL')}/{get('GITHUB_REPOSITORY')}/actions/runs/{get('GITHUB_RUN_ID')}"
        return get("CI_JOB_URL", "")

    def event(self) -> Written:
        from assay.files.json_text import read_json
        from assay.files.reading import MB, ReadLimit

        path = self.environment.get("GITHUB_EVENT_PATH", "")
        if not path:
            raise UsageError("GITHUB_EVENT_PATH isn't set: this is no step of a GitHub workflow")
        return Written(read_json(Path(path), ReadLimit(25 * MB), own=True))

    def review(self) -> Review | None:
        """Where to comment; None if the job isn't about a pull or merge request."""
        if self.gitlab:
            return gitlab_review(self.environment) if "CI_MERGE_REQUEST_IID" in self.environment else None
        if not self.github:
            return None
        target, repository = github_target(self.environment), self.environment.get("GITHUB_REPOSITORY", "")
        number = github_pull_request(target, repository, self.event())
        return None if number is None else github_review(target, repository, number)


def run(args: Namespace) -> int:
    from assay.report.quantity import printable

    job = CiJob(os.environ)
    try:
        shown = _read(args)
    except AssayError as error:
        shown = _no_verdict(error)  # else a comment on an earlier commit would be taken for this one's
    if args.output:
        from assay.files.writing import write_atomic

        args.output.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(args.output, shown.markdown)
    if job.github and not job.posts_only:
        _annotate(shown.level, shown.headline)
        _summarise(job, shown)
    else:
        print(printable(f"{shown.level}: {shown.headline}"))
    return _post(job, shown)


def _read(args: Namespace) -> Shown:
    path = Path(args.verdict)
    if path.suffix == ".json":
        return _comparison(path)
    from assay.history import find_session

    return _session(find_session(args.verdict, results_dir(args)))


def _comparison(path: Path) -> Shown:
    """A file that may be from a fork's job: it's read within limits, checked and escaped."""
    from assay.analysis import Comparison
    from assay.files.json_text import read_json, untag
    from assay.files.reading import MB, ReadLimit
    from assay.report.text.comparison import comparison_markdown

    try:
        written = read_json(path, ReadLimit(4 * MB), untag)
    except FileNotFoundError:
        raise DataError(f"{path} isn't there: the comparison ended without a result. See the job's log") from None
    try:
        comparison = Comparison.from_json(written)
    except DataError as error:
        raise DataError(f"{path} is no verdict of Assay: {error}") from None
    level: Level = "warning" if comparison.regression_detected is None else "notice"
    if written.get("exit_code") or comparison.exit_code():
        level = "error"
    return Shown(level, f"{comparison.answer}: {comparison.reason}", _cut(comparison_markdown(comparison)))


def _session(folder: SessionFolder) -> Shown:
    from assay.analysis import what_changed
    from assay.history import History
    from assay.history.history import FILE_NAME
    from assay.report.markdown import session_markdown
    from assay.report.run_folder import PageLimits
    from assay.report.session_page import SessionPage

    comparison = None
    beside = folder.path.absolute().parent
    if (beside / FILE_NAME).is_file():
        with History.beside(beside, read_only=True) as history:
            comparison = what_changed(folder.records(), history)
    band = SessionPage.of(folder, comparison, PageLimits(points=2, log_lines=0, metrics=0)).first.band
    level: Level = "error" if band.tone == "bad" else "notice"
    if band.tone == "warn" or comparison is None or not comparison.compared:
        level = "warning" if level == "notice" else level
    return Shown(level, f"{folder.info().name}: {band.says}", _cut(session_markdown(folder, comparison=comparison)))


def _no_verdict(error: AssayError) -> Shown:
    from assay.report.markdown import escape

    return Shown("error", f"no verdict: {error}", f"### No verdict\n\n> {escape(str(error))}\n")


def _cut(markdown: str) -> str:
    if len(markdown) <= LONGEST:
        return markdown
    kept = markdown[:LONGEST].rpartition("\n")[0]
    closing = "\n\n</details>" if kept.count("<details") > kept.count("</details>") else ""
    return f"{kept}{closing}\n\nThere is more than a comment can hold; the job's artifacts have all of it.\n"


def _annotate(level: Level, headline: str) -> None:
    """A workflow command. What it says must stay on its line: the runner obeys every line that begins with `::`."""
    from assay.report.quantity import printable

    said = printable(headline).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{level} title=Assay::{said}")


def _summarise(job: CiJob, shown: Shown) -> None:
    from assay.files.writing import open_append

    path = job.environment.get("GITHUB_STEP_SUMMARY")
    if path:
        with open_append(path) as summary:
            summary.write(f"{shown.markdown}\n")


def _post(job: CiJob, shown: Shown) -> int:
    from assay.report.quantity import printable

    try:
        review = job.review()
        if review is None:
            print("no pull request to comment on")
            return 0
        there = review.put(job.key, _body(job, shown))
    except (SinkFailure, DataError) as error:
        status = error.status if isinstance(error, SinkFailure) else None
        print(printable(f"no comment was posted: {error}. {_advice(job, status)}"))
        return 1 if job.posts_only else 0
    print(f"the comment on the pull request was {'updated' if there else 'posted'}")
    return 0


def _body(job: CiJob, shown: Shown) -> str:
    told = [f"{_COLOURS[shown.level]} **Assay**" + (f" · [the job and its log]({job.link})" if job.link else "")]
    if job.posts_only:
        told.append("Measured by the pull request's own job, in a fork.")
    return "\n\n".join([*told, shown.markdown])


def _advice(job: CiJob, status: int | None) -> str:
    if status not in (401, 403, 404):
        return "The verdict stands all the same"
    if job.gitlab:
        return "Set the CI variable ASSAY_GITLAB_TOKEN to a project access token with the scope `api`"
    if job.posts_only:
        return "The job needs `permissions: {pull-requests: write}`"
    return (
        "A fork's token is read-only; the workflow of assay-comment.yml posts for it, once it is on the default branch"
    )


# One comment on a pull request (GitHub) or merge request (GitLab) that is updated, never repeated.

_PAGE = 100
_MOST_PAGES = 30
_JSON = {"Content_Type": "application/json"}


@dataclass(frozen=True)
class Review:
    """The comments of one pull or merge request."""

    target: HttpTarget
    comments: str
    """The path of the list of comments."""
    edited: str
    """The path below which each comment is edited by its number."""
    edit: str = "PATCH"
    author: tuple[str, str] = ("user", "login")
    """Where a comment has its author's name; the second is where an account has its own."""
    nobody: str = ""
    """Who the author is if the token belongs to no account that may be asked for."""

    def put(self, key: str, body: str) -> bool:
        """Update the comment of this key, or create it. Return whether it was there."""
        marker = f"<!-- assay: {re.sub(r'[^A-Za-z0-9 _.]', '_', key)} -->"
        data = json.dumps({"body": f"{marker}\n{body}"}).encode()
        number = self._find(marker)
        if number is None:
            self.target.send("POST", self.comments, data, **_JSON)
        else:
            self.target.send(self.edit, f"{self.edited}/{number}", data, **_JSON)
        return number is not None

    def _find(self, marker: str) -> int | None:
        """Our own only: anyone may write a comment that begins with our marker, and could edit what we put there."""
        me = self._me()
        for comment in pages(self.target, self.comments):
            author = comment.object(self.author[0]).text(self.author[1], "")
            if author == me and comment.text("body", "").startswith(marker):
                return comment.whole("id")
        return None

    def _me(self) -> str:
        try:
            return Written(_answer(self.target, "/user")).text(self.author[1])
        except (SinkFailure, DataError):
            if not self.nobody:
                raise
            return self.nobody


def github_target(environment: Mapping[str, str]) -> HttpTarget:
    url = environment.get("GITHUB_API_URL", "https://api.github.com")
    token = environment.get("GITHUB_TOKEN", "")
    return HttpTarget(url, {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"})


def github_review(target: HttpTarget, repository: str, number: int) -> Review:
    issues = f"/repos/{repository}/issues"
    return Review(target, f"{issues}/{number}/comments", f"{issues}/comments", nobody="github-actions[bot]")


def github_pull_request(target: HttpTarget, repository: str, event: Written) -> int | None:
    """The pull request that an event is about. A `workflow_run` of a fork doesn't name it, and what the fork's job left
    can't be believed, so GitHub is asked which open pull request has the commit that was measured."""
    if "pull_request" in event:
        return event.object("pull_request").whole("number")
    if "workflow_run" not in event:
        return None
    run = event.object("workflow_run")
    owner = run.object("head_repository").object("owner").text("login")
    query = urlencode({"state": "open", "head": f"{owner}:{run.text('head_branch')}"})
    for pull in pages(target, f"/repos/{repository}/pulls?{query}"):
        if pull.object("head").text("sha") == run.text("head_sha"):
            return pull.whole("number")
    return None


def gitlab_review(environment: Mapping[str, str]) -> Review:
    target = HttpTarget(environment["CI_API_V4_URL"], {"PRIVATE-TOKEN": environment.get("ASSAY_GITLAB_TOKEN", "")})
    project = environment.get("CI_MERGE_REQUEST_PROJECT_ID") or environment["CI_PROJECT_ID"]
    notes = f"/projects/{project}/merge_requests/{environment['CI_MERGE_REQUEST_IID']}/notes"
    return Review(target, notes, notes, edit="PUT", author=("author", "username"))


def pages(target: HttpTarget, path: str) -> Iterator[Written]:
    """Each object of a list that is answered in pages."""
    joint = "&" if "?" in path else "?"
    for page in range(1, _MOST_PAGES + 1):
        answer = _answer(target, f"{path}{joint}per_page={_PAGE}&page={page}")
        if not isinstance(answer, list):
            raise DataError(f"{path.partition('?')[0]}: the answer is no list")
        yield from map(Written, answer)
        if len(answer) < _PAGE:
            return


def _answer(target: HttpTarget, path: str) -> Any:
    return parse_json(target.send("GET", path), path.partition("?")[0], own=True)
