//! The Rust side of chain.hpp: the same workloads in the same order with the same random numbers.

use crate::workload::*;
use std::hint::black_box;
use std::time::Instant;

/// As in chain.hpp: of a thousand pending timers churn cancels this many per millisecond.
const CHURN_PERMILLE_PER_MS: u64 = 170;

pub struct Chain<R: Rival> {
    settings: Settings,
    info: Info,
    random: SplitMix64,
    // Declared before the rival: handles go first, as their users would have it.
    handles: Vec<Option<R::Handle>>,
    deadlines: Vec<i64>,
    missing: Vec<usize>,
    rival: Option<R>,
    rows: Vec<Row>,
    now: i64,
}

fn check(ok: bool, rival: &str, what: &str, got: u64, expected: u64) {
    if !ok {
        eprintln!("wheel-bench: {rival}: {what}: got {got}, expected {expected}");
        std::process::exit(3);
    }
}

impl<R: Rival> Chain<R> {
    pub fn new(settings: Settings) -> Self {
        let size = settings.size;
        Chain {
            random: SplitMix64(0),
            settings,
            info: R::info(),
            handles: (0..size).map(|_| None).collect(),
            deadlines: vec![0; size],
            missing: Vec::with_capacity(size),
            rival: None,
            rows: Vec::new(),
            now: START_NS,
        }
    }

    pub fn run(mut self) -> Vec<Row> {
        if ["cancel", "schedule", "next", "jump"]
            .iter()
            .any(|name| self.wanted(name))
        {
            let before = heap_bytes();
            self.start(1);
            self.fill();
            let bytes = (heap_bytes() - before) as f64 / self.settings.size as f64;
            self.cancel_and_schedule(bytes);
            if self.wanted("next") {
                self.next_deadline();
            }
            if self.wanted("jump") {
                self.jump();
            }
        }
        if self.wanted("expire") {
            self.expire();
        }
        if self.wanted("rearm") {
            self.rearm();
        }
        if self.wanted("churn") {
            self.churn();
        }
        std::mem::take(&mut self.rows)
    }

    fn wanted(&self, workload: &str) -> bool {
        self.settings.only.is_empty() || self.settings.only == workload
    }

    fn repeats(&self, operations: usize, most: usize) -> usize {
        (operations / self.settings.size).clamp(1, most)
    }

    /// `phase` seeds the random numbers, so that a workload sees the same ones whatever ran before it.
    fn start(&mut self, phase: u64) {
        self.random = SplitMix64((self.settings.round << 32) + (phase << 24) + self.settings.size as u64);
        self.drop_handles();
        self.rival = None;
        self.now = START_NS;
        self.rival = Some(R::new(self.settings.size));
    }

    /// Handles of timers that are gone with their wheel, or have fired. Not run through their destructors: one
    /// rival's complains when it is not given back, which only a wheel that still exists can take.
    fn drop_handles(&mut self) {
        for handle in &mut self.handles {
            std::mem::forget(handle.take());
        }
    }

    fn arm(&mut self, k: usize, deadline: i64) {
        let payload = Payload {
            deadline_ns: deadline,
            tag: k,
        };
        let handle = self.rival.as_mut().unwrap().schedule(deadline, payload);
        // The place is empty: no destructor to run.
        unsafe { std::ptr::write(&mut self.handles[k], Some(handle)) };
    }

    /// Arms every timer that is not pending; returns the seconds it took.
    fn fill(&mut self) -> f64 {
        let range = (60 * SECOND - 10 * MS) as u64;
        self.missing.clear();
        for k in 0..self.handles.len() {
            if self.handles[k].is_none() {
                self.missing.push(k);
                self.deadlines[k] = self.now + 10 * MS + self.random.below(range) as i64;
            }
        }
        let missing = std::mem::take(&mut self.missing);
        let begin = cpu_seconds();
        for &k in &missing {
            self.arm(k, self.deadlines[k]);
        }
        let seconds = cpu_seconds() - begin;
        self.missing = missing;
        seconds
    }

    /// Runs `step` (which does up to `stride` operations) until `operations` are done or the budget is used up.
    fn timed(
        &mut self,
        operations: usize,
        stride: usize,
        mut step: impl FnMut(&mut Self, usize, usize),
    ) -> (usize, f64) {
        let mut done = 0;
        let (wall, begin) = (Instant::now(), cpu_seconds());
        while done < operations && wall.elapsed().as_secs_f64() < self.settings.budget_seconds {
            let count = stride.min(operations - done);
            step(self, done, count);
            done += count;
        }
        (done, cpu_seconds() - begin)
    }

    fn add(&mut self, workload: &'static str, operations: u64, seconds: f64, facts: String) {
        self.rows.push(Row {
            workload,
            figure: Figure::Measured { operations, seconds },
            facts,
        });
    }

