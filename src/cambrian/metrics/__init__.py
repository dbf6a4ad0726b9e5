"""Metrics: pure functions from a trial's packets to numbers. They read no file or clock and draw no chart."""
