"""Tests of stager/model/."""
