// SPDX-License-Identifier: Apache-2.0
//! The workloads of workload.hpp on Tokio. `tokio` is the multi-thread runtime, `tokio-current` the other one.
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::yield_now;

struct Bench {
    rival: &'static str,
    workers: usize,
    only: Option<String>,
}

impl Bench {
    fn runtime(&self) -> Runtime {
        if self.rival == "tokio" {
            Builder::new_multi_thread().worker_threads(self.workers).build().unwrap()
        } else {
            Builder::new_current_thread().build().unwrap()
        }
    }

    fn wanted(&self, name: &str) -> bool {
        self.only.as_deref().map_or(true, |only| only == name)
    }

    fn report(&self, name: &str, operations: usize, nanoseconds: u128, extra: &str) {
        println!(
            "{{\"rival\":\"{}\",\"workload\":\"{}\",\"workers\":{},\"operations\":{},\"ns_per_op\":{:.2}{}}}",
            self.rival, name, self.workers, operations, nanoseconds as f64 / operations as f64, extra
        );
    }

    /// Runs `work` as a task of its own, so that it is on a worker and not on the thread of block_on.
    fn inside<F: Future<Output = u128> + Send + 'static>(&self, name: &str, operations: usize, work: F) {
        if !self.wanted(name) {
            return;
        }
        let rt = self.runtime();
        let elapsed = rt.block_on(async { tokio::spawn(work).await.unwrap() });
        self.report(name, operations, elapsed, "");
    }
}

async fn yields(tasks: usize, each: usize) -> u128 {
    let begin = Instant::now();
    let mut handles = Vec::with_capacity(tasks);
    for _ in 0..tasks {
        handles.push(tokio::spawn(async move {
            for _ in 0..each {
                yield_now().await;
            }
        }));
    }
    for handle in handles {
        handle.await.unwrap();
    }
    begin.elapsed().as_nanos()
}

async fn ping_pong(rounds: usize) -> u128 {
    let (a, b) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (a2, b2) = (a.clone(), b.clone());
    let begin = Instant::now();
    let first = tokio::spawn(async move {
        for _ in 0..rounds {
            a.notify_one();
            b.notified().await;
        }
    });
    let second = tokio::spawn(async move {
        for _ in 0..rounds {
            a2.notified().await;
            b2.notify_one();
        }
    });
    first.await.unwrap();
    second.await.unwrap();
    begin.elapsed().as_nanos()
}

fn fib(n: u32) -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if n < 2 {
            return u64::from(n);
        }
        let left = tokio::spawn(fib(n - 1));
        let right = fib(n - 2).await;
        left.await.unwrap() + right
    })
}

fn spin(mut x: u64) -> u64 {
    x |= 1;
    for _ in 0..500 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn suspended(bench: &Bench, count: usize) {
    if !bench.wanted("wake_1M_suspended") {
        return;
    }
    let rt = bench.runtime();
    let gate = Arc::new(Notify::new());
    let arrived = Arc::new(AtomicUsize::new(0));
    rt.block_on(async {
        let before = resident_bytes();
        let mut handles = Vec::with_capacity(count);
        for _ in 0..count {
            let (gate, arrived) = (gate.clone(), arrived.clone());
            handles.push(tokio::spawn(async move {
                let wait = gate.notified();
                arrived.fetch_add(1, Ordering::Relaxed);
                wait.await;
            }));
        }
        while arrived.load(Ordering::Relaxed) != count {
            yield_now().await;
        }
        for _ in 0..100 {
            yield_now().await;
        }
        let bytes = (resident_bytes() - before) / count;
        let begin = Instant::now();
        gate.notify_waiters();
        for handle in handles {
            handle.await.unwrap();
        }
        bench.report("wake_1M_suspended", count, begin.elapsed().as_nanos(), &format!(",\"bytes\":{bytes}"));
    });
}

fn from_outside(bench: &Bench) {
    if bench.rival == "tokio" && bench.wanted("spawn_outside") {
        let rt = bench.runtime();
        let begin = Instant::now();
        let handles: Vec<_> = (0..100_000).map(|_| rt.spawn(async {})).collect();
        rt.block_on(async {
            for handle in handles {
                handle.await.unwrap();
            }
        });
        bench.report("spawn_outside", 100_000, begin.elapsed().as_nanos(), "");
    }
    if bench.rival == "tokio" && bench.wanted("foreign_wake") {
        let rt = bench.runtime();
        let (to, back) = (Arc::new(Notify::new()), std::sync::mpsc::channel::<()>());
        let (sender, receiver) = back;
        let inner = to.clone();
        rt.spawn(async move {
            loop {
                inner.notified().await;
                if sender.send(()).is_err() {
                    return;
                }
            }
        });
        let rounds = 20_000;
        let begin = Instant::now();
        for _ in 0..rounds {
            to.notify_one();
            receiver.recv().unwrap();
        }
        bench.report("foreign_wake", rounds, begin.elapsed().as_nanos(), "");
        drop(receiver);
        to.notify_one();
    }
}

fn run(bench: &Bench) {
    bench.inside("spawn_join", 300_000, async {
        let begin = Instant::now();
        for _ in 0..300_000 {
            tokio::spawn(async {}).await.unwrap();
        }
        begin.elapsed().as_nanos()
    });
    bench.inside("yield_1", 1_000_000, yields(1, 1_000_000));
    bench.inside("yield_1k", 1_000_000, yields(1_000, 1_000));
    bench.inside("yield_100k", 2_000_000, yields(100_000, 20));
    bench.inside("ping_pong", 300_000, ping_pong(300_000));
    bench.inside("fan_out_in_100k", 100_000, async {
        let begin = Instant::now();
        let handles: Vec<_> = (0..100_000).map(|_| tokio::spawn(async {})).collect();
        for handle in handles {
            handle.await.unwrap();
        }
        begin.elapsed().as_nanos()
    });
    bench.inside("skewed", 20_000, async {
        let begin = Instant::now();
        let handles: Vec<_> = (0..20_000u64).map(|i| tokio::spawn(async move { spin(i) })).collect();
        let mut sum = 0u64;
        for handle in handles {
            sum = sum.wrapping_add(handle.await.unwrap());
        }
        std::hint::black_box(sum);
        begin.elapsed().as_nanos()
    });
    bench.inside("fib_20", 10_945, async {
        let begin = Instant::now();
        assert_eq!(fib(20).await, 6765);
        begin.elapsed().as_nanos()
    });
    bench.inside("cancel_suspended", 100_000, async {
        let mut handles = Vec::with_capacity(100_000);
        for _ in 0..100_000 {
            handles.push(tokio::spawn(std::future::pending::<()>()));
        }
        for _ in 0..200 {
            yield_now().await;
        }
        let begin = Instant::now();
        for handle in &handles {
            handle.abort();
        }
        for handle in handles {
            let _ = handle.await;
        }
        begin.elapsed().as_nanos()
    });
    from_outside(bench);
    suspended(bench, 1_000_000);
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).map(String::as_str) == Some("--list") {
        println!("{{\"rival\":\"tokio\"}}\n{{\"rival\":\"tokio-current\"}}");
        return;
    }
    let only = arguments.iter().position(|a| a == "--only").map(|at| arguments[at + 1].clone());
    let rival = if arguments[1] == "tokio" { "tokio" } else { "tokio-current" };
    for workers in if rival == "tokio" { vec![1, 2] } else { vec![1] } {
        run(&Bench { rival, workers, only: only.clone() });
    }
}
