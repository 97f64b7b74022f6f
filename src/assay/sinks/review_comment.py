"""One comment on a pull request (GitHub) or merge request (GitLab) that is updated, never repeated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from assay.errors import DataError
from assay.files.checked_fields import Written
from assay.files.json_text import parse_json
from assay.sinks.http_target import HttpTarget
from assay.sinks.sink import SinkFailure

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
