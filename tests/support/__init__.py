"""What the tests and the benchmarks share: real servers on loopback, a slow link, made-up data."""
