"""What the papers printed, cell by cell, beside what we measured."""
