# SPDX-License-Identifier: Apache-2.0
"""Horae: an event loop for asyncio with the best timers anywhere.

    import horae
    horae.run(main())        # instead of asyncio.run(main())
"""

import asyncio
import sys

from ._core import VirtualClock, version as __version__
from ._loop import EventLoop, new_event_loop

__all__ = ["EventLoop", "VirtualClock", "install", "new_event_loop", "run"]


def run(main, *, debug=None, loop_factory=new_event_loop):
    """Run the coroutine on a new Horae loop and return its result, like asyncio.run()."""
    with asyncio.Runner(debug=debug, loop_factory=loop_factory) as runner:
        return runner.run(main)


if sys.version_info < (3, 16):

    def install():
        """Make Horae the default loop of asyncio, by an event loop policy.

        Python 3.14 deprecates policies and 3.16 has none: prefer run() or asyncio.Runner.
        """
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)

            class EventLoopPolicy(asyncio.DefaultEventLoopPolicy):
                _loop_factory = EventLoop

            asyncio.set_event_loop_policy(EventLoopPolicy())
