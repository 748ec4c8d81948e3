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
say() { echo "demo: $*" >&2; }
install() { .demo/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }
say "compiles a trained network to C, builds it, and runs it on its 360 test images; what is fetched goes to .demo"
complete=.demo/complete  # what an interrupted try leaves has none, and is made afresh
if [ ! -f "$complete" ] || ! fit .demo/bin/python; then
    say "1 of 4: a virtual environment in .demo, with $python"
    rm -rf .demo
    "$python" -m venv .demo
    say "2 of 4: onnxruntime, to compare with: pip fetches about 50 MB"
    install onnxruntime
    : >"$complete"
else
    say "1 and 2 of 4: the virtual environment in .demo, with onnxruntime, is there"
fi
say "3 of 4: tilewright from this checkout; what it needs is about 20 MB the first time"
install ./core ./plugins/generic_cortexm
missing=$(.demo/bin/python -c 'from tilewright.runners.toolchain import missing_compiler; print(missing_compiler() or "")')
if [ -n "$missing" ] && [ -z "${CC:-}" ]; then
    say "4 of 4: $missing: pip fetches ziglang, which is one, about 100 MB (400 MB on disk)"
    install ziglang
else
    say "4 of 4: ${missing:-a C compiler is there}"
fi
exec .demo/bin/python examples/digits/run.py "$@"
