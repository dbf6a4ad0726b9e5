"""Claims: statements of the papers, judged by our results."""
