"""The journal: an append-only, hash-chained record of events in SQL."""
