"""Models over HTTP: pure adapters for each wire, one transport for all of them, and the registry that finds a model."""
