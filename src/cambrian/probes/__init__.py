"""Behaviour beyond parameters: small networks, a measure of each, and how near the kernel it must come.

``table`` reads ``probes.toml``, which lists the probes. ``reading`` takes each probe's figure from one
flow of one trial, by the measures of this package. ``judge`` compares a contestant's readings with the
kernel's of the same network. docs/reference/probes.md says what each is for.
"""
