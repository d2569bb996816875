# summary: the executor beside Tokio, Boost.Asio, std::thread and Go
# Sourced by tools/commands/bench.

for argument in "$@"; do
    case $argument in
        -h | --help | --report) exec python3 tools/bench/exec.py "$@" ;; # nothing to build
    esac
done

need_bench
build bench exec_bench
programs=(--program build/bench/bench/compare/exec/exec_bench)

# Tokio and Go are left out where their tools are missing; the page says so.
if ! command -v cargo >/dev/null; then
    programs+=(--missing "Tokio: there is no cargo on this machine")
elif CARGO_TARGET_DIR=build/bench/rust-exec cargo build --quiet --release --locked \
    --manifest-path bench/compare/exec/rust/Cargo.toml >build/bench-exec-rust.log 2>&1; then
    programs+=(--program build/bench/rust-exec/release/exec-bench)
else
    programs+=(--missing "Tokio: cargo could not build it (log: build/bench-exec-rust.log)")
fi
if ! command -v go >/dev/null; then
    programs+=(--missing "Go: there is no go on this machine")
elif (cd bench/compare/exec/go && go build -o ../../../../build/bench/exec-go .) >build/bench-exec-go.log 2>&1; then
    programs+=(--program build/bench/exec-go)
else
    programs+=(--missing "Go: it could not be built (log: build/bench-exec-go.log)")
fi

exec python3 tools/bench/exec.py "${programs[@]}" "$@"
