"""What libraries may use of the processor."""

from __future__ import annotations

import pytest

from cambrian.trial import baseline, plan

#: CPUID's bits (Intel SDM, volume 2A): of leaf 1 ECX and of leaf 7 EBX and ECX
LEAF_1 = {"PCLMULQDQ": 32 + 1, "SSSE3": 32 + 9, "AES": 32 + 25, "AVX": 32 + 28}
BEYOND_LEAF_1 = {"XOP": 32 + 11, "Intel": 30}
LEAF_7 = {"BMI1": 3, "AVX2": 5, "BMI2": 8}
BEYOND_LEAF_7 = {"ERMS": 9, "AVX512F": 16, "ADX": 19, "SHA": 29, "VAES": 32 + 9, "VPCLMULQDQ": 32 + 10}


def hidden(word: int) -> int:
    """The bits that OpenSSL clears in a word of its features."""
    text = baseline.ENVIRONMENT["OPENSSL_ia32cap"].split(":")[word]
    assert text.startswith("~0x")
    return int(text[1:], 16)


@pytest.mark.parametrize(("word", "kept", "beyond"), [(0, LEAF_1, BEYOND_LEAF_1), (1, LEAF_7, BEYOND_LEAF_7)])
def test_openssl_keeps_the_baseline_and_nothing_else(
    word: int, kept: dict[str, int], beyond: dict[str, int]
) -> None:
    assert {name for name, bit in kept.items() if hidden(word) >> bit & 1} == set()
    assert {name for name, bit in beyond.items() if hidden(word) >> bit & 1} == set(beyond)
    assert all(hidden(later) == 2**64 - 1 for later in (2, 3, 4))


def test_every_program_has_the_baseline() -> None:
    assert plan.BASE_ENVIRONMENT.items() >= baseline.ENVIRONMENT.items()


def test_a_manifests_entries_come_after_ours() -> None:
    found = baseline.joined(
        {"GODEBUG": "schedtrace=1", "GLIBC_TUNABLES": "glibc.malloc.arena_max=1", "A": "b"}
    )
    assert found["GODEBUG"] == baseline.ENVIRONMENT["GODEBUG"] + ",schedtrace=1"
    assert found["GLIBC_TUNABLES"].endswith("=0xc0000:glibc.malloc.arena_max=1")
    assert found["A"] == "b"


def test_a_manifest_replaces_what_is_no_list() -> None:
    assert baseline.joined({"OPENSSL_ia32cap": "~0x2"}) == {"OPENSSL_ia32cap": "~0x2"}
