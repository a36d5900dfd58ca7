"""One suite for every implementation of a protocol."""
