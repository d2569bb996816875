# SPDX-License-Identifier: Apache-2.0
"""Debug mode: where handles were created, slow callbacks, and the switch in mid-run."""
import asyncio
import logging
import subprocess
import sys
import time

import horae


def nothing():
    pass


def test_handles_know_where_they_were_created(either):
    either.set_debug(True)
    for handle in (either.call_soon(nothing), either.call_later(1, nothing), either.call_at(1, nothing)):
        frame = handle._source_traceback[-1]
        assert frame.filename == __file__ and frame.name == "test_handles_know_where_they_were_created"
        assert f"created at {__file__}:{frame.lineno}" in repr(handle)
        handle.cancel()
        assert "cancelled" in repr(handle)


def test_slow_callbacks_are_logged(either, caplog):
    either.set_debug(True)
    either.slow_callback_duration = 0.01
    either.call_soon(time.sleep, 0.02)
    either.call_soon(either.stop)
    with caplog.at_level(logging.WARNING, "asyncio"):
        either.run_forever()
    assert any("Executing <Handle" in record.getMessage() and "took 0.0" in record.getMessage()
               for record in caplog.records)


def test_errors_tell_where_the_handle_was_created(either):
    errors = []
    either.set_debug(True)
    either.set_exception_handler(lambda loop, context: errors.append(context))
    either.call_soon(lambda: 1 / 0)
    either.call_soon(either.stop)
    either.run_forever()
    assert errors[0]["source_traceback"][-1].filename == __file__


def test_timers_of_debug_mode_fire_cancel_and_are_forgotten():
    loop = horae.EventLoop(clock=horae.VirtualClock())
    loop.set_debug(True)
    seen = []
    timers = [loop.call_later(1, seen.append, index) for index in range(10)]
    equal = [loop.call_at(5, nothing) for _ in range(10)]
    timers[3].cancel()
    timers[3].cancel()
    for timer in equal[:5]:
        timer.cancel()
    assert loop.metrics()["pending"] == 14
    loop.call_later(10, loop.stop)
    loop.run_forever()
    assert seen == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert loop.metrics()["pending"] == 0 and loop.metrics()["cancelled"] == 6
    loop.close()


def test_switching_in_mid_run():
    loop = horae.EventLoop(clock=horae.VirtualClock())
    seen = []
    before = loop.call_later(1, seen.append, "plain")
    loop.call_later(2, loop.set_debug, True)
    loop.call_later(3, lambda: seen.append(loop.call_later(1, seen.append, "debug")))
    loop.call_later(5, seen.append, "made without, run with")
    loop.call_later(6, loop.set_debug, False)
    loop.call_later(7, loop.stop)
    loop.run_forever()
    loop.close()
    assert [item for item in seen if isinstance(item, str)] == ["plain", "debug", "made without, run with"]
    assert before._source_traceback is None


def test_python_dev_mode():
    program = """
import asyncio, horae
async def main():
    loop = asyncio.get_running_loop()
    assert loop.get_debug()
    await asyncio.gather(*(asyncio.sleep(0.001 * i) for i in range(10)))
    await asyncio.to_thread(print, "fine")
horae.run(main())
"""
    run = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "fine\n", "")


def test_unclosed_loop_warns(recwarn):
    import gc

    loop = horae.new_event_loop()
    loop.call_later(100, nothing)
    del loop
    gc.collect()
    assert any("unclosed event loop" in str(warning.message) for warning in recwarn)


def test_coroutine_origin_tracking():
    async def main():
        return sys.get_coroutine_origin_tracking_depth()

    assert horae.run(main(), debug=True) == asyncio.constants.DEBUG_STACK_DEPTH
    assert horae.run(main()) == 0
