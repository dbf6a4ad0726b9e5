"""State machines of congestion controllers: one vocabulary, time in state, transitions, differences.

``vocabulary`` names the states, ``sequence`` finds them row by row (with ``infer`` and ``infer_bbr`` where a
stack exports none), ``machine`` sums up a trial, ``pooled`` several, ``difference`` compares two,
``wording`` says it in words.
"""
