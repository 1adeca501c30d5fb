# SPDX-License-Identifier: MIT
"""Every block of Python in a page runs as pasted, one after the other, in one process a block.

    docs.py PAGE...
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(page):
    """Python blocks that are whole: none that elides something with ..."""
    found = re.findall(r"^```python\n(.*?)^```", pathlib.Path(page).read_text(), re.M | re.S)
    return [b for b in found if not re.search(r"^\s*\.\.\.$", b, re.M) and "from mine import" not in b]


wrong = 0
for page in sys.argv[1:]:
    for block in blocks(page):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, "-W", "ignore", "-c", block], cwd=folder, capture_output=True, text=True)
        if run.returncode:
            wrong += 1
            print(f"{page}:\n{block}\n{run.stderr}")
        else:
            print(f"{page}: a block of {len(block.splitlines())} lines runs and ends in: {run.stdout.strip().splitlines()[-1:]}")
sys.exit(wrong > 0)
