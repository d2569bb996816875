#!/usr/bin/env python3
"""Runs the demo in a pseudo-terminal and looks at what a person would see.

usage: check_terminal.py PROGRAM
"""
import fcntl
import os
import pty
import re
import struct
import sys
import termios


def output_in_terminal(program: str, columns: int, **environment: str) -> str:
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LC_ALL", "LC_CTYPE")}
        arguments = [program, "--timers", "5000", "--seconds", "1"]
        os.execve(program, arguments, clean | {"TERM": "xterm", "LANG": "C.UTF-8"} | environment)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # Linux reports the end of a terminal like this
            break
        if not chunk:
            break
        chunks.append(chunk)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, f"exit code {status}"
    return b"".join(chunks).decode()


def main() -> None:
    program = sys.argv[1]
    coloured = output_in_terminal(program, 100)
    assert "\x1b[" in coloured and "█" in coloured and "░" in coloured, coloured
    plain = output_in_terminal(program, 100, NO_COLOR="1")
    assert "\x1b" not in plain and "█" in plain, plain
    assert re.search(r"early 0   lost 0\r\n", plain), plain
    assert "█" not in output_in_terminal(program, 100, LANG="C"), "block characters without UTF-8"
    dumb = output_in_terminal(program, 100, TERM="dumb")
    assert "\x1b" not in dumb and "░" not in dumb, dumb

    for columns in (40, 60):
        text = output_in_terminal(program, columns, NO_COLOR="1")
        drawn = [line for line in re.split(r"[\r\n]+", text) if "█" in line or "░" in line]
        redraws = [line for line in drawn if "░" in line]
        assert len({len(line) for line in redraws}) == 1, text
        assert max(map(len, drawn)) < columns, drawn


main()
