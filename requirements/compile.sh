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
echo "uv" | lock - -o requirements/bootstrap.txt
