"""Lets `python -m unskew` be the command."""

from unskew.cli import main

main()
