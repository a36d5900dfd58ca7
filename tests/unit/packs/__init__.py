"""Tests of stager/packs/."""
