"""Driving a turn: the loop, the acts it performs, and the session it drives."""
