#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: simulate.py REAL PLUGIN CACHE PERF [OTHER] [PROGRAM...]

Record programs of REAL, which scripts/make/real.sh has made, in the simulation of PLUGIN,
which is simulate.c, and compare what PERF says of their functions with what is true, as
real.py does. OTHER, another perf, reads the same recordings. These are kept in CACHE.
scripts/bench/simulate.sh has the variables that choose what to simulate.
"""
import collections
import concurrent.futures
import fcntl
import functools
import hashlib
import itertools
import json
import math
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile

import real

# Cycles from an overflow to its interrupt (fixed, random), those that this takes (fixed,
# random, by the line of code), and how many loads after it may take longer (percent, cycles).
TIMINGS = {
    'base': (0, 0, 0, 0, 0, 0, 0, 0),
    'lat': (50, 100, 0, 0, 0, 0, 0, 0),
    'arm': (100, 100, 30, 20, 20, 0, 0, 0),
    'rf': (0, 0, 350, 0, 100, 0, 0, 0),
    'sil': (50, 100, 350, 100, 100, 50, 20, 10),
}
# The number of events, of those that are sampled, and whether they are a group, have windows,
# or branch stacks.
Kind = collections.namedtuple('Kind', 'events sampled group windows stacks')
KINDS = {
    'samples': Kind(2, 2, 0, 0, 0), 'w0': Kind(2, 2, 1, 0, 0), 'fnstat': Kind(2, 2, 1, 1, 0),
    'windows': Kind(2, 1, 1, 1, 0), 'stacks': Kind(2, 2, 1, 0, 1),
    'samples-all': Kind(4, 4, 0, 0, 0), 'w0-all': Kind(4, 4, 1, 0, 0),
    'fnstat-all': Kind(4, 4, 1, 1, 0), 'windows-all': Kind(4, 1, 1, 1, 0),
}
# Another reader of the same recordings.
KINDS['ipc'] = KINDS['stacks']
# LENGTH is what a window has besides the cost of its interrupt.
Recording = collections.namedtuple('Recording', 'kind length jitter events interrupts set')
# Rounds in a second of a CPU with 3 GHz, by default.
ROUNDS = 1500
# A run of a program makes so many recordings at most, as each has a file.
AT_ONCE = 200
# Another number if write() or make_plan() changes.
FORMAT = 2
ENVIRONMENT = {
    # This is what tests/guest/record-real.sh has.
    'GLIBC_TUNABLES': 'glibc.cpu.x86_rep_movsb_threshold=0x40000000:'
                      'glibc.cpu.x86_rep_stosb_threshold=0x40000000'}
# The events of perf.data, and the ID of the first one and of the task, as in simulate.c.
EVENTS = (('cycles', 0), ('instructions', 1), ('branch-misses', 5), ('cache-misses', 3))
FIRST_ID, TASK = 100, 77


def die(what):
    """End with an error."""
    sys.exit(f'simulate.py: error: {what}')


def say(what):
    """Show progress."""
    print(f'==> {what}', file=sys.stderr, flush=True)


def choose(variable, default, known, example=''):
    """Read a list from the environment."""
    words = os.environ.get(variable, '').split() or default.split()
    for word in words:
        if not re.fullmatch(known, word):
            die(f"{variable}='{word}' is not known: {example or known.replace('|', ' ')}")
    return words


def string(text):
    """Return a string as in the headers of perf.data."""
    data = text.encode() + b'\0'
    size = (len(data) + 63) // 64 * 64
    return struct.pack('<I', size) + data.ljust(size, b'\0')


def attr(k, kind, window, jitter, period, spread):
    """Return a struct perf_event_attr of 192 bytes. All are precise as fnstat asks for: what
    the CPU could do is a flag of each sample."""
    fields = 0x10107 | (0x10 if kind.group else 0) | (0x800 if kind.stacks and not k else 0)
    flags = 0x60 | 0x2300 | (3 << 15 if k and k < kind.sampled else 0)
    return struct.pack('<IIQQQQQIIQQQ96xIIIHH', 0, 192, EVENTS[k][1], period, fields,
                       4 | 8 if kind.group else 4, flags,
                       0, 0, 0, 0, 9 if kind.stacks and not k else 0,
                       0 if k else window, spread, 0 if k else jitter, 0, 0)


def record(number, misc, body):
    """Return a record of perf.data."""
    return struct.pack('<IHH', number, misc, 8 + len(body)) + body


def mappings(binary):
    """Return the records of a program that starts: its name, and what it maps."""
    with open(binary, 'rb') as file:
        elf = file.read()
    yield record(3, 0, struct.pack('<II16s', TASK, TASK, os.path.basename(binary).encode()))
    table, = struct.unpack_from('<Q', elf, 0x20)
    size, nr = struct.unpack_from('<HH', elf, 0x36)
    path = binary.encode() + b'\0' * (8 - len(binary) % 8)
    for position in range(table, table + nr * size, size):
        what, flags, start, address, _, length = struct.unpack_from('<IIQQQQ', elf, position)
        if what == 1 and flags & 1:             # PT_LOAD that is executed
            skip = address & 4095
            yield record(10, 2, struct.pack(
                '<IIQQQIIQQII', TASK, TASK, address - skip, (length + skip + 4095) & ~4095,
                start - skip, 0, 0, 0, 0, 5, 2) + path)


def write(path, binary, kind, numbers, samples):
    """Write perf.data, from the numbers of the plan and the samples of a recording."""
    window, jitter, *periods = numbers[4:]
    attrs = [attr(k, kind, window, jitter, *periods[2 * k:2 * k + 2]) for k in range(kind.events)]
    ids = [struct.pack('<Q', FIRST_ID + k) for k in range(kind.events)]
    with open(samples, 'rb') as file:
        data = b''.join(mappings(binary)) + file.read()
    # The header, the IDs, the attrs, the data, and then what perf wants to know of the machine.
    begin = 104 + 8 * len(ids)
    table = b''.join(a + struct.pack('<QQ', 104 + 8 * k, 8) for k, a in enumerate(attrs))
    features = {
        4: string('7.3.4'), 6: string('x86_64'), 7: struct.pack('<II', 1, 1),
        9: string('GenuineIntel,6,106,0'),
        12: struct.pack('<II', len(ids), 192) + b''.join(
            a + struct.pack('<I', 1) + string(f'{EVENTS[k][0]}:u') + ids[k]
            for k, a in enumerate(attrs))}
    if kind.group:
        features[17] = struct.pack('<I', 1) + string('') + struct.pack('<II', 0, len(ids))
    places, position = b'', begin + len(table) + len(data) + 16 * len(features)
    for feature in features.values():
        places += struct.pack('<QQ', position, len(feature))
        position += len(feature)
    with open(path + '.tmp', 'wb') as file:
        file.write(struct.pack('<8s12Q', b'PERFILE2', 104, 192 + 16, begin, len(table),
                               begin + len(table), len(data), 0, 0,
                               sum(1 << x for x in features), 0, 0, 0))
        file.write(b''.join(ids) + table + data + places + b''.join(features.values()))
    os.rename(path + '.tmp', path)


def name_of(recording):
    """Return the name of a recording, without what is as usual."""
    kind = KINDS[recording.kind]
    window = f'-{recording.length}-{recording.jitter}' if kind.windows else ''
    return f'{recording.kind}{window}-{recording.events}-{recording.interrupts}-{recording.set}'


def make_plan(recording, timing, total):
    """Return the numbers of a recording for the plugin."""
    kind, costs = KINDS[recording.kind], TIMINGS[timing]
    nr, second = re.fullmatch(r'(\d+)(s?)', recording.interrupts).groups()
    each = kind.sampled + kind.windows
    rounds = int(nr) * ROUNDS if second else int(nr) / each
    cost = costs[2] + (costs[3] + costs[4]) / 2
    whole = cost + costs[5] * costs[6] / 100 * costs[7]
    counts = [total['cycles'] + rounds * each * whole, total['insns'], total['bm'], total['cm']]
    periods = [max(1, int(x / rounds)) if k < kind.sampled else 0 for k, x in enumerate(counts)]
    # Misses have a frequency: their period varies.
    spreads = [x // (10 if k < 2 else 3) for k, x in enumerate(periods)]
    window = (int(cost) + recording.length, recording.jitter) if kind.windows else (0, 0)
    seed = int.from_bytes(hashlib.sha256(name_of(recording).encode()).digest()[:7], 'little') | 1
    return [seed, kind.events * kind.group, int(recording.events == 'precise'), kind.stacks,
            *window, *itertools.chain(*itertools.zip_longest(periods, spreads))]


class Program:
    """A program: what is true of it, and its recordings."""

    def __init__(self, name, programs, paths):
        self.name, self.kind = name, programs[name].kind
        self.command = programs[name].command
        self.real, self.plugin, self.cache = paths
        self.binary = f'{self.real}/bin/{self.command[0]}'
        with open(self.plugin, 'rb') as file:
            self.key = hashlib.sha256(file.read() + repr(
                (FORMAT, os.path.basename(self.real), self.command)).encode()).hexdigest()[:16]

    @functools.cached_property
    def truth(self):
        """Count what each function takes."""
        profile = f'{self.directory("true")}/profile'
        if not os.path.exists(profile):
            with tempfile.TemporaryDirectory(dir=self.cache) as work:
                self.run(work, TIMINGS['base'], [])
                os.rename(f'{work}/profile', profile)
        return real.Truth(self.binary, profile, 1)

    def directory(self, timing):
        """Make the directory of a timing."""
        key = hashlib.sha256(f'{self.key} {TIMINGS.get(timing)}'.encode()).hexdigest()[:16]
        path = f'{self.cache}/{timing}-{self.name}-{key}'
        os.makedirs(path, exist_ok=True)
        return path

    def run(self, work, costs, plans):
        """Run the program."""
        with open(f'{work}/plan', 'w', encoding='ascii') as file:
            for numbers in [costs, [len(plans)]] + plans:
                print(*numbers, file=file)
        done = subprocess.run(
            # The length of its name is a part of the stack.
            ['qemu-x86_64', '-seed', '1', '-plugin', f'{self.plugin},dir={work}',
             f'bin/{self.command[0]}', *self.command[1:]], cwd=self.real, env=ENVIRONMENT,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False)
        if done.returncode or not os.path.exists(f'{work}/profile'):
            die(f'{self.name} failed in qemu-x86_64, status {done.returncode}: '
                f'{done.stderr.strip()}')

    def record(self, timing, recordings):
        """Make those of the recordings that are not there, and return the paths of all."""
        directory = self.directory(timing)
        paths = {x: f'{directory}/{name_of(x)}.data' for x in recordings}
        with open(f'{directory}/lock', 'w', encoding='ascii') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            missing = [x for x in recordings if not os.path.exists(paths[x])]
            for first in range(0, len(missing), AT_ONCE):
                self.record_some(timing, missing[first:first + AT_ONCE], paths)
        if missing:
            say(f'{timing} {self.name}: {len(missing)} recordings in {directory}')
        return paths

    def record_some(self, timing, recordings, paths):
        """Make recordings in one run."""
        plans = [make_plan(x, timing, self.truth.total) for x in recordings]
        with tempfile.TemporaryDirectory(dir=self.cache) as work:
            self.run(work, TIMINGS[timing], plans)
            total = real.Truth(self.binary, f'{work}/profile', 1).total
            # zstd looks at the clock.
            if any(abs(x - self.truth.total[k]) > x / 1000 for k, x in total.items()):
                die(f'{self.name} does not repeat itself: {total}, before {self.truth.total}')
            for i, recording in enumerate(recordings):
                write(paths[recording], self.binary, KINDS[recording.kind], plans[i], f'{work}/{i}')

    def judge(self, perf, path, name):
        """Compare what perf says of a recording with what is true."""
        kind = KINDS[name]
        metrics = real.METRICS.values() if kind.events > 2 else ['cpi']
        command = ['report', '-b', '--sort', 'symbol'] if name == 'ipc' else \
            ['fnstat', 'report', '-M', ','.join(metrics)] if kind.group else \
            ['report', '--sort', 'sym']
        done = subprocess.run(
            [perf, *command, '-i', path, '--no-demangle', '--json'], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False, stdin=subprocess.DEVNULL,
            env={'PERF_CONFIG': '/dev/null', 'HOME': self.cache, 'PAGER': 'cat'})
        try:
            report = json.loads(done.stdout)
        except ValueError:
            die(f'{perf} {" ".join(command)} does not read {path}: {done.stderr.strip()}')
        if name == 'ipc':
            read_ipc(report)
        mode = ('new' if kind.group else 'events') + ('-cpi' if kind.events == 2 else '')
        return real.Result(self.truth, mode, {}, report)


def read_ipc(report):
    """Make metrics of the column IPC that perf report has for branch stacks."""
    for event in report['events']:
        for entry in event['entries']:
            ipc = re.match(r'[0-9.]+', entry['ipc____ipc_coverage_'])
            if ipc and float(ipc.group()):
                entry['metrics'] = {real.METRICS['CPI']: {'value': 1 / float(ipc.group())}}


def mean_error(values):
    """Return the mean and its standard error as text."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f'{statistics.mean(values):5.1f}' + (f'+-{error:.1f}' if len(values) > 1 else '     ')


