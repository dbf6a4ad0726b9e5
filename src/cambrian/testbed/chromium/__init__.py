"""Chromium as a flow's receiver: started before the trial, it loads one page and says how that went.

Runs inside the guest, on the standard library alone.
"""
