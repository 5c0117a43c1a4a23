# SPDX-License-Identifier: GPL-2.0
# A program of today: Debian's Python reads, sorts and writes some JSON.
import json

rows = [{'name': 'row %d' % i, 'value': i * 7919 % 10007} for i in range(1000)]
for _ in range(40):
    rows = json.loads(json.dumps(rows))
    rows.sort(key=lambda row: row['value'])
print(len(json.dumps(rows)))
