"""Compare estimated parameters with the standards, and give each contestant a verdict."""
