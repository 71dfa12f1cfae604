//! From nothing to a decision in Rust: `cargo run [PRESET]`.
//!
//! `KAISCHED_LIBRARY` is the path of libkaisched.so while this is built; without it pkg-config is asked.

mod kaisched;
mod sys;

use crate::kaisched::{Cluster, Engine, Result, Rows};
use std::process::ExitCode;

fn small_cluster() -> [Rows; 4] {
    const GIB: i64 = 1 << 30;
    let node = [64_000, 512 * GIB, 8000, 110]; // milli-cores, bytes, milli-GPU, pods
    let pod = |gpus: i64| [8000, 64 * GIB, gpus * 1000];
    [
        Rows::new(sys::TABLE_NODE, 2)
            .texts(sys::NODE_COL_NAME, &["node-1", "node-2"])
            .numbers(sys::NODE_COL_CAPACITY, &[node, node]),
        Rows::new(sys::TABLE_QUEUE, 1).texts(sys::QUEUE_COL_NAME, &["team"]),
        Rows::new(sys::TABLE_POD_GROUP, 2)
            .texts(sys::POD_GROUP_COL_NAME, &["train", "tune"])
            .texts(sys::POD_GROUP_COL_QUEUE, &["team", "team"])
            .numbers(sys::POD_GROUP_COL_MIN_MEMBER, &[[2], [2]]),
        Rows::new(sys::TABLE_POD, 4)
            .texts(sys::POD_COL_NAME, &["train-0", "train-1", "tune-0", "tune-1"])
            .texts(sys::POD_COL_GROUP, &["train", "train", "tune", "tune"])
            .numbers(sys::POD_COL_REQUEST, &[pod(6), pod(6), pod(4), pod(4)]),
    ]
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        sys::DECISION_BIND => "bind",
        sys::DECISION_PIPELINE => "pipeline",
        sys::DECISION_EVICT => "evict",
        sys::DECISION_MOVE => "move",
        sys::DECISION_UNSCHEDULABLE => "unschedulable",
        sys::DECISION_MIGRATE => "migrate",
        sys::DECISION_REPARTITION => "repartition",
        _ => "unknown",
    }
}

fn embed(preset: &str) -> Result<()> {
    let engine = Engine::new(&[("preset", preset)])?;
    let mut cluster = Cluster::new()?;
    cluster.apply(&small_cluster())?;
    let snapshot = cluster.snapshot()?;
    let session = engine.run(&snapshot, 0)?; // no clock inside: time is an argument

    let decisions = session.table(sys::TABLE_DECISION)?;
    for row in 0..decisions.rows() {
        let kind = decisions.byte(sys::DECISION_COL_KIND, row);
        if kind == sys::DECISION_UNSCHEDULABLE {
            continue; // the reasons say more
        }
        let pod = decisions.text(sys::DECISION_COL_POD_NAME, row);
        let node = decisions.text(sys::DECISION_COL_NODE_NAME, row);
        let gpus: Vec<String> = decisions.list(sys::DECISION_COL_DEVICES, row).iter().map(i64::to_string).collect();
        println!("{} {pod} on {node}, GPUs {}", kind_name(kind), gpus.join(" "));
    }
    let reasons = session.table(sys::TABLE_REASON)?;
    for row in 0..reasons.rows() {
        let group = reasons.text(sys::REASON_COL_GROUP_NAME, row);
        println!("{group} waits: {}", reasons.text(sys::REASON_COL_TEXT, row));
    }
    Ok(())
}

fn main() -> ExitCode {
    let preset = std::env::args().nth(1).unwrap_or_else(|| "kai".to_owned());
    match embed(&preset) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
