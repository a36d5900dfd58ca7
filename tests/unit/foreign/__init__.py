"""Tests of stager/foreign."""
