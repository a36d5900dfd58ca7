"""Tests of stager/transfer/."""
