"""The servers that play the clouds, against the vendors' own SDKs: the test of the tests."""
