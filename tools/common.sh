# Sourced by every command: packages, builds, messages.
set -euo pipefail
cd "$HORAE_ROOT"

say() { printf '\033[1m== %s\033[0m\n' "$*" | if [[ -t 1 ]]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
fail() {
    printf 'horae: %s\n' "$*" >&2
    exit 1
}

# need PACKAGE...: installs the Debian packages that are not there yet; silent when all are.
need() {
    local package missing=() as_root=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null || fail "needs the Debian packages ${missing[*]}, and there is no apt-get here"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "needs the Debian packages ${missing[*]}: run as root, or install sudo"
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! {
        "${as_root[@]}" apt-get -qq update &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get -qq install -y --no-install-recommends "${missing[@]}"
    } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        fail "could not install ${missing[*]} (log: $log)"
    fi
    rm -f "$log"
}

need_build() { need g++ cmake ninja-build; }
need_tests() { need_build; need libgtest-dev pkg-config python3 relacy-dev; }
need_clang() { need clang-19 libclang-rt-19-dev; }
need_bench() { need_build; need libboost-dev libuv1-dev libevent-dev pkg-config python3; }

# build PRESET [TARGET...]: configures and builds, printing only when something goes wrong.
build() {
    local preset=$1 log status=0
    shift
    log=build/$preset.log
    mkdir -p build
    say "building $preset"
    {
        cmake --preset "$preset" &&
            cmake --build --preset "$preset" ${1:+--target "$@"}
    } >"$log" 2>&1 || status=$?
    if ((status)); then
        tail -n 60 "$log" >&2
        fail "the $preset build failed (log: $log)"
    fi
}
