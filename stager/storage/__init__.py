"""Bytes at a key. The only package that imports obstore, fsspec or a cloud SDK."""
