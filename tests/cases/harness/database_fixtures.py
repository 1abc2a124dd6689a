"""Other programs that hold the product's database: one locks it, one reads it for long. Run as a process of its own.

`database_fixtures.py PATH lock|read MILLISECONDS`; it prints a line once it holds the database.
"""

import sqlite3
import sys
import time

path, mode, milliseconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
with sqlite3.connect(path, isolation_level=None, timeout=10) as connection:
    connection.execute("BEGIN EXCLUSIVE" if mode == "lock" else "BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    print("holding", flush=True)
    time.sleep(milliseconds / 1000)
    connection.execute("ROLLBACK")
