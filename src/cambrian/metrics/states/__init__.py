"""State machines of congestion controllers: one vocabulary, time in state, transitions, differences.

``vocabulary`` names the states, ``sequence`` finds them row by row (with ``infer`` and ``infer_bbr`` if a
stack exports none), ``machine`` summarises a trial, ``pooled`` several, ``difference`` compares two,
``wording`` describes the difference in words.
"""
