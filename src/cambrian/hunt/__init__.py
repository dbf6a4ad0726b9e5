"""Searches networks for one on which a contestant breaks a property, and makes that network simple.

``situation`` has the networks, ``properties/`` what must hold on them, ``search`` looks with Hypothesis,
``trials`` runs them, ``output`` prints what was found as a study.
"""

from __future__ import annotations
