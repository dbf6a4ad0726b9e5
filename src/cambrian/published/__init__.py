"""Compares the values that papers printed, cell by cell, with our measurements."""
