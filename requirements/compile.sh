#!/usr/bin/env bash
# Makes the hash-locked requirement files anew. They carry hashes and no addresses.
set -eu
cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}
lock() { "$uv" pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
    --custom-compile-command requirements/compile.sh --python-version 3.11 "$@"; }
lock pyproject.toml --extra lock -o requirements/lock.txt
# The core alone, in the versions that were tested with everything else.
lock pyproject.toml --constraint requirements/lock.txt -o requirements/core.txt
# The model stages: what torch and torchvision ask for is theirs to bring (requirements/torch.txt); a CPU build asks for
# none of it.
cuda=(cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cccl nvidia-cuda-cupti nvidia-cuda-nvrtc
    nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse
    nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx triton)
lock pyproject.toml --extra llm --extra llm-server --extra rag --extra torchtune --extra vision --constraint requirements/lock.txt \
    $(printf -- '--no-emit-package %s ' torch torchvision "${cuda[@]}") -o requirements/models.txt
# An S3 server and its client for tests, beside the environment, in the versions that both have.
printf '%s\n' s3fs moto flask flask-cors | lock - --no-annotate --constraint requirements/lock.txt -o requirements/peer-s3.txt
# MkDocs, for `make docs` and the test of the site, beside the environment.
echo mkdocs-material | lock - --no-annotate --constraint requirements/lock.txt -o requirements/docs.txt
echo "uv" | lock - -o requirements/bootstrap.txt
