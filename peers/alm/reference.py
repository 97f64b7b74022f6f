"""The reference's own ALM stages, in its own environment: called bare, or run by one of its executors.

    python reference.py bare MANIFEST REPORT [OUTPUT]
    python reference.py xenna|ray_data|ray_actors MANIFEST REPORT [OUTPUT]

REPORT gets CPU and wall seconds. Without OUTPUT results are made and thrown away; an executor's are then hashed, at a
cost that is measured and reported apart.
"""

import hashlib
import json
import os
import sys
import time

OVERLAP = 50


def stages():
    from nemo_curator.stages.audio.alm import ALMDataBuilderStage, ALMDataOverlapStage

    return ALMDataBuilderStage(), ALMDataOverlapStage(overlap_percentage=OVERLAP)


def bare(manifest, output):
    builder, overlap = stages()
    began, cpu = time.perf_counter(), time.process_time()
    count = 0
    with open(manifest, encoding="utf-8") as lines, open(output or os.devnull, "w", encoding="utf-8") as out:
        for line in lines:
            if not line.strip():
                continue
            result = overlap._filter_overlaps(builder._process_single_entry(json.loads(line)))
            count += 1
            if output:
                out.write(json.dumps(result, ensure_ascii=False) + "\n")
    return {"entries": count, "wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}


def executed(name, manifest, output):
    # A busy machine takes longer than Ray's own limit.
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")
    # cosmos-xenna asks Ray's dashboard for more than it gives by default.
    os.environ.setdefault("RAY_MAX_LIMIT_FROM_API_SERVER", "40000")
    os.environ.setdefault("RAY_MAX_LIMIT_FROM_DATA_SOURCE", "40000")
    import ray

    ray.init(
        _node_ip_address="127.0.0.1",
        num_cpus=int(os.environ.get("PEERS_CPUS", "8")),
        include_dashboard=True,
        log_to_driver=False,
        _temp_dir=os.environ["RAY_TMPDIR"],
    )
    os.environ["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address
    from nemo_curator.pipeline import Pipeline
    from nemo_curator.stages.audio.common import ManifestReader, ManifestWriterStage

    line = [ManifestReader(manifest_path=manifest), *stages()]
    if output:
        line.append(ManifestWriterStage(output_path=output))
    began = time.perf_counter()
    tasks = Pipeline(name="alm", stages=line).run(_executor(name))
    wall = time.perf_counter() - began
    cpu = time.process_time()
    hashes = [] if output else sorted(hashlib.sha256(_line(task)).hexdigest() for task in tasks)
    report = {"entries": len(tasks), "wall_s": wall, "hashes": hashes}
    return {**report, "not_counted_cpu_s": time.process_time() - cpu}


def _line(task):
    return (json.dumps(task.data, ensure_ascii=False) + "\n").encode()


def _executor(name):
    if name == "xenna":
        from nemo_curator.backends.xenna import XennaExecutor

        return XennaExecutor()
    if name == "ray_data":
        from nemo_curator.backends.ray_data import RayDataExecutor

        return RayDataExecutor()
    from nemo_curator.backends.ray_actor_pool import RayActorPoolExecutor

    return RayActorPoolExecutor()


if __name__ == "__main__":
    how, manifest, report, *output = sys.argv[1:]
    result = (bare if how == "bare" else lambda *rest: executed(how, *rest))(manifest, output[0] if output else None)
    with open(report, "w", encoding="utf-8") as out:
        json.dump(result, out)
