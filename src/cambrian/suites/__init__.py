"""Suites: the studies (parts) that reproduce one paper, run and reported together."""
