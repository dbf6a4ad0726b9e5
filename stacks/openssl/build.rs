//! Builds OpenSSL from the crate's source, then the endpoint in C against it: no Rust binding has
//! QUIC's server side, and the controller's diagnostics are internal to the library.

use std::path::PathBuf;

/// Files of this package's `c` folder.
const OWN: [&str; 8] = ["bio", "client", "controller", "endpoint", "knobs", "quic", "server", "stream"];
/// Files that the endpoints in C share.
const SHARED: [&str; 9] =
    ["address", "entropy", "events", "hq", "options", "ring", "stop", "transport_log", "udp"];

fn main() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let (own, shared) = (folder.join("c"), folder.join("../shared/c"));
    println!("cargo:rerun-if-changed={}", own.display());
    println!("cargo:rerun-if-changed={}", shared.display());

    // liburing of the manifest's packages; without them the system's.
    println!("cargo:rerun-if-env-changed=LIBURING_ROOT");
    let liburing = PathBuf::from(std::env::var_os("LIBURING_ROOT").unwrap_or("/".into()));

    let openssl = openssl_src::Build::new().build();
    let source = openssl_src::source_dir();
    cc::Build::new()
        .std("c11")
        .define("_GNU_SOURCE", None)
        // as OpenSSL itself is built: its internal structures differ without
        .define("NDEBUG", None)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .include(&own)
        .include(&shared)
        .flag("-isystem")
        .flag(source.join("ssl/quic"))
        .flag("-isystem")
        .flag(openssl.include_dir())
        .flag("-isystem")
        .flag(source.join("include"))
        .flag("-isystem")
        .flag(&source)
        .flag("-idirafter")
        .flag(liburing.join("usr/include"))
        .files(OWN.map(|name| own.join(name).with_extension("c")))
        .files(SHARED.map(|name| shared.join(name).with_extension("c")))
        .compile("endpoint");
    println!("cargo:rustc-link-search=native={}", liburing.join("usr/lib/x86_64-linux-gnu").display());
    println!("cargo:rustc-link-lib=static=uring");
    openssl.print_cargo_metadata();
}
