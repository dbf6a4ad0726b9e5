"""Web pages that trials load, and the browser that loads them."""
