# Sourced by the commands that build and run the Python package. Needs tools/common.sh.

# Debian's own interpreter by default; HORAE_PYTHON names another (3.11 or later, with its headers).
python_program() { printf '%s' "${HORAE_PYTHON:-/usr/bin/python3}"; }

need_python() {
    need_build
    if [[ $(python_program) == /usr/bin/python3 ]]; then
        need python3 python3-dev python3-venv libpython3.11-testsuite
    fi
}

# python_venv NAME [CMAKE_DEFINITION...]: prints the interpreter of a virtual environment under build/python/NAME with the
# package as it is in the tree, and the packages of python/tests/requirements.txt.
python_venv() {
    local name=$1 program folder log definition settings=()
    shift
    program=$(python_program)
    "$program" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$program is older than Python 3.11"
    folder=build/python/$name
    log=$folder.log
    mkdir -p build/python
    for definition in "$@"; do settings+=("--config-settings=cmake.define.$definition"); done
    {
        [[ -x $folder/venv/bin/python ]] || "$program" -m venv "$folder/venv"
        "$folder/venv/bin/pip" --disable-pip-version-check -q install -r python/tests/requirements.txt &&
            "$folder/venv/bin/pip" --disable-pip-version-check -q install --force-reinstall --no-deps . \
                "--config-settings=build-dir=$PWD/$folder/cmake" "${settings[@]}"
    } >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        fail "the Python package could not be built (log: $log)"
    }
    printf '%s' "$folder/venv/bin/python"
}
