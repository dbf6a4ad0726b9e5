"""Suites: a paper's study, made of several ordinary studies (its parts) that are run and read together."""
