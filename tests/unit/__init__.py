"""One module of tests for each module of stager: no network, no sleep."""
