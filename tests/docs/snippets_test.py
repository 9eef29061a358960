# SPDX-License-Identifier: BSD-3-Clause
"""Fails if a snippet of a page is no part of the file that the text before it names.

snippets_test.py PAGE

The text before a block ```cuda names the file as in "From [name](path):", once for several blocks.
"""

import re
import sys
from pathlib import Path

page = Path(sys.argv[1])
source = None
count = 0
faults = 0
pattern = re.compile(r"From\s+\[[^\]]*\]\(([^)]*)\):|^```cuda\n(.*?)^```$", re.MULTILINE | re.DOTALL)
for match in pattern.finditer(page.read_text(encoding="utf-8")):
    if match[1]:
        source = (page.parent / match[1]).resolve()
        continue
    count += 1
    line = match[2].splitlines()[0]
    if source is None:
        print(f"{page.name}: no file is named before the block that begins with: {line}")
        faults += 1
    elif f"\n{match[2]}" not in source.read_text(encoding="utf-8"):
        print(f"{page.name}: {source.name} does not contain the block that begins with: {line}")
        faults += 1
if count == 0:
    print(f"{page.name} has no snippets")
sys.exit(1 if faults or count == 0 else 0)
