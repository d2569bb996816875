#!/usr/bin/env bash
# The Python package at length: every interpreter that is there, sanitizers, a debug interpreter, many random
# programs, real programs on our loop.
#
# HORAE_PYTHONS lists interpreters (3.11 and later, with headers and test package); default: Debian's, and those of pyenv.
: "${HORAE_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}"
export HORAE_ROOT
. "$HORAE_ROOT/tools/common.sh"
. tools/python.sh
need_python

pythons=(${HORAE_PYTHONS:-/usr/bin/python3})
if [[ -z ${HORAE_PYTHONS:-} ]] && command -v pyenv >/dev/null; then
    for version in $(pyenv versions --bare | grep -E '^3\.1[1-9]' || true); do
        pythons+=("$(pyenv prefix "$version")/bin/python")
    done
fi

for program in "${pythons[@]}"; do
    version=$("$program" -c 'import platform; print(platform.python_version())')
    say "Python $version: own tests, CPython's asyncio tests"
    HORAE_PYTHON=$program
    python=$(python_venv "soak-$version" HORAE_PYTHON_WERROR=ON)
    HORAE_ORACLE_SEEDS=1000 "$python" -m pytest -q -p no:cacheprovider python/tests
    "$python" python/tests/cpython_suite.py --json "build/python/cpython-$version.json"
done
unset HORAE_PYTHON

say "under AddressSanitizer and UBSan"
bash python/tests/sanitize.sh address

say "threads under ThreadSanitizer"
bash python/tests/sanitize.sh thread

say "on a debug interpreter"
need python3-dbg
python=$(HORAE_PYTHON=/usr/bin/python3-dbg python_venv debug)
"$python" -m pytest -q -p no:cacheprovider python/tests

say "real programs"
bash python/tests/programs/run.sh
