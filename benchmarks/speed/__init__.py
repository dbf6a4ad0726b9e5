"""How fast is Cambrian? One command measures it: ``.venv/bin/python -m benchmarks.speed --help``.

Each part of the measurement is a list of jobs (:mod:`jobs`). A job runs on one side (:mod:`sides`): this
checkout, or what it is compared with. :mod:`kept` is what the repository keeps of the figures, and
:mod:`tables` is how they are shown, on the terminal and on the page of the documentation.
"""
