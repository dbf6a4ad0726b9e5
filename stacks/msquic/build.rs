//! Builds msquic's C library from the source that the msquic crate carries.
//!
//! The crate would do it itself, but its static form wants libnuma's static archive, which its C source has no use for
//! without libnuma's header; and its shared form is a second file beside the program.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=Cargo.lock");
    let built = cmake::Config::new(source())
        .define("QUIC_BUILD_SHARED", "off")
        .define("QUIC_ENABLE_LOGGING", "off")
        .define("QUIC_TLS_LIB", "quictls")
        .define("QUIC_OUTPUT_DIR", out("lib"))
        // Not looked for, so that the build is the same wherever it is made.
        .define("NUMA", "off")
        .build();
    println!("cargo:rustc-link-search=native={}", built.join("lib").display());
    // What src/calls.rs gives msquic in their place.
    for name in ["recvmmsg", "sendmmsg", "epoll_ctl", "eventfd_write", "CxPlatCurThreadID"] {
        println!("cargo:rustc-link-arg=-Wl,--wrap={name}");
    }
}

fn out(name: &str) -> PathBuf {
    Path::new(&variable("OUT_DIR")).join(name)
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The folder of the msquic crate, as cargo has unpacked it.
fn source() -> PathBuf {
    let manifest = Path::new(&variable("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(variable("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", &variable("TARGET"), "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata");
    metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "msquic")
        .and_then(|package| Path::new(package["manifest_path"].as_str()?).parent())
        .expect("the msquic crate is a dependency")
        .to_owned()
}
