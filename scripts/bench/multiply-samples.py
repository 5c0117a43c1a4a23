#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: multiply-samples.py RECORDING OUTPUT SAMPLES [ATTR-SIZE]

Repeat the samples of a recording until there are SAMPLES, as if the program had run so
much longer: time and the counts of the group continue. For recordings of one event, or
of one group with PERF_SAMPLE_READ, with PERF_SAMPLE_TIME, of one task. With ATTR-SIZE,
an older perf can read it that refuses a larger struct perf_event_attr.
"""
import struct
import sys

# enum perf_event_sample_format: what a sample has before its counts, of 8 bytes each.
IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD, READ = (
    1 << bit for bit in (16, 0, 1, 2, 3, 6, 9, 7, 8, 4))
BEFORE_READ = IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD
# enum perf_event_read_format
TIME_ENABLED, TIME_RUNNING, READ_ID, GROUP, LOST = (1 << bit for bit in range(5))
# Types of records: from some number on they are perf's own.
SAMPLE, FIRST_OF_PERF, FINISHED_ROUND = 9, 64, 68
# Offset and size of the IDs, after a struct perf_event_attr.
IDS = 16
U64 = struct.Struct('<Q')


def read_u64(data, offset):
    return U64.unpack_from(data, offset)[0]


def add_u64(data, offset, value):
    U64.pack_into(data, offset, (read_u64(data, offset) + value) % 2**64)


class Layout:
    """Where a sample has what grows, from the attr of its event."""

    def __init__(self, attr):
        sample_type, self.read_format = struct.unpack_from('<QQ', attr, 24)
        if not sample_type & TIME:
            sys.exit('the samples have no time')
        self.has_read = sample_type & READ
        if self.has_read and not self.read_format & GROUP:
            sys.exit('the counts are not those of a group')
        before = [bit for bit in BEFORE_READ if sample_type & bit]
        self.time = 8 + 8 * before.index(TIME)
        self.read = 8 + 8 * len(before)

    def counts(self, sample):
        """Offsets of the counts."""
        if not self.has_read:
            return []
        bits = self.read_format
        first = self.read + 8 + 8 * bool(bits & TIME_ENABLED) + 8 * bool(bits & TIME_RUNNING)
        step = 8 + 8 * bool(bits & READ_ID) + 8 * bool(bits & LOST)
        return [first + step * i for i in range(read_u64(sample, self.read))]


def read_records(data, start, end):
    while start < end:
        kind, _, size = struct.unpack_from('<IHH', data, start)
        yield kind, data[start:start + size]
        start += size


def cut_attrs(head, attr_size):
    """Drop what struct perf_event_attr has behind attr_size."""
    old, offset, size = struct.unpack_from('<3Q', head, 16)
    new = attr_size + IDS
    entries = [head[at:at + old] for at in range(offset, offset + size, old)]
    for i, entry in enumerate(entries):
        struct.pack_into('<I', entry, 4, attr_size)
        head[offset + new * i:offset + new * (i + 1)] = entry[:attr_size] + entry[-IDS:]
    struct.pack_into('<3Q', head, 16, new, offset, new * len(entries))


def main(source, target, wanted, attr_size=None):
    with open(source, 'rb') as f:
        data = f.read()
    if data[:8] != b'PERFILE2':
        sys.exit(f'{source} is no recording of perf')
    attrs, _, start, size = struct.unpack_from('<4Q', data, 24)
    nr_features = sum(bin(word).count('1') for word in struct.unpack_from('<4Q', data, 72))
    layout = Layout(data[attrs:])

    records = list(read_records(data, start, start + size))
    places = [i for i, (kind, _) in enumerate(records) if kind == SAMPLE]
    first, last = places[0], places[-1] + 1
    begin = read_u64(records[first][1], layout.time)
    length = read_u64(records[last - 1][1], layout.time) - begin + 1000
    last_sample = records[last - 1][1]
    counted = [read_u64(last_sample, at) for at in layout.counts(last_sample)]

    head = bytearray(data[:start])
    if attr_size:
        cut_attrs(head, attr_size)

    # What the kernel says of the task stays before its samples. perf report sorts by time
    # up to the end of a round: without one it would keep all samples.
    nr = 0
    with open(target, 'wb') as f:
        f.write(head)
        f.write(b''.join(record for _, record in records[:first]))
        for repetition in range(wanted):
            for kind, record in records[first:last]:
                if kind == SAMPLE and nr < wanted:
                    sample = bytearray(record)
                    add_u64(sample, layout.time, repetition * length)
                    for at, count in zip(layout.counts(sample), counted):
                        add_u64(sample, at, repetition * count)
                    f.write(sample)
                    nr += 1
                elif kind != SAMPLE and (kind == FINISHED_ROUND or not repetition):
                    f.write(record)
            f.write(struct.pack('<IHH', FINISHED_ROUND, 0, 8))
            if nr >= wanted:
                break
        # Not that the task exits: that was earlier.
        f.write(b''.join(record for kind, record in records[last:] if kind >= FIRST_OF_PERF))
        grown = f.tell() - start - size
        features = bytearray(data[start + size:])
        for i in range(nr_features):
            add_u64(features, 16 * i, grown)
        f.write(features)
        f.seek(48)
        f.write(U64.pack(size + grown))


if __name__ == '__main__':
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__.splitlines()[0])
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