def by_set(results, metric):
    """Return the mean error of the programs, of each set."""
    return [statistics.mean(x.error[metric] for x in each) for each in zip(*results)]


def columns(results, metric):
    """Describe the results of programs, lists of those of each set."""
    flat = list(itertools.chain(*results))
    if not any(what == metric for x in flat for _, what in x.cells):
        return f'{"    -" if flat else "":53}'
    counts = sum((x.checked[metric] for x in flat), collections.Counter())
    text = mean_error(by_set(results, metric))
    if not counts['intervals']:
        return f'{text:53}'
    text += f' {100 * counts["hold"] / counts["intervals"]:4.0f}'
    text += f' {counts["outside"]:4}/{counts["unmarked"]:<4} {counts["far"]:4}'
    for least in (0.05, 0.01):
        rows, clear, wrong = (sum(x) for x in zip(*(x.rows(least, metric) for x in flat)))
        text += f' {100 * clear / rows if rows else 0:4.0f} {wrong:3}/{clear:<4}'
    return f'{text:53}'


def print_row(label, cells):
    """Print a line of a table."""
    print(f'{label:29}{" ".join(f"{x:53}" for x in cells)}'.rstrip())


def print_lines(label, found, groups, metric, compare):
    """Print the results of groups of programs, and those of the other perf."""
    of = [[[[y[perf] for y in found[p]] for p in programs] for programs in groups]
          for perf in range(2 if compare else 1)]
    print_row(label, [columns(x, metric) for x in of[0]])
    if compare:
        print_row('    other', [columns(x, metric) for x in of[1]])
        print_row('    other - this', [mean_error([
            b - a for a, b in zip(by_set(x, metric), by_set(y, metric))]) if x else ''
            for x, y in zip(*of)])


