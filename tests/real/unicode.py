#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: unicode.py UnicodeData.txt LINES json|xml|yaml: print the first of its lines."""
import itertools
import json
import sys
from xml.sax.saxutils import escape

with open(sys.argv[1], encoding='ascii') as file:
    fields = [line.strip().split(';') for line in itertools.islice(file, int(sys.argv[2]))]
characters = [{
    'code': int(field[0], 16), 'name': field[10] or field[1], 'category': field[2],
    'bidi': field[4], 'mirrored': field[9] == 'Y', 'value': float(number) if
    (number := field[7]).isdigit() else None, 'links': field[5].split(),
} for field in fields]


def print_xml():
    """Print an element for each character: what is short as attributes."""
    print('<?xml version="1.0"?>\n<characters>')
    for one in characters:
        value = f' value="{one["value"]}"' if one['value'] is not None else ''
        links = ''.join(f'<link>{escape(x)}</link>' for x in one['links'])
        print(f'  <character code="{one["code"]}" category="{one["category"]}" '
              f'bidi="{one["bidi"]}"{value}>\n    <name>{escape(one["name"])}</name>' +
              (f'\n    <links>{links}</links>' if links else '') + '\n  </character>')
    print('</characters>')


def print_yaml():
    """Print a map for each character."""
    for one in characters:
        for i, (key, value) in enumerate(one.items()):
            print('- ' if not i else '  ', key, ': ', json.dumps(value), sep='')


{'json': lambda: print(json.dumps(characters)), 'xml': print_xml, 'yaml': print_yaml}[sys.argv[3]]()
