"""Effects: one side of an experiment against the other, cell by cell, with intervals over trials."""
