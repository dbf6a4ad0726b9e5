"""The page that compares two results directories: what changed, and how sure that is."""
