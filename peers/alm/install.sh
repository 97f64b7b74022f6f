#!/usr/bin/env bash
# The reference from the registry, in an environment of its own. Usage: install.sh FOLDER UV
set -eu
folder=$1 uv=$2
[ -e "$folder/.ready" ] && exit 0
"${PYTHON:-python3.11}" -m venv "$folder"
"$folder/bin/pip" install --quiet torch==2.13.0
"$uv" pip install --quiet --python "$folder/bin/python" --compile-bytecode nemo-curator==1.4.0 tqdm soundfile
# The package imports torchaudio for parts that the two ALM stages do not use, and its build needs CUDA to load.
stand_in=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torchaudio
mkdir -p "$stand_in"
for module in __init__ functional transforms; do echo '"""Not used by the ALM stages."""' > "$stand_in/$module.py"; done
touch "$folder/.ready"
