"""Pure functions on columns: a trial's packets in, numbers out. No file, no clock, no chart."""
