#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare what topdown.c knows of E-cores with the metrics of perf.

These are in pmu-events/arch/x86 of tools/perf: the slots of a cycle, whether bad
speculation is an event or what the others leave, and the event that retires. Prints each difference, and fails if
there is any.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLES = HERE.parents[2] / 'perf/pmu-events/arch/x86'
EVENT = r'(?:cpu_atom@)?TOPDOWN_%s\.ALL(?:_P)?@?'
SLOTS = r'\((?P<width>\d+) \* (?:cpu_atom@)?CPU_CLK_UNHALTED\.CORE@?\)'
PARTS = {
    'tma_retiring': 'RETIRING',
    'tma_bad_speculation': 'BAD_SPECULATION',
    'tma_frontend_bound': 'FE_BOUND',
    'tma_backend_bound': 'BE_BOUND',
}
REST = (r'\(\d+ \* (?:cpu_atom@)?CPU_CLK_UNHALTED\.CORE@? - \(' +
        r' \+ '.join(EVENT % name for name in ('FE_BOUND', 'BE_BOUND', 'RETIRING')) + r'\)\)')


def expected(metrics):
    """Get the width and whether bad speculation is the rest, or None without E-cores."""
    found = {}
    for metric in metrics:
        part = PARTS.get(metric.get('MetricName'))
        if not part or metric.get('Unit', 'cpu_atom') != 'cpu_atom':
            continue
        match = re.fullmatch(rf'(?P<part>{EVENT % part}|{REST}) / {SLOTS}',
                             metric['MetricExpr'])
        # P-cores of another table.
        if not match and 'Unit' not in metric:
            return None
        if not match:
            return f"{metric['MetricName']} is {metric['MetricExpr']}"
        found[part] = int(match['width']), match['part'].startswith('(')
    if not found:
        return None
    if len(found) != len(PARTS) or len({width for width, rest in found.values()}) != 1:
        return f'not one formula: {found}'
    if any(rest for part, (width, rest) in found.items() if part != 'BAD_SPECULATION'):
        return f'another part is the rest: {found}'
    return found['BAD_SPECULATION']


def retiring(directory):
    """Get the config of the event that retires, in a general counter."""
    found = {}
    for path in directory.glob('*.json'):
        for event in json.loads(path.read_text()):
            if isinstance(event, dict) and event.get('Unit', 'cpu_atom') == 'cpu_atom':
                found[event.get('EventName')] = event
    event = found.get('TOPDOWN_RETIRING.ALL_P') or found['TOPDOWN_RETIRING.ALL']
    return int(event.get('UMask', '0'), 0) << 8 | int(event['EventCode'], 0)


def models(pattern):
    """Get the signatures of CPUID for a pattern of mapfile.csv."""
    model = re.compile(pattern.removeprefix('GenuineIntel-6-') + '$')
    return {(i & 0xf0) << 12 | 0x600 | (i & 0xf) << 4
            for i in range(256) if model.match(f'{i:02X}')}


def known():
    """Get what topdown.c has: signature to width, rest and config of retiring."""
    source = (HERE.parent / 'topdown.c').read_text()
    body = source[source.index('static bool find_e_core'):source.index('\tdefault:\n')]
    table = {}
    for block in body.split('return true;')[:-1]:
        width = int(re.search(r'group->width = (\d+);', block)[1])
        config = int(re.search(r'group->retiring = (0x[0-9a-f]+);', block)[1], 16)
        for case in re.findall(r'case (0x[0-9a-f]+):', block):
            table[int(case, 16)] = width, 'group->rest = true;' in block, config
    return table


def main():
    """Compare both, and print what differs."""
    wanted = {}
    for line in (TABLES / 'mapfile.csv').read_text().splitlines():
        pattern, _, name, kind = line.split(',')
        if kind != 'core' or not pattern.startswith('GenuineIntel-6-'):
            continue
        for path in (TABLES / name).glob('*-metrics.json'):
            formula = expected(json.loads(path.read_text()))
            if isinstance(formula, tuple):
                formula += (retiring(path.parent),)
            if formula:
                wanted.update((model, formula) for model in models(pattern))
    have = known()
    bad = 0
    for model in sorted(wanted | have):
        if wanted.get(model) != have.get(model):
            print(f'{model:#x}: {have.get(model)}, perf has {wanted.get(model)}')
            bad += 1
    print(f'{len(wanted)} models with E-cores, {bad} differ')
    return 1 if bad or not wanted else 0


sys.exit(main())
