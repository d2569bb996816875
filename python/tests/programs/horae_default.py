# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: horae is the default loop, and at the end we see that it was used."""
import horae

made = 0


class Counted(horae.EventLoop):
    def __init__(self, *args, **kwargs):
        global made
        made += 1
        super().__init__(*args, **kwargs)


horae.install()
import asyncio  # noqa: E402

type(asyncio.get_event_loop_policy())._loop_factory = Counted


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"{made} loops were horae's")
    assert made > 0
