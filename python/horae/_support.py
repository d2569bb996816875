# SPDX-License-Identifier: Apache-2.0
"""What the native core leaves to Python: debug mode, error reports, and selectors that are not ours."""

import asyncio
import socket
import signal
from asyncio import events, format_helpers, selector_events
from asyncio.base_events import _format_handle
from asyncio.log import logger

handle_class = events.Handle
timer_handle_class = events.TimerHandle
foreign_watch = asyncio.SelectorEventLoop
read_ready_method = selector_events._SelectorSocketTransport._read_ready
data_received_method = selector_events._SelectorSocketTransport._read_ready__data_received
socket_class = socket.socket


def debug_call_soon(loop, method, callback, args, context):
    if method == "call_soon":
        loop._check_thread()
    loop._check_callback(callback, method)
    handle = events.Handle(callback, args, loop, context)
    if handle._source_traceback:
        del handle._source_traceback[-1]
    loop._add_callback(handle)
    return handle


def debug_call_at(loop, when, callback, args, context):
    loop._check_thread()
    loop._check_callback(callback, "call_at")
    timer = events.TimerHandle(when, callback, args, loop, context)
    if timer._source_traceback:
        del timer._source_traceback[-1]
    loop._schedule_foreign(timer)
    timer._scheduled = True
    return timer


def debug_run(loop, handle):
    """Run one handle as asyncio does in debug mode: say which one is slow."""
    if handle._cancelled:
        return
    try:
        loop._current_handle = handle
        started = loop.time()
        handle._run()
        took = loop.time() - started
        if took >= loop.slow_callback_duration:
            logger.warning("Executing %s took %.3f seconds", _format_handle(handle), took)
    finally:
        loop._current_handle = None
        handle = None  # a traceback may keep this frame, and must not keep the handle's task


def report(loop, handle, callback, args, exception):
    """An exception left a callback."""
    try:
        source = format_helpers._format_callback_source(callback, args, debug=loop.get_debug())
    except TypeError:  # before 3.13 there was no such parameter
        source = format_helpers._format_callback_source(callback, args)
    loop.call_exception_handler(
        {"message": f"Exception in callback {source}", "exception": exception, "handle": handle}
    )


def foreign_poll(loop, timeout):
    """Wait with the selector that the user gave to the loop."""
    loop._process_events(loop._selector.select(timeout))


def reopen(loop):
    """In a forked child: a self-pipe of its own, so that signals reach the right process."""
    if loop._ssock is None:
        return
    had_wakeup = bool(loop._signal_handlers)
    old = loop._ssock, loop._csock
    loop._remove_reader(old[0].fileno())
    loop._ssock, loop._csock = socket.socketpair()
    loop._ssock.setblocking(False)
    loop._csock.setblocking(False)
    loop._add_reader(loop._ssock.fileno(), loop._read_from_self)
    if had_wakeup:
        signal.set_wakeup_fd(loop._csock.fileno())
    for sock in old:
        sock.close()
