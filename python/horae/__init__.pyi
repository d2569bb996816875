import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterable
from contextvars import Context
from typing import Any, TypedDict, TypeVar
from typing_extensions import TypeVarTuple, Unpack

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

__all__ = ["EventLoop", "VirtualClock", "install", "new_event_loop", "run"]
__version__: str

class Metrics(TypedDict):
    pending: int
    ready: int
    fired: int
    cancelled: int
    callbacks: int
    turns: int
    polls: int
    sleeps: int
    wakes: int
    busy: float
    idle: float
    longest_turn: float
    longest_callback: float | None
    worst_lateness: float
    lateness: dict[float, int]
    wheel_bytes: int
    wheel_stale: int

class VirtualClock:
    def __new__(cls, start: float = 0.0, *, auto_advance: bool = True) -> VirtualClock: ...
    auto_advance: bool
    def time(self) -> float: ...
    def time_ns(self) -> int: ...
    def advance(self, seconds: float, /) -> None: ...
    def advance_to(self, time: float, /) -> None: ...

class EventLoop(asyncio.SelectorEventLoop):
    timer_slack: float
    measure_callbacks: bool
    def __init__(
        self,
        selector: selectors.BaseSelector | None = None,
        *,
        clock: VirtualClock | None = None,
        timer_slack: float = ...,
    ) -> None: ...
    def call_later_many(
        self,
        delays: Iterable[float],
        callback: Callable[[Unpack[_Ts]], object],
        *args: Unpack[_Ts],
        context: Context | None = None,
    ) -> list[asyncio.TimerHandle]: ...
    def cancel_many(self, handles: Iterable[asyncio.Handle], /) -> int: ...
    def metrics(self) -> Metrics: ...

def new_event_loop() -> EventLoop: ...
def run(
    main: Coroutine[Any, Any, _T],
    *,
    debug: bool | None = None,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] = ...,
) -> _T: ...
def install() -> None: ...
