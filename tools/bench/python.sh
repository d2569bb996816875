# summary: the asyncio loop beside asyncio's own and uvloop
# Sourced by tools/commands/bench.
. tools/python.sh

for argument in "$@"; do
    case $argument in
        -h | --help | --report) exec python3 tools/bench/python.py "$@" ;; # nothing to build
    esac
done

need_python
say "building the Python package"
python=$(python_venv bench)
"${python%/python}/pip" --disable-pip-version-check -q install --upgrade uvloop || fail "could not install uvloop"
g++ -std=c++20 -O2 -o build/python/echo_client tools/bench/python_echo_client.cpp
exec "$python" tools/bench/python.py --echo-client build/python/echo_client "$@"
