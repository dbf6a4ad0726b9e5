"""A suite's page: a paper's published figures, our measured figures and its claims, as HTML and Markdown."""
