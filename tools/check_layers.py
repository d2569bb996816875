#!/usr/bin/env python3
"""Fails when a layer includes one that the layer table does not allow it.

usage: check_layers.py [--self-test]
"""
import pathlib
import re
import sys
import tempfile

# layer -> the layers it may include, apart from itself and the standard library
ALLOWED = {
    "base": set(),
    "wheel": {"base"},
    "exec": {"base"},
    "coro": {"base", "exec"},
    "time": {"base", "wheel", "exec", "coro"},
    "sync": {"base", "exec", "coro"},
    "chan": {"base", "exec", "coro", "sync"},
    "service": {"base", "wheel", "chan"},
    "io": {"base", "exec", "coro"},
}
# headers at the root of include/horae, and the layer each belongs to; the umbrella may include all
ROOT_HEADERS = {"version.hpp": "base", "wheel.hpp": "wheel", "horae.hpp": None}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def target_layer(include: str) -> str | None:
    parts = include.removeprefix("horae/").split("/")
    if len(parts) == 1:
        return ROOT_HEADERS.get(parts[0])
    return parts[0] if parts[0] in ALLOWED else None


def violations(root: pathlib.Path) -> list[str]:
    found = []
    for base in ("include/horae", "src"):
        for file in sorted((root / base).rglob("*.[ch]pp")):
            layer = file.relative_to(root / base).parts[0]
            if layer in ROOT_HEADERS:
                layer = ROOT_HEADERS[layer]
            if layer is None:
                continue
            if layer not in ALLOWED:
                found.append(f"{file.relative_to(root)}: '{layer}' is not a layer")
                continue
            for include in INCLUDE.findall(file.read_text()):
                if include == "horae/horae.hpp" and not file.name == "version.cpp":
                    found.append(f"{file.relative_to(root)}: includes the umbrella header")
                other = target_layer(include)
                if other and other != layer and other not in ALLOWED[layer]:
                    found.append(f"{file.relative_to(root)}: '{layer}' may not include '{other}' ({include})")
    return found


def self_test() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        bad = root / "include/horae/wheel/bad.hpp"
        bad.parent.mkdir(parents=True)
        bad.write_text("#include <horae/exec/worker.hpp>\n#include <vector>\n")
        good = root / "include/horae/wheel/good.hpp"
        good.write_text("#include <horae/base/bits.hpp>\n")
        found = violations(root)
        assert len(found) == 1 and "'wheel' may not include 'exec'" in found[0], found
    print("a forbidden include is found")
    return 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = violations(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(found) or "every include respects the layer table")
    return 1 if found else 0


sys.exit(main())
