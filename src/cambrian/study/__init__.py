"""The study room: what to ask, as data.

A study file (TOML) becomes a :class:`~cambrian.study.model.Study`
(:mod:`~cambrian.study.load`), which becomes groups of trials
(:mod:`~cambrian.study.expand`), each with an identity
(:mod:`~cambrian.study.identity`) and a price (:mod:`~cambrian.study.cost`).
Nothing in this room runs anything.
"""
