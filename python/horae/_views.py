# SPDX-License-Identifier: Apache-2.0
"""asyncio's private attributes, as views of the native structures, for code that looks at them."""

import selectors
from collections.abc import Mapping


class ReadyView:
    """loop._ready: the handles that run in the next turn."""

    def __init__(self, loop):
        self._loop = loop

    def __len__(self):
        return len(self._loop._ready_list())

    def __iter__(self):
        return iter(self._loop._ready_list())

    def __getitem__(self, index):
        return self._loop._ready_list()[index]

    def append(self, handle):
        self._loop._add_callback(handle)

    def clear(self):
        self._loop._clear_ready()

    def __repr__(self):
        return repr(self._loop._ready_list())


class ScheduledView:
    """loop._scheduled: the pending timers, soonest first."""

    def __init__(self, loop):
        self._loop = loop

    def _sorted(self):
        return sorted(self._loop._scheduled_list(), key=lambda handle: handle.when())

    def __len__(self):
        return len(self._loop._scheduled_list())

    def __iter__(self):
        return iter(self._sorted())

    def __getitem__(self, index):
        return self._sorted()[index]

    def clear(self):
        self._loop._clear_scheduled()

    def __repr__(self):
        return repr(self._sorted())


class _WatchedMap(Mapping):
    def __init__(self, loop):
        self._loop = loop

    def _keys(self):
        return {
            file: selectors.SelectorKey(file, fd, mask, (reader, writer))
            for file, fd, mask, reader, writer in self._loop._watched()
        }

    def __len__(self):
        return len(self._loop._watched())

    def __iter__(self):
        return iter(self._keys())

    def __getitem__(self, file):
        fd = file if isinstance(file, int) else file.fileno()
        for key in self._keys().values():
            if key.fd == fd:
                return key
        raise KeyError(f"{file!r} is not registered")


class EpollView(selectors.BaseSelector):
    """loop._selector: what the loop's own epoll set watches. Registering goes through the loop."""

    def __init__(self, loop):
        self._loop = loop

    def _refuse(self, *args, **kwargs):
        raise NotImplementedError("use loop.add_reader() and loop.add_writer(): the epoll set is the loop's own")

    register = unregister = modify = select = _refuse

    def get_map(self):
        return _WatchedMap(self._loop)

    def close(self):
        self._loop._close_native()
