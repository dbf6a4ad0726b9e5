"""What libraries may use of the processor on every machine: x86-64-v3, AES and PCLMULQDQ.

Libraries choose code by the processor's features. Other code uses memory in other ways, and packets of some
stacks (x-net-quic) move by ticks of the clock. Each variable hides the features beyond the baseline from one
family of libraries; none adds a feature that the processor lacks. The Rust library ring has no such setting.
"""

from __future__ import annotations

from collections.abc import Mapping

#: glibc's string functions; the sizes of caches decide how memcpy copies large blocks (glibc manual,
#: "Hardware Capability Tunables")
_GLIBC = (
    "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-ERMS,-FSRM,-RTM",
    "glibc.cpu.x86_data_cache_size=0x8000",
    "glibc.cpu.x86_shared_cache_size=0x100000",
    "glibc.cpu.x86_non_temporal_threshold=0xc0000",
)
#: bits of CPUID leaf 1 (EDX, then ECX) that OpenSSL, BoringSSL and AWS-LC may use; three of EDX are OpenSSL's
#: own, for makes of processors (OpenSSL manual, OPENSSL_ia32cap)
_LEAF_1 = (0xFFFFFFFF & ~(1 << 20 | 1 << 28 | 1 << 30)) | (
    sum(1 << bit for bit in (0, 1, 9, 12, 13, 19, 20, 22, 23, 25, 26, 27, 28, 29, 30)) << 32
)
#: of leaf 7 (EBX, then ECX): FSGSBASE, BMI1, AVX2 and BMI2
_LEAF_7 = sum(1 << bit for bit in (0, 3, 5, 8))
_ALL = 2**64 - 1
#: Go's runtime and crypto (internal/cpu)
_GO = ("adx", "erms", "fsrm", "sha", "vpclmulqdq", *(f"avx512{one}" for one in ("f", "bw", "cd", "dq", "vl")))
#: GnuTLS: AES-NI, SSSE3, PCLMULQDQ and AVX (lib/accelerated/x86/x86-common.c)
_GNUTLS = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4

ENVIRONMENT = {
    "GLIBC_TUNABLES": ":".join(_GLIBC),
    "OPENSSL_ia32cap": ":".join(f"~{_ALL & ~kept:#x}" for kept in (_LEAF_1, _LEAF_7, 0, 0, 0)),
    "GODEBUG": ",".join(f"cpu.{name}=off" for name in _GO),
    "GNUTLS_CPUID_OVERRIDE": f"{_GNUTLS:#x}",
}
#: variables that are lists: a program's own entries come after these
_LISTS = {"GLIBC_TUNABLES": ":", "GODEBUG": ","}


def joined(own: Mapping[str, str]) -> dict[str, str]:
    """A program's own variables; those that are lists begin with the entries of :data:`ENVIRONMENT`."""
    lists = {name: f"{ENVIRONMENT[name]}{sign}{own[name]}" for name, sign in _LISTS.items() if name in own}
    return dict(own) | lists
