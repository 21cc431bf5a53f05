"""Runs what peers in other languages ask of Interlock: peers.py FOLDER INTERLOCK GO_DRIVE. See run beside it."""
import os
import signal
import sys
import time

import bodies
import line
from processes import Processes, Table


def main(folder, interlock, go_drive):
    contract = os.path.join(line.ROOT, "robots/so101-tabletop.yaml")
    began, table, processes = time.monotonic(), Table(), Processes(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        line.run(table, processes, interlock, contract, go_drive)
        bodies.run(table, processes, interlock, contract)
    finally:
        processes.end_all()
    print(f"{table.passed} passed, {table.failed} failed, in {time.monotonic() - began:.0f} s")
    return 1 if table.failed or not table.passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