def print_table(title, results, each, compare):
    """Print the results of a timing, of events that are precise or late, and of a number of
    interrupts: for each label and program a list of sets, each with the result of each perf."""
    programs = list(next(iter(results.values())))
    kinds = list(dict.fromkeys(p.kind for p in programs))
    print(f'\n{title}')
    print_row('', kinds)
    print_row('', ['error      hold   outside  far  rows > 5 %   rows > 1 %'] * len(kinds))
    for label, found in results.items():
        for metric in next(iter(found.values()))[0][0].error:
            print_lines(f'{label:22} {metric}', found,
                        [[p for p in programs if p.kind == x] for x in kinds], metric, compare)
            for program in programs if each else ():
                groups = [[program] if program.kind == x else [] for x in kinds]
                print_lines(f'  {program.name}', found, groups, metric, compare)


def wanted(events, interrupts):
    """Return what to record, as lists of sets by label."""
    sets = range(1, int(choose('SETS', '2', r'[1-9]\d*', 'a number')[0]) + 1)
    lengths = choose('LENGTHS', '300', r'[1-9]\d*(/\d+)?', 'as 300 or 300/200')
    found = {}
    for name in choose('KINDS', 'samples w0 fnstat windows', '|'.join(KINDS)):
        kind = KINDS[name]
        if kind.stacks and events == 'late':
            continue                            # There is no such CPU.
        for length in lengths if kind.windows else ['0']:
            useful, _, jitter = length.partition('/')
            useful = int(useful)
            jitter = int(jitter) if jitter else useful * 2 // 3
            recorded = 'stacks' if name == 'ipc' else name
            recordings = [Recording(recorded, useful, jitter,
                                    events if kind.sampled > 1 else 'any', interrupts, i)
                          for i in sets]
            found[f'{name} {length}' if kind.windows else name] = recordings
    return found


