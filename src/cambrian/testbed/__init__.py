"""The testbed: the code that runs *inside* the guest to carry out one trial.

It imports only the standard library and pyroute2, because each module that a guest
loads costs time in every trial. The plan (:mod:`cambrian.trial.plan`) is computed
outside; the guest follows it.
"""
