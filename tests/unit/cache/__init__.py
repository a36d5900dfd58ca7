"""Tests of stager/cache/."""
