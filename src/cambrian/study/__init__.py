"""Studies as data: which networks, contestants, designs and seeds to run.

A study file (TOML) becomes a :class:`~cambrian.study.model.Study`
(:mod:`~cambrian.study.load`), which becomes groups of trials
(:mod:`~cambrian.study.expand`), each with an identity
(:mod:`~cambrian.study.identity`) and a cost (:mod:`~cambrian.study.cost`).
This package runs no trial.
"""
