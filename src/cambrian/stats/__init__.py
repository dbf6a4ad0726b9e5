"""Statistics: intervals, tests, corrections, three states, the stopping rule. The unit is the seed."""
