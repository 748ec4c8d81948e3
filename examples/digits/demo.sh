#!/bin/sh
# The main job, from nothing: a virtual environment, tilewright from this checkout, a real network
# compiled to C, built, and run on its whole test set.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
"$python" -m venv .demo
.demo/bin/python -m pip install --quiet ./core ./plugins/generic_cortexm onnxruntime
command -v "${CC:-cc}" >/dev/null 2>&1 || .demo/bin/python -m pip install --quiet ziglang
exec .demo/bin/python examples/digits/run.py "$@"
