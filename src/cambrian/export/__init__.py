"""A stored trial for other tools: qlog, pcapng and key logs (docs/how-to/export-a-trial.md)."""
