"""The testbed: what runs *inside* the guest to carry out one trial.

Only the standard library and pyroute2 are imported here: each module that a guest
loads costs time in every trial. The plan (:mod:`cambrian.trial.plan`) is computed
outside; the guest obeys it.
"""
