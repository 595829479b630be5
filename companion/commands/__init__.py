"""The commands of the command line, each in a file of its name (``import`` in ``import_.py``).

Each has ``add_parser``, and a frozen class ``Options`` that its ``run`` takes; :mod:`companion.cli` finds them.
Options shared by several commands are in ``options``, shared output in ``output``.
"""
