#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: unicode.py UnicodeData.txt LINES: print the first of its lines as an array of objects."""
import itertools
import json
import sys

with open(sys.argv[1], encoding='ascii') as file:
    fields = [line.strip().split(';') for line in itertools.islice(file, int(sys.argv[2]))]
print(json.dumps([{
    'code': int(field[0], 16), 'name': field[10] or field[1], 'category': field[2],
    'bidi': field[4], 'mirrored': field[9] == 'Y', 'value': float(number) if
    (number := field[7]).isdigit() else None, 'links': field[5].split(),
} for field in fields]))
