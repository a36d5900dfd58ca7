"""Bytes that nobody wrote, for every parser of what comes from outside; see docs/fuzzing.md."""
