# SPDX-License-Identifier: Apache-2.0
"""python -m horae [check | bench | demo]: version and self-check, a small table, or a show."""

import argparse
import sys


def main():
    parser = argparse.ArgumentParser(prog="python -m horae", description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=["all", "check", "bench", "demo"])
    what = parser.parse_args().what
    import horae
    from horae import _show

    print(f"horae {horae.__version__} on Python {sys.version.split()[0]}")
    if what == "demo":
        return _show.demo()
    failed = _show.self_check() if what in ("all", "check") else 0
    if what in ("all", "bench"):
        _show.small_table()
    return failed


if __name__ == "__main__":
    sys.exit(main())
