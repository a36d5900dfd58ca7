"""Tests of stager/storage/credentials/."""
