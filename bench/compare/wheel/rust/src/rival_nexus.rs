//! nexus-timer: a hierarchical wheel of intrusive lists, 1 ms ticks.
//!
//! At its best: the bounded wheel, whose storage is allocated up front, and poll_and_rebalance, the call its manual
//! recommends for steady polling. Its user has to give back the handle of a timer that fired, so that is done here
//! for each. What it promises less than we do: see bench/README.md.

use crate::workload::*;
use nexus_timer::{BoundedWheel, TimerHandle};
use std::time::{Duration, Instant};

pub struct Nexus {
    epoch: Instant,
    wheel: BoundedWheel<Payload>,
    fired: Vec<Payload>,
}

impl Nexus {
    fn instant(&self, ns: i64) -> Instant {
        self.epoch + Duration::from_nanos((ns - START_NS) as u64)
    }
}

impl Rival for Nexus {
    type Handle = TimerHandle<Payload>;

    fn info() -> Info {
        Info {
            name: "nexus-timer",
            version: "1.5.0",
            resolution: "1 ms",
            handle_bytes: std::mem::size_of::<Self::Handle>(),
            exact: true,
            no_next: None,
            no_jump: None,
        }
    }

    fn new(capacity: usize) -> Self {
        let epoch = Instant::now();
        Nexus {
            epoch,
            wheel: BoundedWheel::bounded(capacity, epoch),
            fired: Vec::new(),
        }
    }

    fn schedule(&mut self, deadline_ns: i64, payload: Payload) -> Self::Handle {
        let when = self.instant(deadline_ns);
        self.wheel.schedule(when, payload)
    }

    fn cancel(&mut self, handle: Self::Handle) -> bool {
        self.wheel.cancel(handle).is_some()
    }

    fn rearm(&mut self, handle: Self::Handle, deadline_ns: i64) -> Self::Handle {
        let when = self.instant(deadline_ns);
        self.wheel.reschedule(handle, when)
    }

    fn advance(
        &mut self,
        now_ns: i64,
        handles: &mut [Option<Self::Handle>],
        mut on_fire: impl FnMut(Payload),
    ) {
        let now = self.instant(now_ns);
        self.wheel.poll_and_rebalance(now, &mut self.fired);
        for payload in self.fired.drain(..) {
            if let Some(handle) = handles[payload.tag].take() {
                self.wheel.free(handle);
            }
            on_fire(payload);
        }
    }

    fn next_deadline(&mut self) -> i64 {
        let next = self.wheel.next_deadline().unwrap();
        (next - self.epoch).as_nanos() as i64 + START_NS
    }
}
