"""The commands, one module each; every module has a click command named `command`."""
