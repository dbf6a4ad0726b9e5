//! Prints, for each trace of a qlog file, its number of events and the time of the last one in milliseconds.

use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = env::args().nth(1).ok_or("usage: qlog-reader FILE")?;
    let file: qlog::Qlog = serde_json::from_str(&fs::read_to_string(path)?)?;
    if file.qlog_version != qlog::QLOG_VERSION {
        return Err(format!("qlog version {}", file.qlog_version).into());
    }
    for trace in file.traces {
        let last = trace.events.last().map_or(0.0, |event| event.time);
        println!("{} {last}", trace.events.len());
    }
    Ok(())
}
