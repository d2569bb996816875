#!/usr/bin/env python3
"""Fails when README's first C++ block is not examples/readme.cpp, which the tests build and run."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
block = re.search(r"```cpp\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
example = (root / "examples/readme.cpp").read_text()
if not block or block.group(1) != example:
    sys.exit("README.md: the first C++ block differs from examples/readme.cpp")
