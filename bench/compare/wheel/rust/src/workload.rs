//! The Rust side of workload.hpp: the interface of a rival, and the random numbers all of them share.

pub const MS: i64 = 1_000_000;
pub const SECOND: i64 = 1_000 * MS;
pub const START_NS: i64 = 3_600 * SECOND;
pub const TEN_YEARS: i64 = 3_652 * 86_400 * SECOND;

/// What every timer carries: 16 bytes.
#[derive(Clone, Copy)]
pub struct Payload {
    pub deadline_ns: i64,
    pub tag: usize,
}

pub struct Info {
    pub name: &'static str,
    pub version: &'static str,
    pub resolution: &'static str,
    pub handle_bytes: usize,
    /// Fires each timer in the first step at or after its deadline. If not, counts are checked at the end only.
    pub exact: bool,
    /// Reasons why a workload cannot be run.
    pub no_next: Option<&'static str>,
    pub no_jump: Option<&'static str>,
}

pub trait Rival {
    type Handle;
    fn info() -> Info;
    fn new(capacity: usize) -> Self;
    fn schedule(&mut self, deadline_ns: i64, payload: Payload) -> Self::Handle;
    fn cancel(&mut self, handle: Self::Handle) -> bool;
    fn rearm(&mut self, handle: Self::Handle, deadline_ns: i64) -> Self::Handle;
    /// Calls `on_fire` for each timer that fires. `handles` holds each timer's handle at its tag, for rivals whose
    /// users have to give it back.
    fn advance(&mut self, now_ns: i64, handles: &mut [Option<Self::Handle>], on_fire: impl FnMut(Payload));
    /// Advances by 1 ms `count` times. A rival may have a cheaper way than one call after another.
    fn step(
        &mut self,
        now_ns: &mut i64,
        count: usize,
        handles: &mut [Option<Self::Handle>],
        mut on_fire: impl FnMut(i64, Payload),
    ) {
        for _ in 0..count {
            *now_ns += MS;
            let now = *now_ns;
            self.advance(now, handles, |payload| on_fire(now, payload));
        }
    }
    fn next_deadline(&mut self) -> i64;
    /// Further JSON members about the state, each with a leading comma.
    fn facts(&self) -> String {
        String::new()
    }
}

/// The same generator in C++ and Rust, so all rivals see the same deadlines.
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

pub struct Settings {
    pub size: usize,
    pub round: u64,
    pub budget_seconds: f64,
    pub max_operations: usize,
    pub only: String,
}

pub enum Figure {
    Measured { operations: u64, seconds: f64 },
    NotAvailable(&'static str),
}

pub struct Row {
    pub workload: &'static str,
    pub figure: Figure,
    pub facts: String,
}

/// What is reported: time this thread has run, as in C++.
pub fn cpu_seconds() -> f64 {
    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }
    extern "C" {
        fn clock_gettime(clock: i32, out: *mut TimeSpec) -> i32;
    }
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = TimeSpec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the C library's function, declared as on 64-bit Linux; it writes the structure and nothing else.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

/// Everything the heap has handed out, allocator overhead included: the C library's own count, as in C++.
pub fn heap_bytes() -> usize {
    #[repr(C)]
    struct MallInfo2 {
        arena: usize,
        ordblks: usize,
        smblks: usize,
        hblks: usize,
        hblkhd: usize,
        usmblks: usize,
        fsmblks: usize,
        uordblks: usize,
        fordblks: usize,
        keepcost: usize,
    }
    extern "C" {
        fn mallinfo2() -> MallInfo2;
    }
    // SAFETY: glibc's function, declared as in its header; it takes nothing and returns plain numbers.
    let info = unsafe { mallinfo2() };
    info.uordblks + info.hblkhd
}

/// Freed memory stays with the process: no cell pays for the page faults of its first touch.
pub fn keep_pages() {
    extern "C" {
        fn mallopt(parameter: i32, value: i32) -> i32;
    }
    const M_TRIM_THRESHOLD: i32 = -1;
    const M_MMAP_MAX: i32 = -4;
    // SAFETY: glibc's function, called before any other thread is busy.
    unsafe {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, i32::MAX);
    }
}
