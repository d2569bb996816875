#!/usr/bin/env bash
# The native module under a sanitizer, inside an ordinary interpreter.
# usage: sanitize.sh address | thread
#
# address  all tests but those that start other interpreters, under AddressSanitizer and UBSan
# thread   the tests that use threads, under ThreadSanitizer. The interpreter itself is not instrumented; its GIL is made of
#          pthread mutexes and conditions, which the sanitizer's run-time library intercepts.
set -euo pipefail
: "${HORAE_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}"
export HORAE_ROOT
. "$HORAE_ROOT/tools/common.sh"
. tools/python.sh
need_python

case ${1:-} in
    address)
        python=$(python_venv address "HORAE_PYTHON_SANITIZE=address,undefined")
        # The interpreter leaks by design at exit; leaks of the module are counted by test_life.py.
        LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" \
            ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
            "$python" -X faulthandler -m pytest -q -p no:cacheprovider python/tests -k 'not over_a_million and not sub_interpreters'
        ;;
    thread)
        python=$(python_venv thread "HORAE_PYTHON_SANITIZE=thread")
        LD_PRELOAD=$(g++ -print-file-name=libtsan.so) TSAN_OPTIONS="halt_on_error=1 report_signal_unsafe=0" \
            "$python" -X faulthandler -m pytest -q -p no:cacheprovider python/tests \
            -k 'threads or wake or threadsafe or virtual'
        ;;
    *) fail "usage: sanitize.sh address | thread" ;;
esac
