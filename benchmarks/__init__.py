"""What is measured of Cambrian itself: how fast it is, and how often its statistics are right."""