    fn cancel_and_schedule(&mut self, bytes: f64) {
        let mut order: Vec<usize> = (0..self.handles.len()).collect();
        let mut shuffled: Vec<Option<R::Handle>> = Vec::with_capacity(order.len());
        let (mut operations, mut cancel_seconds, mut schedule_seconds) = (0, 0.0, 0.0);
        for _ in 0..self.repeats(200_000, 100) {
            for i in (1..order.len()).rev() {
                order.swap(i, self.random.below(i as u64 + 1) as usize);
            }
            // The harness's own cache misses stay outside: the handles lie in the order they are used in.
            shuffled.clear();
            shuffled.extend(order.iter().map(|&k| self.handles[k].take()));
            let mut cancelled = 0;
            let (done, seconds) = self.timed(order.len(), 10_000, |chain, at, count| {
                let rival = chain.rival.as_mut().unwrap();
                for place in &mut shuffled[at..at + count] {
                    cancelled += rival.cancel(place.take().unwrap()) as usize;
                }
            });
            check(
                cancelled == done,
                self.info.name,
                "cancelled",
                cancelled as u64,
                done as u64,
            );
            for (i, place) in shuffled.iter_mut().enumerate().skip(done) {
                self.handles[order[i]] = place.take();
            }
            operations += done as u64;
            cancel_seconds += seconds;
            schedule_seconds += self.fill();
        }
        if self.wanted("cancel") {
            self.add("cancel", operations, cancel_seconds, String::new());
        }
        if self.wanted("schedule") {
            let facts = format!(
                ",\"bytes_per_timer\":{bytes:.6}{}",
                self.rival.as_ref().unwrap().facts()
            );
            self.add("schedule", operations, schedule_seconds, facts);
        }
    }

    fn next_deadline(&mut self) {
        if let Some(why) = self.info.no_next {
            self.rows.push(Row {
                workload: "next",
                figure: Figure::NotAvailable(why),
                facts: String::new(),
            });
            return;
        }
        let mut sum = 0;
        let (done, seconds) = self.timed(1_000_000, 10_000, |chain, _, count| {
            let rival = chain.rival.as_mut().unwrap();
            for _ in 0..count {
                sum += black_box(&mut *rival).next_deadline() & 1;
                black_box(sum);
            }
        });
        let truth = *self.deadlines.iter().min().unwrap();
        let said = self.rival.as_mut().unwrap().next_deadline();
        check(
            said <= truth + MS,
            self.info.name,
            "next deadline",
            said as u64,
            truth as u64,
        );
        self.add(
            "next",
            done as u64,
            seconds,
            format!(",\"early_by_ns\":{}", truth - said),
        );
    }

    fn jump(&mut self) {
        if let Some(why) = self.info.no_jump {
            self.rows.push(Row {
                workload: "jump",
                figure: Figure::NotAvailable(why),
                facts: String::new(),
            });
            return;
        }
        let (mut operations, mut total) = (0, 0.0);
        let repeats = self.repeats(200_000, 20);
        for repeat in 0..repeats {
            let mut fired = 0;
            self.now += TEN_YEARS;
            let begin = cpu_seconds();
            self.rival
                .as_mut()
                .unwrap()
                .advance(self.now, &mut self.handles, |payload| {
                    black_box(payload);
                    fired += 1;
                });
            total += cpu_seconds() - begin;
            check(
                fired == self.handles.len(),
                self.info.name,
                "fired by the jump",
                fired as u64,
                self.handles.len() as u64,
            );
            operations += fired as u64;
            self.drop_handles();
            if repeat + 1 < repeats {
                self.fill();
            }
        }
        self.add("jump", operations, total, String::new());
    }

    fn expire(&mut self) {
        let (mut operations, mut steps, mut early, mut late, mut disorder) = (0, 0, 0u64, 0u64, 0u64);
        let mut total = 0.0;
        for repeat in (1..=self.repeats(20_000, 10)).rev() {
            self.start(10 + repeat as u64);
            self.fill();
            let (mut fired, mut last) = (0u64, 0);
            let mut consume = |now: i64, payload: Payload| {
                fired += 1;
                early += (payload.deadline_ns > now) as u64;
                late += (payload.deadline_ns + MS <= now) as u64;
                disorder += (payload.deadline_ns < last) as u64;
                last = payload.deadline_ns;
            };
            let (done, seconds) = self.timed(60_000, 100, |chain, _, count| {
                let rival = chain.rival.as_mut().unwrap();
                rival.step(&mut chain.now, count, &mut chain.handles, &mut consume);
            });
            if !self.info.exact && done == 60_000 {
                let rival = self.rival.as_mut().unwrap(); // late ones, outside the measurement
                rival.step(&mut self.now, 60_000, &mut self.handles, &mut consume);
            }
            let due = self.deadlines.iter().filter(|&&d| d <= self.now).count() as u64;
            check(
                fired == due || (!self.info.exact && done < 60_000),
                self.info.name,
                "expired",
                fired,
                due,
            );
            operations += fired;
            steps += done;
            total += seconds;
        }
        check(
            early == 0 || !self.info.exact,
            self.info.name,
            "fired too early",
            early,
            0,
        );
        let facts =
            format!(",\"early\":{early},\"late\":{late},\"out_of_order\":{disorder},\"steps\":{steps}");
        self.add("expire", operations, total, facts);
    }

