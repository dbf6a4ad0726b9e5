"""Probes: small networks, each with one measure of behaviour that no parameter describes, and a margin.

``table`` reads ``probes.toml``, which lists the probes. ``reading`` applies the measures of this package to
one flow of one trial. ``judge`` compares a contestant's figures with the kernel's on the same network.
docs/reference/probes.md explains each probe.
"""
