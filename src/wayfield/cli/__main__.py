"""``python -m wayfield.cli``."""

from . import main

main()
