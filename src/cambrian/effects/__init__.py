"""Effects: compare one side of an experiment with the other in each cell, with intervals over seeds."""
