# summary: instructions and cache misses per operation of the wheel and its C++ rivals, by callgrind; repeatable
# Sourced by tools/commands/bench.

for argument in "$@"; do
    case $argument in
        -h | --help) exec python3 tools/bench/wheel_count.py "$@" ;;
    esac
done

need_bench
need valgrind
build bench wheel_bench
exec python3 tools/bench/wheel_count.py --program build/bench/bench/compare/wheel/wheel_bench "$@"