    fn picks(&mut self, count: usize) -> Vec<u32> {
        let size = self.handles.len() as u64;
        (0..count).map(|_| self.random.below(size) as u32).collect()
    }

    fn rearm(&mut self) {
        self.start(2);
        self.fill();
        let picks = self.picks(self.settings.max_operations);
        let mut fired = Vec::with_capacity(self.handles.len());
        let mut total_fired = 0;
        let (done, seconds) = self.timed(picks.len(), 1_000, |chain, at, count| {
            let deadline = chain.now + 30 * SECOND;
            for &pick in &picks[at..at + count] {
                let k = pick as usize;
                match chain.handles[k].take() {
                    Some(handle) => {
                        let handle = chain.rival.as_mut().unwrap().rearm(handle, deadline);
                        unsafe { std::ptr::write(&mut chain.handles[k], Some(handle)) };
                    }
                    None => chain.arm(k, deadline),
                }
            }
            chain.now += MS;
            chain
                .rival
                .as_mut()
                .unwrap()
                .advance(chain.now, &mut chain.handles, |payload| fired.push(payload.tag));
            total_fired += fired.len();
            for k in fired.drain(..) {
                std::mem::forget(chain.handles[k].take());
            }
        });
        let facts = format!(",\"fired\":{total_fired}{}", self.rival.as_ref().unwrap().facts());
        self.add("rearm", done as u64, seconds, facts);
    }

    /// 1 ms .. 1 h in whole milliseconds, so that coarse rivals fire in the same step as exact ones.
    fn churn_duration_ms(&mut self) -> i64 {
        loop {
            let octave = 1u64 << self.random.below(22);
            let duration = octave + self.random.below(octave);
            if duration <= 3_600_000 {
                return duration as i64;
            }
        }
    }

    /// See chain.hpp: what is left of a timer met in the steady state.
    fn churn_rest_ms(&mut self) -> i64 {
        loop {
            let mut age = 0;
            while self.random.below(1000) >= CHURN_PERMILLE_PER_MS {
                age += 1;
            }
            let duration = self.churn_duration_ms();
            if age < duration {
                return duration - age;
            }
        }
    }

    fn churn(&mut self) {
        self.start(3);
        let size = self.handles.len();
        let rests: Vec<i64> = (0..4096).map(|_| self.churn_rest_ms() * MS).collect();
        let durations: Vec<i64> = (0..4096).map(|_| self.churn_duration_ms() * MS).collect();
        for k in 0..size {
            self.arm(k, self.now + rests[(k * 31) & 4095]);
        }
        let per_ms = (size as u64 * CHURN_PERMILLE_PER_MS / 1000).max(1) as usize;
        let picks = self.picks(self.settings.max_operations.max(per_ms));
        let mut dead: Vec<u32> = Vec::with_capacity(size);
        let (mut tick, mut cancelled, mut fired) = (0usize, 0usize, 0usize);
        let (done, seconds) = self.timed(picks.len(), per_ms, |chain, at, count| {
            for &pick in &picks[at..at + count] {
                let k = pick as usize;
                let handle = chain.handles[k].take().unwrap();
                cancelled += chain.rival.as_mut().unwrap().cancel(handle) as usize;
                chain.arm(k, chain.now + durations[(k * 31 + tick * 17) & 4095]);
            }
            chain.now += MS;
            tick += 1;
            chain
                .rival
                .as_mut()
                .unwrap()
                .advance(chain.now, &mut chain.handles, |payload| {
                    dead.push(payload.tag as u32)
                });
            fired += dead.len();
            for k in dead.drain(..) {
                let k = k as usize;
                std::mem::forget(chain.handles[k].take());
                chain.arm(k, chain.now + durations[(k * 31 + tick * 17) & 4095]);
            }
        });
        check(
            cancelled == done,
            self.info.name,
            "cancelled in churn",
            cancelled as u64,
            done as u64,
        );
        if size <= 1_000_000 {
            let mut rest = 0;
            self.now += 2 * 3_600 * SECOND;
            self.rival
                .as_mut()
                .unwrap()
                .advance(self.now, &mut self.handles, |_| rest += 1);
            check(
                rest == size,
                self.info.name,
                "left pending by churn",
                rest as u64,
                size as u64,
            );
        }
        let facts = format!(
            ",\"fired\":{fired},\"cancelled\":{cancelled}{}",
            self.rival.as_ref().unwrap().facts()
        );
        self.add("churn", (cancelled + fired) as u64, seconds, facts);
    }
}
