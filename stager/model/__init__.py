"""Pure values: what a version is. Nothing in this package reads or writes anything."""
