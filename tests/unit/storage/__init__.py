"""Tests of stager/storage/."""
