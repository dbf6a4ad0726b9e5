"""The results directory: what a trial leaves, whole or not at all, and how to read it again.

::

    RESULTS/study.json             what was asked (the study, its groups, the trials' ids)
    RESULTS/trials/ID/manifest.json    what ran: the trial, versions, hashes, counters
    RESULTS/trials/ID/verdict.json     valid, or why not; every gate with its figures
    RESULTS/trials/ID/packets.parquet
    RESULTS/trials/ID/transport.parquet
    RESULTS/trials/ID/logs/            the programs' own words
    RESULTS/trials/ID/raw/             captures, where the study asked for them
"""

from __future__ import annotations
