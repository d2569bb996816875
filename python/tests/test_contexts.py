# SPDX-License-Identifier: Apache-2.0
"""contextvars: handles share snapshots inside, and nobody can tell."""
import asyncio
import contextvars

import pytest

import horae
from horae import _core

variable = contextvars.ContextVar("variable", default="unset")


def test_sharing_is_in_force_on_this_python():
    assert _core.shares_contexts


def test_each_handle_sees_the_context_it_was_made_in(either, ):
    loop, seen = either, []

    def look(name):
        seen.append((name, variable.get()))

    loop.call_soon(look, "before")
    token = variable.set("first")
    loop.call_soon(look, "first")
    loop.call_later(0, look, "timer")
    variable.set("second")
    loop.call_soon(look, "second")
    variable.reset(token)
    loop.call_soon(look, "after")
    loop.call_later(0.001, loop.stop)
    loop.run_forever()
    assert dict(seen) == {"before": "unset", "first": "first", "timer": "first", "second": "second", "after": "unset"}
    assert variable.get() == "unset"


def test_what_one_callback_sets_no_other_sees(either):
    loop, seen = either, []

    def change(value):
        seen.append(variable.get())
        variable.set(value)
        loop.call_soon(seen.append, "child") if value == 2 else None

    for value in range(5):
        loop.call_soon(change, value)
    loop.call_soon(loop.call_soon, loop.stop)
    loop.run_forever()
    assert seen == ["unset"] * 5 + ["child"]
    assert variable.get() == "unset"


def test_what_a_callback_set_is_inherited_by_what_it_schedules(either):
    loop, seen = either, []

    def parent():
        variable.set("from parent")
        loop.call_soon(lambda: seen.append(variable.get()))
        loop.call_later(0, lambda: seen.append(variable.get()))
        loop.call_later(0.001, loop.stop)

    loop.call_soon(parent)
    loop.call_soon(lambda: seen.append(variable.get()))
    loop.run_forever()
    assert sorted(seen) == ["from parent", "from parent", "unset"]


def test_an_explicit_context_is_used_itself(either):
    context = contextvars.copy_context()
    either.call_soon(variable.set, "kept", context=context)
    either.call_later(0, variable.set, "kept", context=context)
    either.call_later(0.001, either.stop)
    either.run_forever()
    assert context[variable] == "kept" and variable.get() == "unset"


@pytest.mark.parametrize("kind", ["soon", "later"])
def test_the_context_of_a_handle_is_its_own(loop, turn, kind):
    make = loop.call_soon if kind == "soon" else lambda *a: loop.call_later(0, *a)
    seen = []
    handles = [make(lambda: seen.append(variable.get())) for _ in range(3)]
    handles[1].get_context().run(variable.set, "meddled")
    assert handles[1]._context is handles[1].get_context()
    assert handles[0].get_context() is not handles[2].get_context()
    turn(), turn()
    assert seen == ["unset", "meddled", "unset"]


def test_the_same_context_twice_at_once_is_an_error_as_in_asyncio(either):
    context, errors = contextvars.copy_context(), []
    either.set_exception_handler(lambda loop, given: errors.append(given))

    def nested():
        inner = horae.new_event_loop()
        inner.set_exception_handler(lambda loop, given: errors.append(given))
        inner.call_soon(lambda: None, context=context)
        inner.call_soon(inner.stop)
        asyncio._set_running_loop(None)
        try:
            inner.run_forever()
        finally:
            asyncio._set_running_loop(either)
            inner.close()

    either.call_soon(nested, context=context)
    either.call_soon(either.stop)
    either.run_forever()
    assert len(errors) == 1 and isinstance(errors[0]["exception"], RuntimeError)
    assert "cannot enter context" in str(errors[0]["exception"])


def test_tasks_inherit_and_keep(horae_run):
    async def child():
        before = variable.get()
        variable.set("child")
        await asyncio.sleep(1)
        return before, variable.get()

    async def main():
        variable.set("main")
        results = await asyncio.gather(child(), child())
        return results, variable.get()

    assert horae_run(main()) == ([("main", "child")] * 2, "main")


def test_a_reader_keeps_its_context_from_call_to_call(loop):
    import socket

    left, right = socket.socketpair()
    seen = []

    def read():
        seen.append(variable.get())
        variable.set(f"read {len(seen)}")
        left.recv(1)
        if len(seen) == 3:
            loop.stop()

    loop.add_reader(left, read)
    right.send(b"abc")
    loop.run_forever()
    loop.remove_reader(left)
    left.close(), right.close()
    assert seen == ["unset", "read 1", "read 2"]
