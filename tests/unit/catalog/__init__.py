"""Tests of stager/catalog/."""
