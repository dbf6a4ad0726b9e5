"""From a results directory to pages and files: tables, charts, one self-contained HTML report."""
