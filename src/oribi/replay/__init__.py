"""Replay: recorded turns again, offline, as they were or against a changed agent; forks; regression tests."""
