"""Web pages for a trial to load, and the browser that loads them: what the host prepares."""
