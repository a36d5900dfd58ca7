"""Tests: unit, contract, integration, chaos and architecture, and what supports them."""
