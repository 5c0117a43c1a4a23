#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: real.py BIN RESULTS...

Compare what perf says of each function of real programs with what is true. RESULTS are
directories real-PROGRAM-MACHINE, each with what tests/guest/record-real.sh printed
(MODE-INTERRUPTS.tap, truth.tap), and what each address of the program took, from QEMU
(profile: lines "N PC INSNS CYCLES BRANCH-MISSES CACHE-MISSES"; what is true of a recording
is the profile that it names, or that of truth.tap, 1). BIN has the programs.

Functions count that take at least half a percent of the time, weighted with it. The error
of CPI is relative to the true one, that of misses to the larger one of the true one and
half of that of the program; no error is above 100 %, which is also that of no value. KTAP,
with the tables as comments: the errors of the metrics, how many percent of the time are in
rows with a CPI without a mark, how many cells without a mark are outside of their interval,
how many interrupts and how large the data was, and by how many percent the program was
slower.
"""
import base64
import bisect
import collections
import gzip
import json
import math
import os
import re
import shlex
import struct
import sys

# For each number of interrupts, of perf fnstat record -M cpi as mean of the programs: the
# error of CPI and the time in rows without a mark, in percent. Branch stacks tell more, and
# windows alone less, where no samples are exact: their bias stays, most where interrupts cost.
WINDOWS = {3000: (8.5, 50), 10000: (8, 65)}
ALONE = {3000: (8.5, 30), 10000: (8, 30)}
COSTLY = {3000: (11, 25), 10000: (11, 25)}
BRANCHES = {3000: (4.5, 82), 10000: (3.0, 92), 30000: (2.3, 96)}
# Two sets of recordings of N programs differ by ALIKE / sqrt(N): an error that is larger than
# the other by up to that is no larger. (Of lua and zstd that leaves one kernel in 300.)
ALIKE = 0.42
# The error of misses, to that of events with the same number of samples.
MISSES = 1.1
# So many percent of intervals have the true value, in each program. Fewer or more are
# chance if CHANCE or more of 1 are that far off, or farther.
HOLD = (92, 98)
CHANCE = 0.01

# Modes of tests/guest/record-real.sh that are in one table.
MODES = {'': ('old', 'events', 'precise', 'without', 'new'),
         '-cpi': ('events-cpi', 'precise-cpi', 'without-cpi', 'new-cpi')}
METRICS = {'CPI': 'cpi', 'BM/KI': 'branch-mpki', 'CM/KI': 'cache-mpki'}
EVENTS = ('insns', 'cycles', 'bm', 'cm')
COUNTED = {'CPI': 'cycles', 'BM/KI': 'bm', 'CM/KI': 'cm'}
LEAST = 0.005
FAR = 0.2
SHOWN = 8

Cell = collections.namedtuple('Cell', 'value low high mark')
Function = collections.namedtuple('Function', 'start end names')
Program = collections.namedtuple('Program', 'kind command')


def read_programs(directory):
    """Read what scripts/make/real.sh has made: the kind and the command of each program."""
    with open(f'{directory}/programs.table', encoding='ascii') as file:
        rows = [line.split(maxsplit=2) for line in file if re.match('[a-z]', line)]
    return {name: Program(kind, shlex.split(command)) for name, kind, command in rows}


def functions(path):
    """Read the functions of an ELF file as perf does: an end is at most the next start."""
    with open(path, 'rb') as file:
        elf = file.read()
    shoff, = struct.unpack_from('<Q', elf, 0x28)
    size, nr = struct.unpack_from('<HH', elf, 0x3a)
    sections = [struct.unpack_from('<IIQQQQIIQQ', elf, shoff + i * size) for i in range(nr)]
    names, ends = collections.defaultdict(list), collections.Counter()
    for section in sections:
        if section[1] != 2:             # SHT_SYMTAB
            continue
        strings = sections[section[6]][4]
        for offset in range(section[4], section[4] + section[5], 24):
            name, info, _, shndx, value, length = struct.unpack_from('<IBBHQQ', elf, offset)
            # STT_NOTYPE, STT_FUNC and STT_GNU_IFUNC in a section with instructions.
            if info & 15 not in (0, 2, 10) or not 0 < shndx < nr or \
                    not sections[shndx][2] & 4 or not (length or info & 15):
                continue
            text = elf[strings + name:elf.index(0, strings + name)].decode()
            names[value].append(text)
            ends[value] = max(ends[value], value + length)
    starts = sorted(names)
    last = max(section[3] + section[5] for section in sections if section[2] & 4)
    found = []
    for start, after in zip(starts, starts[1:] + [last]):
        end = ends[start] if ends[start] > start else after
        found.append(Function(start, min(end, after), names[start]))
    return found


def demangled(name):
    """Leave out what perf does of a name."""
    return re.sub(r'@+.*', '', name)


class Truth:
    """What the functions of a program really took."""

    def __init__(self, program, profile, number):
        found = functions(program)
        starts = [function.start for function in found]
        sums = collections.defaultdict(lambda: [0, 0, 0, 0])
        with open(profile, encoding='ascii') as file:
            for line in file:
                fields = line.split()
                pc, counts = int(fields[1], 16), [int(x) for x in fields[2:6]]
                # That of a recording has other programs too.
                if int(fields[0]) != number or not starts[0] <= pc < found[-1].end:
                    continue
                i = bisect.bisect_right(starts, pc) - 1
                key = i if pc < found[i].end else -1
                sums[key] = [a + b for a, b in zip(sums[key], counts)]
        if not sums:
            raise SystemExit(f'{profile} has no profile {number}')
        self.total = dict(zip(EVENTS, (sum(x) for x in zip(*sums.values()))))
        self.counts = {i: dict(zip(EVENTS, x)) for i, x in sums.items()}
        self.aliases = collections.defaultdict(list)
        for i in sorted(self.counts, key=lambda i: -self.counts[i]['cycles']):
            for name in {demangled(x) for x in found[i].names} if i >= 0 else ():
                self.aliases[name].append(i)
        self.time = {i: x['cycles'] / self.total['cycles'] for i, x in self.counts.items()}
        self.large = sorted((i for i, p in self.time.items() if p >= LEAST and i >= 0),
                            key=lambda i: -self.time[i])
        self.name = {i: min(found[i].names, key=len) for i in self.large}

    def metric(self, metric, function=None):
        """Tell a metric of a function, or of the whole program."""
        counts = self.total if function is None else self.counts[function]
        return rate(metric, counts)

    def entries(self, entries):
        """Match entries of a report with functions. Of functions with the same name, the
        one that takes longer is that of the entry with the longer time."""
        found, used = {}, collections.Counter()
        for entry in sorted(entries, key=lambda x: -x['period']):
            name = demangled(entry['symbol'])
            i = used[name]
            used[name] += 1
            if i < len(self.aliases.get(name, ())):
                found[self.aliases[name][i]] = entry
        return found


def rate(metric, counts):
    """Calculate a metric from counts."""
    if not counts['insns']:
        return None
    return (1 if metric == 'CPI' else 1000) * counts[COUNTED[metric]] / counts['insns']


def cell(entry, metric):
    """Read the cell of a metric from an entry of the JSON: the only place that knows the
    format. None if it has no value."""
    found = entry.get('metrics', {}).get(METRICS[metric])
    if not found or found.get('value') is None:
        return None
    low, high = found.get('low'), found.get('high')
    return Cell(found['value'], -math.inf if low is None else low,
                math.inf if high is None else high, found.get('mark', ''))


def read_tap(path):
    """Read what the machine printed: a dictionary, and the report. None if it failed."""
    status = path.removesuffix('.tap') + '.status'
    if not os.path.exists(status):
        print(f'# there is no {status}')
        return None, None
    with open(path, encoding='utf-8', errors='replace') as file:
        text = file.read().replace('\r', '')
    with open(status, encoding='ascii') as file:
        if file.read().strip() != '0':
            print(f'# {path}:\n' + re.sub('^', '#     ', text[:2000], flags=re.M))
            return None, None
    head, _, data = text.partition('# json\n')
    values = {}
    for line in head.splitlines():
        key, _, value = line.removeprefix('# ').partition(' ')
        values[key] = float(value) if re.fullmatch(r'[0-9.]+', value) else value
    return values, json.loads(gzip.decompress(base64.b64decode(data))) if data else None


def cells_of_windows(truth, report):
    """Collect the cells of a report with metrics, for each function."""
    cells = {}
    for event in report['events']:
        for i, entry in truth.entries(event['entries']).items():
            for metric in METRICS:
                found = cell(entry, metric)
                if found:
                    cells.setdefault((i, metric), found)
    return cells


def cells_of_events(truth, report):
    """Calculate the metrics from samples of events: each stands for its period."""
    sums = collections.defaultdict(lambda: dict.fromkeys(EVENTS, 0))
    names = {'cycles': 'cycles', 'instructions': 'insns',
             'branch-misses': 'bm', 'cache-misses': 'cm'}
    sampled = set()
    for event in report['events']:
        name = names[re.match('[a-z-]*', event['event']).group()]
        sampled.add(name)
        for i, entry in truth.entries(event['entries']).items():
            sums[i][name] = entry['period']
    metrics = [metric for metric in METRICS if COUNTED[metric] in sampled]
    return {(i, metric): Cell(value, -math.inf, math.inf, '') for i in sums for metric in metrics
            if (value := rate(metric, sums[i])) is not None}


def samples_of(report, name):
    """Tell how many samples the report has of an event, None without it."""
    return sum(event['samples'] for event in report['events']
               if event['event'].startswith(name)) or None


class Result:
    """How good a recording of a program is."""

    def __init__(self, truth, mode, values, report):
        self.values = values
        self.misses = samples_of(report, 'branch-misses'), samples_of(report, 'cache-misses')
        read = cells_of_events if mode.startswith(('events', 'precise')) else cells_of_windows
        self.cells = read(truth, report)
        self.truth = truth
        large = truth.large
        time = sum(truth.time[i] for i in large)
        self.error, self.clear, self.checked = {}, {}, {}
        for metric in ['CPI'] if mode.endswith('-cpi') else METRICS:
            self.checked[metric] = collections.Counter()
            self.error[metric] = 100 * sum(truth.time[i] * self.difference(i, metric)
                                           for i in large) / time
            self.clear[metric] = 100 * sum(truth.time[i] for i in large
                                           if self.is_clear(i, metric)) / time
            for i in large:
                self.check(i, metric)
        total = sum(self.checked.values(), collections.Counter())
        self.intervals, self.hold = total['intervals'], total['hold']
        self.unmarked, self.outside = total['unmarked'], total['outside']

    def difference(self, i, metric):
        """Tell the error of a cell, 1 at most."""
        found, true = self.cells.get((i, metric)), self.truth.metric(metric, i)
        least = 0 if metric == 'CPI' else self.truth.metric(metric) / 2
        if not found:
            return 1
        return min(1, abs(found.value - true) / max(true, least)) if true or least else 0

    def is_clear(self, i, metric):
        """Tell if a cell has a value, or a bound, without a mark that it may be wrong."""
        found = self.cells.get((i, metric))
        return bool(found) and found.mark in ('', '<')

    def check(self, i, metric):
        """Count whether the interval of a cell has the true value."""
        found, true = self.cells.get((i, metric)), self.truth.metric(metric, i)
        if not found or (found.low == -math.inf and found.high == math.inf):
            return
        # What is printed has so many digits.
        inside = found.low * (1 - 1e-6) <= true <= found.high * (1 + 1e-6)
        counter = self.checked[metric]
        counter['intervals'] += 1
        counter['hold'] += inside
        if self.is_clear(i, metric):
            counter['unmarked'] += 1
            counter['outside'] += not inside
            counter['far'] += not inside and self.difference(i, metric) > FAR

    def rows(self, least, metric='CPI'):
        """Count the functions with at least so much of the time: all, those with a value
        without a mark, and of these the ones that are wrong by more than a fifth."""
        rows = [i for i in self.truth.large if self.truth.time[i] >= least]
        clear = [i for i in rows if self.is_clear(i, metric)]
        return len(rows), len(clear), sum(self.difference(i, metric) > FAR for i in clear)


def binomial(hits, nr, share):
    """Tell how probable at most, and at least, so many hits are."""
    # The coefficients are too large for a float.
    terms = [math.exp(math.lgamma(nr + 1) - math.lgamma(k + 1) - math.lgamma(nr - k + 1) +
                      k * math.log(share) + (nr - k) * math.log(1 - share))
             for k in range(nr + 1)]
    return sum(terms[:hits + 1]), sum(terms[hits:])


class Table:
    """Tables as text, and results of tests."""

    def __init__(self):
        self.nr = self.failed = 0

    def test(self, good, what):
        """Print the result of a test."""
        self.nr += 1
        self.failed += not good
        print(f'{"ok" if good else "not ok"} {self.nr} {what}')


def mean(values):
    """Return the mean of what is known of VALUES."""
    known = [x for x in values if x is not None]
    return sum(known) / len(known) if known else None


def text(value, form='5.1f'):
    """Format a value, which may be None."""
    width = int(form.split('.', maxsplit=1)[0])
    return ' ' * (width - 1) + '-' if value is None else format(value, form)


def print_table(machine, interrupts, suffix, results, known):
    """Print all of one number of interrupts on a machine, of the modes with this suffix."""
    modes = [m for m in MODES[suffix] if m in {m for _, m in results}]
    names = list(dict.fromkeys(p for p, m in results if m in modes))
    if not names:
        return
    metrics = ['CPI'] if suffix else METRICS
    titles = (*metrics, 'no mark', 'outside', 'samples', 'KiB', 'time')
    print(f'#\n# {machine}, about {interrupts} interrupts{" for CPI alone" if suffix else ""}')
    print('# %-10s' % '' + ''.join(' | %-*s' % (6 * len(modes) - 1, x) for x in titles))
    print('# %-10s' % 'program' + (' | ' + ' '.join('%5s' % m.removesuffix(suffix)[:5] for m in modes)) * len(titles))

    def row(name, group):
        """Print a line, of the results of one program or of several."""
        def each(form, value):
            return ' '.join(text(mean(value(x) for x in xs), form) for xs in group)
        columns = [each('5.1f', lambda x, metric=metric: x.error.get(metric)) for metric in metrics]
        columns += [
            each('5.0f', lambda x: x.clear['CPI'] if x.intervals else None),
            ' '.join('%5s' % (f'{sum(x.outside for x in xs)}/{n}'
                              if (n := sum(x.unmarked for x in xs)) else '-') for xs in group),
            each('5.0f', lambda x: x.values.get('sample')),
            each('5.0f', lambda x: x.values['bytes'] / 1024),
            each('5.1f', lambda x: x.values.get('slower'))]
        print('# %-10s' % name + ''.join(' | ' + x for x in columns))

    for name in names:
        row(name, [[results[name, m]] if (name, m) in results else [] for m in modes])
    # All modes are compared on the same programs. Means are those of the programs on which
    # constants of the estimator were chosen, and of those on which they are judged.
    names = [p for p in names if all((p, m) in results for m in modes)]
    for kind in dict.fromkeys(known[p].kind for p in names):
        group = [p for p in names if known[p].kind == kind]
        row(f'{kind} {len(group)}', [[results[p, m] for p in group] for m in modes])


def print_functions(program, truth, results):
    """Print the true and the recorded metrics of the largest functions."""
    modes = [m for m in sum(MODES.values(), ()) if (program, m) in results]
    print(f'#   {program}: true, ' + ', '.join(modes))
    for i in truth.large[:SHOWN]:
        line = '#     %-28s %5.1f %%' % (truth.name[i][:28], 100 * truth.time[i])
        for metric in METRICS:
            line += '  %s %6.2f' % (metric, truth.metric(metric, i))
            for mode in modes:
                found = results[program, mode].cells.get((i, metric))
                line += ' %6.2f%-1s' % (found.value, found.mark) if found else '      - '
        print(line)


def check_limits(table, machine, interrupts, suffix, results):
    """Compare the means of the programs with the limits, of the modes with this suffix."""
    programs = [p for p, m in results if m == 'new' + suffix]
    new = [results[p, 'new' + suffix] for p in programs]
    if not new:
        return
    of = f'{machine}, {interrupts} interrupts{" of CPI alone" if suffix else ""}:'
    seen = mean(x.error['CPI'] for x in new)
    kinds = {'-lbr': BRANCHES, '-zen4-late': ALONE, '-zen4-cold': COSTLY}
    limits = next((x for kind, x in kinds.items() if machine.endswith(kind)), WINDOWS)
    if suffix and interrupts in limits:
        error, clear = limits[interrupts]
        table.test(seen <= error, f'{of} error of CPI {seen:.1f} %, at most {error}')
        clear_time = mean(x.clear['CPI'] for x in new)
        table.test(clear_time >= clear,
                   f'{of} {clear_time:.0f} % of the time without a mark, at least {clear}')
    if not all((p, 'events' + suffix) in results for p in programs):
        return
    events = [results[p, 'events' + suffix] for p in programs]
    # With a quarter of the samples events are half as good.
    limit = mean(y.error['CPI'] * math.sqrt(y.values['sample'] / x.values['sample'])
                 for x, y in zip(new, events)) * (1 + ALIKE / math.sqrt(len(programs)))
    table.test(seen <= limit, f'{of} error of CPI {seen:.1f} %, of as many events {limit:.1f}')
    for k, metric in enumerate(('BM/KI', 'CM/KI')) if not suffix else ():
        limit = MISSES * mean(
            y.error[metric] * math.sqrt(y.misses[k] / x.misses[k]) if x.misses[k] and y.misses[k]
            else y.error[metric] for x, y in zip(new, events))
        seen = mean(x.error[metric] for x in new)
        table.test(seen <= limit, f'{of} error of {metric} {seen:.1f} %, at most {limit:.1f}')


def check_marks(table, program, results):
    """Look for wrong values of a program, which windows cannot tell, without a mark."""
    nr, clear, far = (sum(x.checked['CPI'][key] for x in results)
                      for key in ('intervals', 'unmarked', 'far'))
    table.test(nr and not far, f'{program}: {far} of {clear} values without a mark are wrong by more '
                        f'than {100 * FAR:.0f} %')


def check_intervals(table, program, results):
    """Compare how many intervals of a program have the true value with the limits."""
    nr = sum(x.intervals for x in results)
    hold = sum(x.hold for x in results)
    fewer, _ = binomial(hold, nr, HOLD[0] / 100)
    _, more = binomial(hold, nr, HOLD[1] / 100)
    table.test(nr and fewer > CHANCE and more > CHANCE,
               f'{program}: {hold} of {nr} intervals have the true value, '
               f'{100 * hold / max(nr, 1):.1f} %, {HOLD[0]} to {HOLD[1]} but for chance')


def main(programs_dir, directories):
    """Read all, print all. Returns the exit status."""
    table, truths, results, broken = Table(), {}, collections.defaultdict(dict), []
    known = read_programs(os.path.dirname(programs_dir.rstrip('/')))
    for directory in directories:
        name = re.fullmatch('real-(.+)-(x86_64.*)', os.path.basename(directory.rstrip('/')))
        if not name:
            sys.exit(f'{directory} is no directory real-PROGRAM-MACHINE')
        program, machine = name.groups()
        said, _ = read_tap(f'{directory}/truth.tap')
        if not said:
            broken.append(f'{machine} {program}')
            continue
        binary = f'{programs_dir}/{program.removesuffix("-mt")}'
        truth = truths[machine, program] = Truth(binary, f'{directory}/profile', 1)
        for name in sorted(os.listdir(directory)):
            match = re.fullmatch(r'([a-z-]+)-(\d+)\.tap', name)
            if not match:
                continue
            mode, interrupts = match.group(1), int(match.group(2))
            values, report = read_tap(f'{directory}/{name}')
            if not report:
                broken.append(f'{machine} {program} {mode} {interrupts}')
                continue
            if 'ms' in said and 'duration' in values:
                values['slower'] = 100 * (values['duration'] / said['ms'] - 1)
            true = Truth(binary, f'{directory}/profile', int(values['profile'])) \
                if 'profile' in values else truth
            results[machine, interrupts][program, mode] = Result(true, mode, values, report)

    print('TAP version 13')
    for (machine, interrupts), found in sorted(results.items()):
        for suffix in MODES:
            print_table(machine, interrupts, suffix, found, known)
        print('#')
        for program in dict.fromkeys(p for p, _ in found):
            print_functions(program, truths[machine, program], found)
    for what in broken:
        table.test(False, what)
    by_program = collections.defaultdict(list)
    for (machine, interrupts), found in sorted(results.items()):
        for suffix in MODES:
            check_limits(table, machine, interrupts, suffix,
                         {x: found[x] for x in found if known[x[0]].kind != 'hard'})
        for (program, mode), result in found.items():
            if mode.startswith(('new', 'without')):
                by_program[program].append(result)
    for program, of_program in by_program.items():
        check = check_marks if known[program].kind == 'hard' else check_intervals
        check(table, program, of_program)
    print(f'1..{table.nr}')
    return 1 if table.failed or not table.nr else 0


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
