"""How sure: intervals, tests, corrections, the stopping rule. The unit of replication is the trial."""
