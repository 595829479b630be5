"""The commands of the command line, each in the file of its name (``import`` in ``import_.py``).

Each has ``add_parser``, and a frozen value ``Options`` that its ``run`` is given; :mod:`companion.cli` finds them.
Options that several commands share are in ``options``, what several print or write in ``output``.
"""
