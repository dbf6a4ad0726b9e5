//! Links quiche to BoringSSL's plain AES-GCM in place of its variants for TLS 1.3.
//!
//! The variants check that nonces grow, for which they change their context. This quiche hands them the context by a
//! shared reference, so that today's optimiser takes it for unchanged, the check fails and connections end with
//! "CryptoFail" (cloudflare/quiche#2108, fixed in 0.27.0). The plain ones keep no state; what they encrypt is
//! the same to the last bit.

fn main() {
    for bits in [128, 256] {
        println!("cargo:rustc-link-arg-bins=-Wl,--wrap=EVP_aead_aes_{bits}_gcm_tls13");
        println!(
            "cargo:rustc-link-arg-bins=-Wl,--defsym=__wrap_EVP_aead_aes_{bits}_gcm_tls13=EVP_aead_aes_{bits}_gcm"
        );
    }
    println!("cargo:rerun-if-changed=build.rs");
}