def main(real_directory, plugin, cache, perf, other, *names):
    """Simulate and judge what the environment says."""
    programs = real.read_programs(real_directory)
    names = names or [x for x, program in programs.items() if program.kind in ('chosen', 'judged')]
    for name in names:
        if name not in programs or name.endswith('-mt'):
            die(f"no program '{name}': {' '.join(x for x in programs if not x.endswith('-mt'))}")
    programs = [Program(x, programs, (real_directory, plugin, cache)) for x in names]
    timings = choose('TIMINGS', ' '.join(TIMINGS), '|'.join(TIMINGS))
    tables = list(itertools.product(choose('EVENTS', 'precise late', 'precise|late'),
                                    choose('INTERRUPTS', '3000 10000', r'[1-9]\d*s?',
                                           'as 3000 or 10s')))
    wants = {x: wanted(*x) for x in tables}
    recordings = list(dict.fromkeys(itertools.chain(*itertools.chain(
        *(x.values() for x in wants.values())))))
    perfs = [perf] + ([other] if other else [])
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS', '1'))) as pool:
        list(pool.map(lambda p: p.truth, programs))
        for timing in timings:
            paths = dict(zip(programs, pool.map(lambda p, t=timing: p.record(t, recordings),
                                                programs)))
            if os.environ.get('ONLY_RECORD'):
                continue
            for (events, interrupts), want in wants.items():
                results = {}
                for label, sets in want.items():
                    jobs = [(p, paths[p][x], reader) for p in programs for x in sets
                            for reader in perfs]
                    say(f'{timing}, {events}, {interrupts}: {label}')
                    judged = iter(list(pool.map(
                        lambda job, k=label.split()[0]: job[0].judge(job[2], job[1], k), jobs)))
                    results[label] = {p: [[next(judged) for _ in perfs] for _ in sets]
                                      for p in programs}
                print_table(f'{timing}, {events} events, {interrupts} interrupts', results,
                            os.environ.get('EACH'), other)
                sys.stdout.flush()


if __name__ == '__main__':
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
