"""The tools compared, each as a value: name, version, and a command per operation."""
