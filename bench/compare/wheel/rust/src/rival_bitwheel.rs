//! bitwheel: 64-slot gears of fixed-size slots, no cascades, 1 ms ticks.
//!
//! A slot holds SLOT_CAP timers, fixed at compile time, so there is one instance per size, with slots large enough
//! for a uniform load; what does not fit goes to the BTreeMap of its failover variant, so that no timer is lost.
//! Four gears, as three reach 4 minutes only. Re-arming is cancel and insert: it has no call of its own.
//! What it promises less than we do: see bench/README.md.

use crate::workload::*;
use bitwheel::timer::{BitWheelWithFailover, Timer, TimerHandle};
use std::time::{Duration, Instant};

struct Entry(Payload);

impl Timer for Entry {
    type Context = Vec<Payload>;
    fn fire(&mut self, fired: &mut Vec<Payload>) {
        fired.push(self.0);
    }
}

pub struct Bit<const SLOT_CAP: usize> {
    epoch: Instant,
    wheel: Box<BitWheelWithFailover<Entry, 4, 1, SLOT_CAP, 2>>,
    fired: Vec<Payload>,
}

impl<const SLOT_CAP: usize> Bit<SLOT_CAP> {
    fn instant(&self, ns: i64) -> Instant {
        self.epoch + Duration::from_nanos((ns - START_NS) as u64)
    }
}

impl<const SLOT_CAP: usize> Rival for Bit<SLOT_CAP> {
    type Handle = TimerHandle;

    fn info() -> Info {
        Info {
            name: "bitwheel",
            version: "0.6.0",
            resolution: "1 ms up to 64 ms ahead, then 64 ms, 4 s, 4 min",
            handle_bytes: std::mem::size_of::<TimerHandle>(),
            exact: false,
            no_next: None,
            no_jump: Some("poll walks every tick in between, 3e11 of them"),
        }
    }

    fn new(_: usize) -> Self {
        let epoch = Instant::now();
        Bit {
            epoch,
            wheel: BitWheelWithFailover::boxed_with_epoch(epoch),
            fired: Vec::new(),
        }
    }

    fn schedule(&mut self, deadline_ns: i64, payload: Payload) -> TimerHandle {
        let when = self.instant(deadline_ns);
        self.wheel.insert(when, Entry(payload))
    }

    fn cancel(&mut self, handle: TimerHandle) -> bool {
        self.wheel.cancel(handle).is_some()
    }

    fn rearm(&mut self, handle: TimerHandle, deadline_ns: i64) -> TimerHandle {
        let when = self.instant(deadline_ns);
        let entry = self.wheel.cancel(handle).unwrap();
        self.wheel.insert(when, entry)
    }

    fn advance(
        &mut self,
        now_ns: i64,
        handles: &mut [Option<TimerHandle>],
        mut on_fire: impl FnMut(Payload),
    ) {
        let now = self.instant(now_ns);
        self.wheel.poll(now, &mut self.fired);
        for payload in self.fired.drain(..) {
            handles[payload.tag] = None;
            on_fire(payload);
        }
    }

    fn next_deadline(&mut self) -> i64 {
        let next = self.wheel.peek_next_fire().unwrap();
        (next - self.epoch).as_nanos() as i64 + START_NS
    }

    fn facts(&self) -> String {
        format!(",\"in_failover\":{}", self.wheel.failover_len())
    }
}
