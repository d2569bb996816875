#!/usr/bin/env bash
# Real programs on our loop: aiohttp, uvicorn, websockets, redis, asyncpg, and anyio's own test suite.
# usage: run.sh [NAME...]        Not part of ./horae test: installs their packages, and redis and PostgreSQL from Debian.
set -euo pipefail
: "${HORAE_ROOT:=$(cd "$(dirname "$0")/../../.." && pwd)}"
export HORAE_ROOT
. "$HORAE_ROOT/tools/common.sh"
. tools/python.sh
need_python
need redis-server postgresql

names=("$@")
((${#names[@]})) || names=(aiohttp uvicorn websockets redis asyncpg anyio)
python=$(python_venv programs)
pip=${python%/python}/pip
"$pip" --disable-pip-version-check -q install -r python/tests/programs/requirements.txt

run_anyio() {
    # Its suite is in the source distribution. Our loop is made the default, and the backends that are not asyncio's
    # default loop are left out.
    local folder=build/python/anyio version
    version=$("$python" -c 'import importlib.metadata as m; print(m.version("anyio"))')
    rm -rf "$folder"
    mkdir -p "$folder"
    "$pip" --disable-pip-version-check -q download --no-deps --no-binary :all: -d "$folder" "anyio==$version"
    tar -xf "$folder"/anyio-*.tar.gz -C "$folder" --strip-components 1
    cp python/tests/programs/horae_default.py "$folder/"
    local loop
    for loop in asyncio horae; do
        (cd "$folder" && PYTHONPATH=. "$HORAE_ROOT/$python" -m pytest -q --tb=no -rfE -p no:cacheprovider \
            $([[ $loop == asyncio ]] || echo -p horae_default) tests -k 'not trio and not uvloop') >"$folder/$loop.log" || true
        tail -n 2 "$folder/$loop.log"
        grep -oE '^(FAILED|ERROR) [^ ]+' "$folder/$loop.log" | sort -u >"$folder/$loop.failed" || true
    done
    grep -q "loops were horae's" "$folder/horae.log" || return 1
    # A machine without IPv6 fails some on either loop; what fails on ours alone counts.
    comm -13 "$folder/asyncio.failed" "$folder/horae.failed" | cut -d' ' -f2- >"$folder/only-horae.failed"
    [[ -s $folder/only-horae.failed ]] || return 0
    # Some of its tests give a process three seconds: once more, alone.
    say "failed on our loop only, once more:"
    cat "$folder/only-horae.failed"
    local tests
    mapfile -t tests <"$folder/only-horae.failed"
    (cd "$folder" && PYTHONPATH=. "$HORAE_ROOT/$python" -m pytest -q --tb=short -p no:cacheprovider -p horae_default "${tests[@]}")
}

failed=()
for name in "${names[@]}"; do
    say "$name"
    if [[ $name == anyio ]]; then
        run_anyio || failed+=("$name")
    else
        timeout 120 "$python" "python/tests/programs/with_$name.py" || failed+=("$name")
    fi
done
printf '%d passed, %d failed\n' "$((${#names[@]} - ${#failed[@]}))" "${#failed[@]}"
((${#failed[@]} == 0)) || fail "failed: ${failed[*]}"
