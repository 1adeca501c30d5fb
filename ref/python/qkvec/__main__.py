# SPDX-License-Identifier: MIT
"""The program, as `qkvec` or `python -m qkvec`."""
import os
import pathlib
import sys


def main() -> None:
    here = pathlib.Path(__file__).parent
    program = os.environ.get("QKVEC_PROGRAM") or str(here / "qkvec")
    if (here / "vectors").is_dir():
        os.environ.setdefault("QKVEC_VECTORS", str(here / "vectors"))
    os.execv(program, ["qkvec", *sys.argv[1:]])


if __name__ == "__main__":
    main()
