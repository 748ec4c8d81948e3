#!/bin/sh
# The main job, from nothing: a virtual environment, tilewright from this checkout, a real network
# compiled to C, built, and run on its whole test set. PYTHON names the Python, 3.11 or later.
set -eu
cd "$(dirname "$0")/../.."
fit() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
python=
for each in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if fit "$each"; then python=$each; break; fi
done
if [ -z "$python" ]; then
    echo "tilewright needs Python 3.11 or later; ${PYTHON:-python3} is not one." >&2
    echo "try:  PYTHON=/path/to/python3.12 sh examples/digits/demo.sh        where one is installed" >&2
    echo "try:  pip install uv && uv python install 3.12 && PYTHON=\$(uv python find 3.12) sh examples/digits/demo.sh" >&2
    exit 3
fi
complete=.demo/complete  # what an interrupted try leaves has none, and is made afresh
if [ ! -f "$complete" ] || ! fit .demo/bin/python; then
    rm -rf .demo
    "$python" -m venv .demo
    .demo/bin/python -m pip install --quiet onnxruntime
    command -v "${CC:-cc}" >/dev/null 2>&1 || .demo/bin/python -m pip install --quiet ziglang
    : >"$complete"
fi
.demo/bin/python -m pip install --quiet ./core ./plugins/generic_cortexm
exec .demo/bin/python examples/digits/run.py "$@"
