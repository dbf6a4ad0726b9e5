"""What the figures mean: parameters against the standards, and a verdict that a person can act on."""
