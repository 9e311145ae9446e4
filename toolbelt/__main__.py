"""`python -m toolbelt`."""

from toolbelt.cli import main

main()
