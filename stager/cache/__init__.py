"""The node's own copy: staged versions, work in progress, locks and space."""
