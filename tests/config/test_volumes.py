from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace

from assay.config.load_config import load_config
from assay.config.paths import volumes
from assay.errors import ConfigError


def given(folder: Path, text: str, **environment: str) -> list[str]:
    (folder / "f.yaml").write_text(f"{text}\nentries: [{{name: a, command: 'true'}}]\n")
    return [str(volume).replace("\t", " ") for volume in volumes(load_config([folder / "f.yaml"], {}), environment)]


def test_data_is_read_only_and_results_are_writable_wherever_it_is_asked(tmp_path: Path) -> None:
    text = """
paths:
  - {name: data, host_path: /h/data, container_path: /data}
  - {name: cache, host_path: /h/cache, writable: true}
  - {name: results_path, host_path: /h/results}
datasets: [{name: d, formats: [{type: t, path: "{data}/d"}]}]
"""
    expected = ["/h/data /data ro", "/h/cache /MOUNT/h/cache rw", "/h/results /MOUNT/h/results rw"]
    assert given(tmp_path, text) == expected
    assert given(tmp_path, text, ASSAY_IN_CONTAINER="1") == expected


def test_what_a_data_setup_writes_to_is_writable(tmp_path: Path) -> None:
    text = """
results_path: /r
paths: [{name: data, host_path: /h/data}, {name: models, host_path: /h/models}]
data_setups: [{name: fetch, command: "fetch --into {data}/x"}]
"""
    assert given(tmp_path, text) == [
        "/h/data /MOUNT/h/data rw", "/h/models /MOUNT/h/models ro", "/r /MOUNT/r rw",
    ]  # fmt: skip


def test_what_has_one_place_is_given_there(tmp_path: Path) -> None:
    text = """
results_dir: /data/results
artifacts_dir: /large
paths: {data: /data}
datasets:
  - name: d
    formats:
      - {type: a, path: "{data}/below"}
      - {type: b, path: /elsewhere/*.parquet}
      - {type: c, path: s3://bucket/x}
"""
    assert given(tmp_path, text) == [
        "/data/results /data/results rw", "/large /large rw", "/data /data ro", "/elsewhere /elsewhere ro",
    ]  # fmt: skip


def test_a_data_set_written_out_below_a_moved_path_is_given_where_it_is_asked_for(tmp_path: Path) -> None:
    text = """
results_dir: "{data}/results"
paths: [{name: data, host_path: /h/data, container_path: /data}]
datasets: [{name: d, formats: [{type: t, path: /h/data/d}]}]
"""
    assert given(tmp_path, text) == ["/h/data /data rw", "/h/data/d /h/data/d ro"]


def test_two_paths_cannot_have_one_place(tmp_path: Path) -> None:
    text = "paths: [{name: a, host_path: /a, container_path: /x}, {name: b, host_path: /b, container_path: /x}]"
    with pytest.raises(ConfigError, match="/a and /b cannot both be /x in a container"):
        given(tmp_path, text)


@pytest.mark.parametrize("path", ['"/a\\tb"', '"/a\\nb"', '""', '"a/relative"'])
def test_a_path_that_no_line_can_hold_is_refused_with_its_place(tmp_path: Path, path: str) -> None:
    with pytest.raises(ConfigError, match=r"f\.yaml:1:\d+: paths\[0\]\.container_path: "):
        given(tmp_path, f"paths: [{{name: a, host_path: /a, container_path: {path}}}]")


def test_the_command_prints_a_line_each_and_paths_with_spaces_stay_whole(workplace: Workplace) -> None:
    workplace.write("f.yaml", """
paths: [{name: d, host_path: "/my $(data)", container_path: "/in here"}, {name: results_path, host_path: /r}]
cleanup_timeout_s: 60
min_timeout_s: 600
entries: [{name: a, script: missing.py, timeout_s: 1200}, {name: b, command: "true", timeout_s: 5}]
""")  # fmt: skip
    answer = workplace.assay("plan", "--config", "f.yaml", "--volumes")
    assert answer.code == 0, answer.err
    assert answer.out == "/my $(data)\t/in here\tro\n/r\t/MOUNT/r\trw\n"
    assert workplace.assay("plan", "--config", "f.yaml", "--jobs").out == "a\t1260\nb\t600\n"
