"""A suite's page: what a paper printed, what we measured, and its claims, as HTML and as Markdown."""
