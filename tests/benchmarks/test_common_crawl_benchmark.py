from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from assay.benchmarks import common_crawl_benchmark
from assay.benchmarks.data.warc import TRUTH, write_warc_files
from assay.stages.text import crawl as crawl_listing


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_archives_become_documents(tmp_path: Path, form: str) -> None:
    write_warc_files(tmp_path / "warc", files=3, pages=40, seed=9)
    words = ["--download_path", str(tmp_path / "warc"), "--output_path", str(tmp_path / "out"), "--url_limit", "2"]
    words += ["--output_format", form, "--executor", "local", "--workers", "2", "--detect-language"]
    assert common_crawl_benchmark.main([*words, "--benchmark-results-path", str(tmp_path / "results")]) == 0
    metrics = json.loads((tmp_path / "results" / "metrics.json").read_text())
    assert metrics["num_archives"] == 2
    assert metrics["num_pages"] == metrics["num_documents"] == 80
    assert (tmp_path / "results" / "tasks.jsonl").exists()
    parts = sorted((tmp_path / "out").iterdir())
    rows = [row for part in parts for row in _rows(part)]
    known = [json.loads(line) for line in (tmp_path / "warc" / TRUTH).read_text().splitlines()][:80]
    assert [row["url"] for row in rows] == [row["url"] for row in known]
    assert sum(row["language"] == sure["language"] for row, sure in zip(rows, known, strict=True)) > 70


def _rows(part: Path) -> list[dict[str, str]]:
    if part.suffix == ".parquet":
        rows: list[dict[str, str]] = pq.read_table(part).to_pylist()
        return rows
    return [json.loads(line) for line in part.read_text().splitlines()]


def test_archives_are_fetched_first_and_only_once(tmp_path: Path) -> None:
    made = write_warc_files(tmp_path / "elsewhere", files=2, pages=5, seed=1)
    (tmp_path / "urls.txt").write_text("".join(f"file://{path}\n" for path in made))
    words = ["--download_path", str(tmp_path / "here"), "--output_path", str(tmp_path / "out")]
    words += ["--urls", str(tmp_path / "urls.txt"), "--benchmark-results-path", str(tmp_path / "results")]
    for fetched in (2, 0):
        assert common_crawl_benchmark.main(words) == 0
        metrics = json.loads((tmp_path / "results" / "metrics.json").read_text())
        assert (metrics["num_fetched"], metrics["num_documents"]) == (fetched, 10)


@pytest.mark.parametrize(
    ("folder", "message"), [("nowhere", "no such folder"), ("empty", "no web archive there"), ("bad", "no WARC record")]
)
def test_what_cannot_be_read_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.warc").write_bytes(b"not an archive" * 100)
    words = ["--download_path", str(tmp_path / folder), "--output_path", str(tmp_path / "out")]
    assert common_crawl_benchmark.main([*words, "--benchmark-results-path", str(tmp_path / "results")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A crawl of three archives as Common Crawl serves one, on this machine; the working folder is an empty one."""
    root, made = tmp_path / "site", tmp_path / "made"
    write_warc_files(made, files=3, pages=5, seed=4)
    paths = []
    for at, archive in enumerate(sorted(made.glob("*.warc.gz"))):
        path = Path("crawl-data/CC-TEST-1/segments") / str(at) / "warc" / archive.name
        (root / path).parent.mkdir(parents=True)
        archive.rename(root / path)
        paths.append(f"{path}\n")
    (root / "crawl-data/CC-TEST-1/warc.paths.gz").write_bytes(gzip.compress("".join(paths).encode()))
    handler = partial(QuietHandler, directory=str(root))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(crawl_listing, "SITE", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setattr(crawl_listing, "CRAWL", "CC-TEST-1")
        yield root
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


def crawl(*words: str) -> tuple[int, int]:
    """Archives fetched, and documents."""
    assert common_crawl_benchmark.main([*words, "--benchmark-results-path", "results"]) == 0
    metrics = json.loads(Path("results/metrics.json").read_text())
    return metrics["num_fetched"], metrics["num_documents"]


def test_a_limit_alone_downloads_the_first_archives_of_a_crawl(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert crawl("--url_limit", "2") == (2, 10)
    assert "fetching 1 of 2: http://127.0.0.1:" in capsys.readouterr().out
    assert len(list(Path("common_crawl_downloads").glob("*.warc.gz"))) == 2
    assert list(Path("common_crawl_output").glob("*.parquet"))
    assert json.loads(Path("results/params.json").read_text())["crawl"].endswith("/crawl-data/CC-TEST-1/warc.paths.gz")
    (site / "crawl-data/CC-TEST-1/warc.paths.gz").rename(site / "away")
    assert crawl("--url_limit", "2") == (0, 10)
    next(Path("common_crawl_downloads").glob("*.warc.gz")).unlink()
    assert crawl("--url_limit", "2") == (1, 10)
    assert crawl("--url_limit", "1") == (0, 5)
    (site / "away").rename(site / "crawl-data/CC-TEST-1/warc.paths.gz")
    assert crawl("--url_limit", "9") == (1, 15)
    monkeypatch.setattr(crawl_listing, "CRAWL", "CC-GONE")
    assert crawl("--url_limit", "9") == (0, 15)
    assert crawl() == (0, 15)


def test_archives_that_are_there_are_taken_and_nothing_is_downloaded(site: Path) -> None:
    write_warc_files(Path("mine"), files=1, pages=3, seed=1)
    assert crawl("--download_path", "mine", "--url_limit", "5") == (0, 3)
    listing = f"{crawl_listing.SITE}crawl-data/CC-TEST-1/warc.paths.gz"
    assert crawl("--download_path", "new/folder", "--crawl", listing, "--url_limit", "1") == (1, 5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--url_limit", "0"], "--url_limit: 0 is not a number of archives"),
        (["--crawl", "CC-TEST-1"], "--crawl CC-TEST-1: say with --url_limit how many archives"),
        (
            ["--crawl", "CC-NONE", "--url_limit", "1"],
            "CC-NONE/warc.paths.gz: cannot be read: it is not there;",
        ),
        (["--crawl", "BAD", "--url_limit", "1"], "'file:///etc/passwd' is not a path below the site"),
        (["--crawl", "LOST", "--url_limit", "1"], "/crawl-data/lost.warc.gz: cannot be fetched"),
        (["--url_limit", "1", "--download_path", "file/below"], "cannot be written"),
    ],
)
def test_a_crawl_that_cannot_be_downloaded_is_one_message(
    site: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, line in (("BAD", "file:///etc/passwd"), ("LOST", "crawl-data/lost.warc.gz")):
        (site / "crawl-data" / name).mkdir()
        (site / "crawl-data" / name / "warc.paths.gz").write_bytes(gzip.compress(f"{line}\n".encode()))
    Path("file").touch()
    assert common_crawl_benchmark.main([*words, "--benchmark-results-path", "results"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
