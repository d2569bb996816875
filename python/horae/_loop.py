# SPDX-License-Identifier: Apache-2.0
"""The event loop: asyncio's selector loop with its hot half replaced by the native core."""

import asyncio
import functools

from . import _core, _support
from ._views import EpollView, ReadyView, ScheduledView

_core.set_support(_support)

# asyncio reads up to 256 KiB at once, a block so large that malloc maps and unmaps memory for each read.
RECEIVE_SIZE = 64 * 1024

#: How late a timer may be, in seconds, so that timers share wake-ups when more than two come in that time.
DEFAULT_TIMER_SLACK = 0.001


class EventLoop(_core.LoopCore, asyncio.SelectorEventLoop):
    """A drop-in event loop for asyncio, on Horae's timing wheel.

    EventLoop(selector=None, *, clock=None, timer_slack=0.001)

    selector     a selectors.BaseSelector to wait with; by default the loop has its own epoll set
    clock        a VirtualClock, for tests
    timer_slack  seconds by which timers may be late to share wake-ups when more than two come in
                 that time; 0 for precision. Timers are never early.
    """

    def __init__(self, selector=None, *, clock=None, timer_slack=DEFAULT_TIMER_SLACK):
        self._foreign_selector = selector is not None
        self.timer_slack = timer_slack
        self._virtual = clock is not None
        if self._virtual:
            self._set_clock(clock)
        super().__init__(EpollView(self) if selector is None else selector)

    # asyncio assigns containers of its own to these; ours are in the core.
    _ready = property(ReadyView, lambda self, value: None)
    _scheduled = property(ScheduledView, lambda self, value: None)

    def _make_socket_transport(self, *args, **kwargs):
        transport = super()._make_socket_transport(*args, **kwargs)
        transport.max_size = RECEIVE_SIZE
        return transport

    def run_in_executor(self, executor, func, *args):
        """Run func(*args) in a thread or process pool; virtual time stands still meanwhile."""
        future = super().run_in_executor(executor, func, *args)
        if self._virtual:
            self._outside_work(1)
            future.add_done_callback(functools.partial(EventLoop._outside_work_done, self))
        return future

    def _outside_work_done(self, future):
        self._outside_work(-1)


def new_event_loop():
    """A new horae.EventLoop."""
    return EventLoop()
