//! Runs the workloads of one rival at one size, once, and prints one JSON object per line, like main.cpp.
//!
//!   wheel-bench --list
//!   wheel-bench RIVAL SIZE ROUND [--only WORKLOAD] [--budget SECONDS] [--operations N]

mod chain;
mod rival_bitwheel;
mod rival_nexus;
mod rival_tokio;
mod workload;

use chain::Chain;
use rival_bitwheel::Bit;
use rival_nexus::Nexus;
use rival_tokio::TokioRival;
use std::io::Write;
use workload::*;

fn print_info(info: Info) {
    println!(
        "{{\"rival\":\"{}\",\"version\":\"{}\",\"language\":\"Rust\",\"resolution\":\"{}\",\"handle_bytes\":{}}}",
        info.name, info.version, info.resolution, info.handle_bytes
    );
}

fn not_available(why: &'static str) -> Vec<Row> {
    ["schedule", "rearm", "cancel", "expire", "churn", "next", "jump"]
        .iter()
        .map(|workload| Row {
            workload,
            figure: Figure::NotAvailable(why),
            facts: String::new(),
        })
        .collect()
}

fn run(rival: &str, settings: Settings) -> Option<Vec<Row>> {
    match (rival, settings.size) {
        ("Tokio", _) => Some(Chain::<TokioRival>::new(settings).run()),
        ("nexus-timer", _) => Some(Chain::<Nexus>::new(settings).run()),
        // A slot of the third gear is 4 s wide and takes 7 % of timers spread over a minute.
        ("bitwheel", 0..=1_000) => Some(Chain::<Bit<128>>::new(settings).run()),
        ("bitwheel", 1_001..=10_000) => Some(Chain::<Bit<1_024>>::new(settings).run()),
        ("bitwheel", 10_001..=100_000) => Some(Chain::<Bit<8_192>>::new(settings).run()),
        ("bitwheel", 100_001..=1_000_000) => Some(Chain::<Bit<81_920>>::new(settings).run()),
        ("bitwheel", _) => Some(not_available("its slots, sized for the fullest, would need 8 GB")),
        _ => None,
    }
}

fn usage() -> ! {
    eprintln!("usage: wheel-bench --list");
    eprintln!("       wheel-bench RIVAL SIZE ROUND [--only WORKLOAD] [--budget SECONDS] [--operations N]");
    std::process::exit(2)
}

fn settings(arguments: &[String]) -> Option<Settings> {
    let mut settings = Settings {
        size: arguments.get(1)?.parse().ok()?,
        round: arguments.get(2)?.parse().ok()?,
        budget_seconds: 1.0,
        max_operations: 1_000_000,
        only: String::new(),
    };
    for pair in arguments[3..].chunks(2) {
        match (pair[0].as_str(), pair.get(1)?) {
            ("--only", value) => settings.only = value.clone(),
            ("--budget", value) => settings.budget_seconds = value.parse().ok()?,
            ("--operations", value) => settings.max_operations = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(settings)
}

fn measure(arguments: Vec<String>) {
    let Some(settings) = settings(&arguments) else {
        usage()
    };
    let (rival, size, round, only) = (
        &arguments[0],
        settings.size,
        settings.round,
        settings.only.clone(),
    );
    let Some(rows) = run(rival, settings) else {
        eprintln!("wheel-bench: there is no rival '{rival}' here (--list)");
        std::process::exit(2)
    };
    for row in rows.iter().filter(|row| only.is_empty() || row.workload == only) {
        print!(
            "{{\"rival\":\"{rival}\",\"workload\":\"{}\",\"size\":{size},\"round\":{round}",
            row.workload
        );
        match row.figure {
            Figure::Measured { operations, seconds } => {
                let each = seconds * 1e9 / operations.max(1) as f64;
                println!(
                    ",\"operations\":{operations},\"ns_per_op\":{each:.4}{}}}",
                    row.facts
                );
            }
            Figure::NotAvailable(why) => println!(",\"not_available\":\"{why}\"}}"),
        }
    }
    std::io::stdout().flush().unwrap();
    std::process::exit(0) // taking ten million timers down again would only cost time
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--list"] {
        for info in [TokioRival::info(), Nexus::info(), Bit::<128>::info()] {
            print_info(info);
        }
        return;
    }
    keep_pages();
    // bitwheel builds its slots on the stack.
    let worker = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || measure(arguments));
    worker.unwrap().join().unwrap();
}
