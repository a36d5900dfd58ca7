"""stager and its peers side by side: the same data, the same server, the same run."""
