//! Tokio: Sleep on a current-thread runtime whose clock is paused and moved by hand. Resolution 1 ms, rounded up.
//!
//! At its best: the Sleeps live in storage allocated up front; each is woken through a waker of one pointer, without
//! the reference count a task would have; arming is creating and polling it once (Tokio registers on first poll),
//! re-arming is reset, cancelling is dropping. Expiry is tokio::time::advance, the only way to move its clock: it
//! lets the runtime turn once, which drives the timer wheel and is most of the cost where little is due.

use crate::workload::*;
use std::cell::UnsafeCell;
use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{Instant, Sleep};

pub struct Node {
    sleep: MaybeUninit<Sleep>, // there while armed
    payload: Payload,          // of a free node: the next free one in `tag`
}

thread_local! {
    static FIRED: UnsafeCell<Vec<*mut Node>> = const { UnsafeCell::new(Vec::new()) };
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |node| RawWaker::new(node, &VTABLE),
    // SAFETY: one thread, and nobody holds a reference into the list while timers fire.
    |node| FIRED.with(|fired| unsafe { (*fired.get()).push(node as *mut Node) }),
    |_| unreachable!("Tokio wakes by value"),
    |_| (),
);

pub struct TokioRival {
    epoch: Instant,
    now: i64,
    free: *mut Node,
    // Never dropped while a Sleep is armed: the process ends, or the storage is left behind with its timers.
    nodes: std::mem::ManuallyDrop<Vec<Node>>,
    runtime: std::mem::ManuallyDrop<Rc<Runtime>>,
}

impl TokioRival {
    fn instant(&self, ns: i64) -> Instant {
        self.epoch + Duration::from_nanos((ns - START_NS) as u64)
    }
}

impl Drop for TokioRival {
    fn drop(&mut self) {
        // SAFETY: the runtime goes last to be used: its shutdown fires the timers left, whose nodes still exist.
        unsafe {
            std::mem::ManuallyDrop::drop(&mut self.runtime);
            FIRED.with(|fired| (*fired.get()).clear());
            std::mem::ManuallyDrop::drop(&mut self.nodes);
        }
    }
}

impl Rival for TokioRival {
    type Handle = *mut Node;

    fn info() -> Info {
        Info {
            name: "Tokio",
            version: "1.54.1",
            resolution: "1 ms",
            handle_bytes: 0,
            exact: true,
            no_next: Some("has no call that tells the next deadline"),
            no_jump: None,
        }
    }

    fn new(capacity: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        std::mem::forget(runtime.enter()); // for good: Sleeps are created outside of block_on
        let epoch = Instant::now();
        let mut nodes: Vec<Node> = (0..capacity)
            .map(|_| Node {
                sleep: MaybeUninit::uninit(),
                payload: Payload {
                    deadline_ns: 0,
                    tag: 0,
                },
            })
            .collect();
        let mut free = std::ptr::null_mut();
        for node in nodes.iter_mut().rev() {
            node.payload.tag = free as usize;
            free = node;
        }
        TokioRival {
            epoch,
            now: START_NS,
            free,
            nodes: std::mem::ManuallyDrop::new(nodes),
            runtime: std::mem::ManuallyDrop::new(Rc::new(runtime)),
        }
    }

    fn schedule(&mut self, deadline_ns: i64, payload: Payload) -> *mut Node {
        let deadline = self.instant(deadline_ns);
        let node = self.free;
        // SAFETY: a free node belongs to us alone and does not move; its Sleep stays in place until it is dropped.
        unsafe {
            self.free = (*node).payload.tag as *mut Node;
            (*node).payload = payload;
            (*node).sleep.write(tokio::time::sleep_until(deadline));
            let waker = Waker::from_raw(RawWaker::new(node as *const (), &VTABLE));
            let sleep = Pin::new_unchecked((*node).sleep.assume_init_mut());
            let state = sleep.poll(&mut Context::from_waker(&waker));
            debug_assert!(state == Poll::Pending);
        }
        node
    }

    fn cancel(&mut self, node: *mut Node) -> bool {
        // SAFETY: of a pending timer: its Sleep is there.
        unsafe {
            let pending = !(*node).sleep.assume_init_ref().is_elapsed();
            self.release(node);
            pending
        }
    }

    fn rearm(&mut self, node: *mut Node, deadline_ns: i64) -> *mut Node {
        let deadline = self.instant(deadline_ns);
        // SAFETY: as above.
        unsafe { Pin::new_unchecked((*node).sleep.assume_init_mut()).reset(deadline) };
        node
    }

    fn advance(&mut self, now_ns: i64, _: &mut [Option<*mut Node>], mut on_fire: impl FnMut(Payload)) {
        let step = Duration::from_nanos((now_ns - self.now) as u64);
        self.now = now_ns;
        self.runtime.block_on(tokio::time::advance(step));
        self.deliver(&mut on_fire);
    }

    // In one block_on, whose entry would otherwise cost as much as an idle turn of the runtime.
    fn step(
        &mut self,
        now_ns: &mut i64,
        count: usize,
        _: &mut [Option<*mut Node>],
        mut on_fire: impl FnMut(i64, Payload),
    ) {
        self.runtime.clone().block_on(async {
            for _ in 0..count {
                *now_ns += MS;
                let now = *now_ns;
                tokio::time::advance(Duration::from_nanos(MS as u64)).await;
                self.deliver(&mut |payload| on_fire(now, payload));
            }
            self.now = *now_ns;
        });
    }

    fn next_deadline(&mut self) -> i64 {
        unreachable!("not offered by Tokio")
    }
}

impl TokioRival {
    fn deliver(&mut self, on_fire: &mut impl FnMut(Payload)) {
        let mut fired = FIRED.with(|fired| unsafe { std::mem::take(&mut *fired.get()) });
        for node in fired.drain(..) {
            // SAFETY: fired timers are nobody else's.
            unsafe {
                let payload = (*node).payload;
                self.release(node);
                on_fire(payload);
            }
        }
        FIRED.with(|place| unsafe { *place.get() = fired });
    }

    /// # Safety
    /// The node's Sleep exists.
    unsafe fn release(&mut self, node: *mut Node) {
        (*node).sleep.assume_init_drop();
        (*node).payload.tag = self.free as usize;
        self.free = node;
    }
}
