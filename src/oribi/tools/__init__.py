"""Tools: what a model may ask for. Built-in ones, functions made into tools, and plug-ins, behind the port `Tools`."""
