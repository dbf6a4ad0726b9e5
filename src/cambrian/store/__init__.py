"""Reads and writes results directories; a trial's folder is written atomically, and read with checks.

::

    RESULTS/study.json             the study, its groups, the trials' identities
    RESULTS/trials/ID/manifest.json    what ran: the trial, versions, hashes, counters
    RESULTS/trials/ID/verdict.json     valid or not, reasons, every gate with its values
    RESULTS/trials/ID/packets.parquet
    RESULTS/trials/ID/transport.parquet
    RESULTS/trials/ID/logs/            output of the programs
    RESULTS/trials/ID/SHA256SUMS       the hash of each of these files
    RESULTS/trials/ID/raw/             captures, if the study asks for them
"""

from __future__ import annotations
