"""`python -m stager` is the `stager` command."""

from stager.cli.app import main

main()
