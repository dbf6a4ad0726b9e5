"""Claims: what the papers say, judged by our results."""
