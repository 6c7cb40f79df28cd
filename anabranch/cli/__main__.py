"""Lets `python -m anabranch.cli` stand in for the console script."""

from anabranch.cli import main

main()
