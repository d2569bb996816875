# summary: the timing wheel beside Asio, libuv, libevent, std::multimap, a heap, Tokio, nexus-timer and bitwheel
# Sourced by tools/commands/bench.

for argument in "$@"; do
    case $argument in
        -h | --help | --report) exec python3 tools/bench/wheel.py "$@" ;; # nothing to build
    esac
done

need_bench
build bench wheel_bench

# Tokio, nexus-timer and bitwheel come from cargo, and are left out where there is none.
rust_target=build/bench/rust
rust_program=
if ! command -v cargo >/dev/null; then
    rust_missing="there is no cargo on this machine"
else
    say "building the Rust rivals"
    if CARGO_TARGET_DIR=$rust_target cargo build --quiet --release --locked \
        --manifest-path bench/compare/wheel/rust/Cargo.toml >build/bench-rust.log 2>&1; then
        rust_program=$rust_target/release/wheel-bench
    else
        rust_missing="cargo could not build them (log: build/bench-rust.log)"
    fi
fi
[[ $rust_program ]] || say "skipping Tokio, nexus-timer and bitwheel: $rust_missing"

exec python3 tools/bench/wheel.py --program build/bench/bench/compare/wheel/wheel_bench \
    ${rust_program:+--rust-program "$rust_program"} ${rust_missing:+--rust-missing "$rust_missing"} "$@"
