#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make one HTML page of reports: a table, and a flame graph that metrics colour.

usage: fnstat-html.py [-o PAGE] [--rows N] REPORT...

  perf fnstat record -g -o perf.data -- app
  perf fnstat report -i perf.data --json --children -g caller,0 > report.json
  fnstat-html.py report.json > page.html

REPORT is what 'perf report --json' wrote, or - for the standard input. Several of them
get sections of their own: the marks of a sum could not be computed from theirs. The page
needs nothing else, neither files nor a network. See report-json.txt.
"""

import argparse
import base64
import hashlib
import html
import json
import math
import re
import sys

VERSION = 1

# Columns: name in the report, header, and what it is. Others follow, under their own names.
METRICS = {name: columns for name, *columns in (
	("cpi", "CPI", "cycles per instruction"),
	("ipc", "IPC", "instructions per cycle"),
	("branch-mpki", "BM/KI", "branch misses in 1000 instructions"),
	("cache-mpki", "CM/KI", "cache misses in 1000 instructions"),
	("branch-miss-rate", "%BMR", "percentage of the branches that miss"),
	("cache-miss-rate", "%CM", "percentage of the cache references that miss"),
	("instructions-share", "%I", "percentage of all instructions"),
	("branch-miss-share", "%BM", "percentage of all branch misses"),
	("cache-ref-share", "%CREF", "percentage of all cache references"),
	("cache-miss-share", "%CMISS", "percentage of all cache misses"),
)}

# A browser is slow with more rows of a table.
MAX_ROWS = 2000

MARKS = {
	"": "",
	"?": "can be wrong by more than a quarter",
	"<": "less than that",
	"-": "not known",
}
PROBLEMS = {"left": "ended elsewhere", "lost": "with lost samples", "length": "of another length",
	    "backwards": "with counts that go backwards", "split": "split",
	    "multiplexed": "multiplexed"}

def number(value):
	"""Return a number of a report, which can be anything."""
	if isinstance(value, bool) or not isinstance(value, (int, float)):
		raise TypeError(f"{value!r} is no number")
	return value

def decimal(value, digits):
	"""Write a number. What rounds to zero has no sign."""
	return f"{round(value, digits) + 0.0:.{digits}f}"

def amount(count):
	"""Write a count as the terminal does."""
	units, power = " KMGTPE", 0
	while count >= 999.5 and power < len(units) - 1:
		count, power = count / 1000, power + 1
	return f"{count:.3g} {units[power]}".rstrip()

def error_digits(error):
	"""Return the number of digits that are not chance, as the table of perf report has."""
	return 0 if not math.isfinite(error) or error >= 5 else 1 if error >= 0.5 else 2

class Value:
	"""A number with an interval and a mark; low and high may be None, or infinite."""

	def __init__(self, value, low=None, high=None, mark="", digits=None):
		self.value, self.mark = number(value), mark
		self.low, self.high = (end if end is None else number(end) for end in (low, high))
		if digits is None:
			# Without any, nothing is chance.
			digits = 2 if low is high is None else \
				error_digits(math.inf if None in (low, high) else (high - low) / 2)
		self.digits = digits

	def __str__(self):
		if self.mark == "-":
			return "-"
		if self.mark == "<":
			digits = error_digits(self.high)
			return f"<{decimal(math.ceil(self.high * 10 ** digits) / 10 ** digits, digits)}"
		return decimal(self.value, self.digits)

	def describe(self):
		"""Tell all of it."""
		bound = self.mark == "<"
		text = str(self) if bound else decimal(self.value, self.digits)
		if self.low is not None or self.high is not None:
			low, high = ("?" if end is None else decimal(end, self.digits)
				     for end in (self.low, self.high))
			text += f" ({low} to {high})"
		return text + (f" {self.mark} {MARKS.get(self.mark, '')}" if self.mark and not bound
			       else "")

class Column:
	"""A column of the table: its values are compared by colour if it is a metric."""

	def __init__(self, key, header, text, values, heat=True):
		self.key, self.header, self.text, self.heat = key, header, text, heat
		known = [v for v in values if v]
		known = [v for v in known if not v.mark] or known
		trusted = [v.value for v in known]
		self.high = max(trusted + [0]) or 1
		self.digits = max(known, key=lambda v: v.value).digits if known else 0
		# No function has less than some cycles per instruction; other metrics can be zero.
		self.low = min(trusted, default=0) if key in ("metric:cpi", "metric:ipc") \
			else min(trusted + [0])
		self.high = max(self.high, 2 * self.low)

	def place(self, number):
		"""Return the place of a number on the scale, 0 to 1."""
		part = (number - self.low) / (self.high - self.low)
		return round(math.sqrt(min(max(part, 0), 1)), 3)

def is_event(name, event):
	"""Tell if a name is that of an event, with or without PMU, terms and modifiers."""
	return bool(re.match(rf"([^/]+/)?{event}([:/,]|$)", name))

def time_share(stats, everything):
	"""Estimate the share of time, with the interval of E. B. Wilson."""
	if not everything["weight"] or not everything["weight2"]:
		return None
	p, z = stats["weight"] / everything["weight"], 1.959964
	n = everything["weight"] ** 2 / everything["weight2"]
	center = (p + z * z / (2 * n)) / (1 + z * z / n)
	half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
	return Value(100 * p, 100 * max(center - half, 0), 100 * min(center + half, 1))

def row_values(stats, event):
	"""Make the values of an entry, or of it with all that it calls."""
	values = {"samples": Value(stats["samples"], digits=0)}
	windows = stats.get("fnstat")
	if windows:
		values["time"] = time_share(windows, event["fnstat"]["all"])
		values["used"] = Value(windows["used"], digits=0)
		if windows.get("windows"):
			values["left"] = Value(100 * windows["problems"]["left"] / windows["windows"],
					       digits=0)
	elif event["period"]:
		values["time"] = Value(100 * stats["period"] / event["period"])
	for name, metric in stats.get("metrics", {}).items():
		values["metric:" + name] = Value(float(metric["value"]), metric["low"],
						 metric["high"], metric["mark"])
	return values

def total_values(event):
	"""Make the values of all entries together: counters have no error."""
	group = event.get("fnstat", {})
	stats = {"samples": event["samples"], "period": event["period"], "metrics": {}}
	if group:
		stats["fnstat"] = group["all"]
	for name, value in group.get("metrics", {}).items():
		stats["metrics"][name] = {"value": value, "low": value, "high": value, "mark": ""}
	return {**row_values(stats, event), "time": Value(100)}

class Tree:
	"""The call chains of an event, as one tree of functions."""

	def __init__(self):
		# In each node: function, period of its own, with what it calls, children.
		self.root = ["all", 0, 0, {}]

	def add(self, frames, period):
		node = self.root
		node[2] += period
		for frame in frames:
			node = node[3].setdefault(frame, [frame, 0, 0, {}])
			node[2] += period
		node[1] += period

	def nodes(self, index):
		"""List parents, functions and both periods, the largest child first."""
		parents, names, own, all_ = [], [], [], []
		todo = [(self.root, -1)]
		while todo:
			node, parent = todo.pop()
			children = sorted(node[3].values(), key=lambda n: (n[2], n[0]))
			todo += [(child, len(parents)) for child in children]
			parents.append(parent)
			names.append(index.setdefault(node[0], len(index)))
			own.append(node[1])
			all_.append(node[2])
		return {"parent": parents, "name": names, "own": own, "all": all_}

def add_chains(tree, entry, caller_first):
	"""Add the chains of the samples of an entry itself."""
	todo = [([], node) for node in reversed(entry.get("callchains", []))]
	while todo:
		frames, node = todo.pop()
		frames = frames + node["frames"]
		todo += [(frames, child) for child in node.get("next", [])]
		# With children, others begin with the entry and end with what it called.
		if node["period"] and frames and \
		   ("children" not in entry or frames[-1] == entry.get("symbol")):
			tree.add(frames if caller_first else reversed(frames), node["period"])

def e(text):
	"""Escape text for HTML, and surrogates that are not UTF-8 for the output."""
	return html.escape(str(text))

def entry_keys(entry):
	return [key for key, value in entry.items() if isinstance(value, str) and key != "mode"]

def make_columns(event, rows):
	"""Choose the columns, and their scales from the values of all rows."""
	# They have the names and the order of those of the terminal. A clock has no windows.
	group = event.get("fnstat", {})
	has_branches = group.get("branches")
	has_windows = has_branches or group.get("all", {}).get("windows")
	names = list(dict.fromkeys(key[7:] for row in rows for key in row
				   if key.startswith("metric:")))
	names.sort(key=lambda name: list(METRICS).index(name) if name in METRICS else len(METRICS))
	unit = event.get("unit", event["event"])
	whole = "the time" if unit == "ns" or is_event(unit, "(cpu-)?cycles") else f"all {unit}"
	specs = [("time", "Overhead", f"percentage of {whole}", True)]
	specs += [("metric:" + name, *METRICS.get(name, (name, "")), True) for name in names]
	if not has_windows:
		specs.append(("samples", "Samples", "number of samples", False))
	elif has_branches:
		specs.append(("used", "Windows", "number of branch stacks", False))
	else:
		specs += [("used", "Windows", "number of windows that are used", False),
			  ("left", "%DIS", "percentage of the windows that ended elsewhere", False)]
	return [Column(key, header, text, [row.get(key) for row in rows], heat)
		for key, header, text, heat in specs]

def cell(column, value):
	if value is None:
		return "<td>-</td>"
	scale, classes = "", []
	if column.heat:
		low = column.low if value.low is None else value.low
		high = column.high if value.high is None else value.high
		scale = (f' data-t="{column.place(value.value)}" data-l="{column.place(low)}" '
			 f'data-h="{column.place(high)}"')
		classes = ["heat"] + (["bar"] if value.low is not None or value.high is not None
				      else [])
	if value.mark:
		classes.append("poor")
	mark = "<sup>?</sup>" if value.mark == "?" else ""
	return (f'<td class="{" ".join(classes)}"{scale} data-v="{value.value!r}" '
		f'title="{e(column.header + " " + value.describe())}">{e(str(value))}{mark}</td>')

def table(columns, rows, totals, keys, kind, hidden, event):
	"""Write the table of the entries that have something of this kind, and of all together."""
	def header(text, title, numeric, sort=None):
		return (f'<th scope="col" aria-sort="{sort or "none"}"{" class=n" if numeric else ""}>'
			f'<button type="button" title="{e(title)}">{e(text)}</button></th>')

	caption = "functions alone" if kind == "own" else "functions with what they call"
	out = [f'<table class="{kind}"{" hidden" if hidden else ""}>'
	       f"<caption>{e(event)}: {caption}</caption><thead><tr>"]
	out += [header(key.replace("_", " ").title(), "sort by name", False) for key in keys]
	out += [header(column.header, column.text, True,
		       "descending" if column.key == "time" else None) for column in columns]
	out.append("</tr></thead><tbody>")
	for entry, values in rows:
		mode = entry.get("mode", ".")
		mode = f"<small>[{e(mode)}]</small> " if mode != "." else ""
		names = [e(entry.get(key, "")) for key in keys] or [""]
		out.append(f'<tr><th scope="row" title="{names[0]}">{mode}{names[0]}</th>' +
			   "".join(f'<td class="name" title="{name}">{name}</td>'
				   for name in names[1:]) +
			   "".join(cell(column, values.get(column.key)) for column in columns) +
			   "</tr>")
	out.append('</tbody><tfoot><tr><th scope="row">[total]</th>' + "<td></td>" * (len(keys) - 1) +
		   "".join(f"<td>{e(totals.get(column.key, '-'))}</td>" for column in columns) +
		   "</tr></tfoot></table>")
	return "\n".join(out)

def limit_rows(rows, max_rows, kind):
	"""Remove the rows with the least time, and tell how many, and how much that is."""
	left_out = rows[max_rows:]
	del rows[max_rows:]
	if not left_out:
		return ""
	text = f"The {max_rows} rows with the most time. Not here: {len(left_out)}"
	if kind == "own":
		part = sum(values["time"].value for _, values in left_out if values.get("time"))
		text += f" with {part:.1f} % of it together"
	return text + ", see --rows of fnstat-html.py."

def section(event, position, max_rows):
	"""Return the HTML of an event, and what its flame graph needs."""
	kinds = {"own": [], "all": []}
	tree, by_name = Tree(), {}
	caller_first = event.get("callchain_order") == "caller"
	with_children = any("children" in entry for entry in event["entries"])

	for entry in event["entries"]:
		own = row_values(entry, event)
		both = {"own": own}
		if entry["samples"]:
			kinds["own"].append((entry, own))
		if "children" in entry:
			both["all"] = row_values(entry["children"], event)
			kinds["all"].append((entry, both["all"]))
		# Functions of one name cannot be told apart in a chain.
		name = entry.get("symbol")
		by_name[name] = None if name in by_name else both
		if caller_first or not with_children:
			add_chains(tree, entry, caller_first)
	for rows in kinds.values():
		rows.sort(key=lambda row: (-row[1]["time"].value if row[1].get("time") else 0,
					   [row[0].get(key, "") for key in entry_keys(row[0])]))
	notes = {kind: limit_rows(rows, max_rows, kind) for kind, rows in kinds.items()}
	columns = make_columns(event, [row for rows in kinds.values() for _, row in rows])
	totals = total_values(event)
	keys = list(dict.fromkeys(key for entry in event["entries"] for key in entry_keys(entry)))
	# What is not for the first name, in about as many em as it is wide.
	width = sum(max(4.8, 0.65 * len(column.header) + 1.8) for column in columns) + \
		11 * len(keys[1:])

	facts = [f"{number(event['samples'])} samples"]
	windows = event.get("fnstat")
	if windows:
		everything = windows["all"]
		used, all_ = number(everything["used"]), number(everything.get("windows", 0))
		# The name is without that of the PMU.
		length = f" of {windows['length']:g} {e(event.get('unit', '').split('/')[-1])}" \
			if windows.get("length") else ""
		if windows.get("branches"):
			facts.append(f"<b>{used}</b> branch stacks")
		elif all_:
			facts.append(f"<b>{all_}</b> window{'' if all_ == 1 else 's'}{length}" +
				     ("" if used == all_ else f", {used} used"))
		facts += [f"{number(nr)} {e(PROBLEMS.get(problem, problem))}"
			  for problem, nr in everything.get("problems", {}).items() if nr]
		facts += [f"{amount(number(count))} {e(re.split('[/,](?:period|freq)=', name)[0])}"
			  for name, count in zip(windows["group"], windows["totals"])]

	out = [f'<section id="e{position}"><h2>{e(event["event"])}</h2>',
	       f'<p class="facts">{" · ".join(facts)}</p>',
	       *(f'<p class="remark">{e(remark)}</p>'
		 for remark in (windows or {}).get("remarks", [])),
	       '<p class="legend">' + "; ".join(
		       [f"<b>{e(column.header)}</b> {e(column.text)}" for column in columns if column.text] +
		       [f"<b>{e(mark)}</b> {text}" for mark, text in MARKS.items()
			if mark and any(column.key.startswith("metric:") for column in columns)]) + ".</p>",
	       '<div class="tools"><label>Find <input type="search" spellcheck="false" '
	       'placeholder="part of a name"></label> <span class="found" role="status"></span>']
	if with_children:
		out.append('<label>Table <select class="kind"><option value="own">functions alone'
			   '</option><option value="all">with what they call</option></select></label>')
	out.append('</div><div class="scroll">')
	out.append(table(columns, kinds["own"], totals, keys, "own", False, event["event"]))
	if with_children:
		out.append(table(columns, kinds["all"], totals, keys, "all", True, event["event"]))
	out.append("</div>")
	# Beside the table, which can be wider than the window.
	out += [f'<p class="legend note {kind}"{" hidden" if kind == "all" else ""}>{note}</p>'
		for kind, note in notes.items() if note]

	data = None
	if tree.root[2]:
		index, functions = {}, {}
		nodes = tree.nodes(index)
		metrics = [column for column in columns if column.key.startswith("metric:")]
		# Functions that are not in the tables have no values that are to be trusted.
		shown = {entry.get("symbol") for rows in kinds.values() for entry, _ in rows}
		for name in [name for name in index if name in shown]:
			for kind, values in (by_name.get(name) or {}).items():
				functions.setdefault(index[name], {})[kind] = [
					value and [None if value.mark else
						   column.place(value.value), value.describe()]
					for column in metrics
					for value in [values.get(column.key)]]
		data = {"names": list(index), "nodes": nodes, "functions": functions,
			"metrics": [[column.header, *(decimal(end, column.digits)
						      for end in (column.low, column.high))]
				    for column in metrics]}
		part = 100 * tree.root[2] / event["period"]
		choices = "".join(f'<option value="{kind} {i}">{e(column.header)}{text}</option>'
				  for kind, text in (("all", " with what it calls"), ("own", " alone"))
				  if kind == "own" or with_children
				  for i, column in enumerate(metrics))
		out.append(f'<div class="tools"><h3>Flame graph</h3><label>Colour <select class="colour">'
			   f'{choices}<option value="">none</option></select></label>'
			   '<span class="key"><span class="low"></span><span class="ramp"></span>'
			   '<span class="high"></span> <i class="none"></i> no value, or <b>?</b></span>'
			   '<button type="button" class="reset" disabled>Reset zoom</button>'
			   f'<small>Width: time, {part:.1f} % of all is here. '
			   'Click or Enter: zoom, arrows: move, Escape: back.</small></div>'
			   '<div class="flame" role="tree" aria-label="Flame graph"></div>')
	elif event.get("callchain_order") == "callee" and with_children:
		out.append("<p>No flame graph: write the report with '-g caller,0'.</p>")
	elif "callchain_order" not in event:
		out.append("<p>No flame graph: the report has no call chains. Record with '-g'.</p>")
	out.append("</section>")
	return "\n".join(out), data, width

STYLE = """
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1b1b; --dim: #5c5c5c; --line: #d5d5d5;
	--head: #f3f3f1; --cold: #fdf6dd; --hot: #e8743b; --none: #dcdcdc; --bar: #20304f; }
@media (prefers-color-scheme: dark) { :root { --bg: #16181b; --fg: #ececec; --dim: #a5a5a5;
	--line: #3a3d42; --head: #22252a; --cold: #2e2a1d; --hot: #b04a12; --none: #45484d;
	--bar: #b9d4ff; } }
::placeholder { color: var(--dim); }
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.2em auto; max-width: 1500px;
	padding: 0 1em; background: var(--bg); color: var(--fg); }
h1 { font-size: 1.4em; margin: 0; }
h2 { font: 600 1em ui-monospace, monospace; margin: 1.6em 0 0; overflow-wrap: anywhere; }
h3 { font-size: 1em; margin: 0; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.facts, small, .legend { color: var(--dim); } .facts { margin: .2em 0; } .facts b { color: var(--fg); }
.remark { margin: .2em 0; padding-left: .6em; border-left: 3px solid var(--hot); }
.tools { display: flex; flex-wrap: wrap; gap: .4em 1.2em; align-items: center; margin: .7em 0 .4em; }
/* What has the focus is not behind the names of columns, the totals, or the names of functions. */
.scroll { max-height: 48vh; overflow: auto; border: 1px solid var(--line); width: fit-content;
	max-width: 100%; scroll-padding: 2.2em 0 2em 10.7em; }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; z-index: 2; background: var(--head); padding: 0;
	border-bottom: 1px solid var(--line); }
thead button { all: unset; box-sizing: border-box; width: 100%; padding: .25em .6em; cursor: pointer;
	font-weight: 600; white-space: nowrap; }
.n button, td { text-align: right; } thead button:hover { text-decoration: underline; }
button:focus-visible, td:focus-visible, .frame:focus-visible { outline: 2px solid; outline-offset: -2px; }
[aria-sort=descending] button::after { content: " \\2193"; }
[aria-sort=ascending] button::after { content: " \\2191"; }
thead th:first-child, [scope=row] { position: sticky; left: 0; }
thead th:first-child { z-index: 3; } [scope=row] { z-index: 1; background: var(--bg); }
[scope=row], td.name { text-align: left; font: 13px ui-monospace, monospace; overflow: hidden;
	text-overflow: ellipsis; white-space: nowrap; }
/* Names get what the numbers leave of the window, or of the page if that is less. */
tbody th { max-width: max(17ch, calc(min(100vw, 1500px) - 2.6em - var(--numbers, 40em))); }
td.name { max-width: 20ch; }
[scope=row], td { padding: .1em .6em .22em; border-bottom: 1px solid var(--line); white-space: nowrap; }
tbody tr:hover > * { box-shadow: inset 0 1px var(--fg), inset 0 -1px var(--fg); }
td { position: relative; min-width: 3.6em; }
tfoot [scope=row], tfoot td { position: sticky; bottom: 0; background: var(--head); }
.heat, .ramp, .frame { --mix: color-mix(in oklab, var(--hot) calc(var(--t, 0) * 100%), var(--cold)); }
.heat { background: var(--mix); }
.poor { background: none; color: var(--dim); font-style: italic; }
.bar::before, .bar::after { content: ""; position: absolute; bottom: 2px; height: 1px;
	left: 0; right: 0; background: var(--bar); opacity: .25; }
.bar::after { bottom: 1px; height: 3px; min-width: 3px; opacity: 1; right: auto;
	left: calc(var(--l) * 97%); width: calc((var(--h) - var(--l)) * 97%); background: var(--bar); }
.poor.bar::after { opacity: .4; }
sup { font-size: .75em; line-height: 0; font-weight: 700; position: absolute; right: 1px; top: .75em; }
.key { display: inline-flex; gap: .4em; align-items: center; }
.ramp { width: 9em; height: 1em; background: linear-gradient(90deg in oklab, var(--cold), var(--hot)); }
.none { width: 1em; height: 1em; background: var(--none); margin-left: 1em; }
.flame { position: relative; overflow: hidden; border: 1px solid var(--line); }
.frame { position: absolute; height: 19px; box-sizing: border-box; border: 1px solid var(--bg);
	border-width: 0 1px 1px 0; padding: 0 3px; font: 12px/18px ui-monospace, monospace; overflow: hidden;
	white-space: nowrap; text-overflow: ellipsis; cursor: pointer; background: var(--none); }
.frame[style*="--t"] { background: var(--mix); }
.frame.above { opacity: .6; } .frame:hover { filter: brightness(1.12); }
.small { background: repeating-linear-gradient(45deg, var(--none) 0 2px, var(--bg) 2px 5px); cursor: default; }
.search .frame:not(.hit) { opacity: .3; } .frame.hit { font-weight: 700; }
#tip { position: fixed; z-index: 9; pointer-events: none; white-space: pre-line; max-width: 60ch;
	overflow-wrap: anywhere; background: var(--head); border: 1px solid var(--dim); padding: .3em .6em;
	font-size: 13px; }
"""

SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const one = (parent, selector) => parent.querySelector(selector);
const many = (parent, selector) => [...parent.querySelectorAll(selector)];

// A policy without 'unsafe-inline' refuses styles in attributes.
for (const cell of many(document, "td.heat"))
	for (const part of ["t", "l", "h"])
		cell.style.setProperty("--" + part, cell.dataset[part]);

// Show it below what it is about, or above it if there is no room.
function show_tip(text, x, top, bottom) {
	tip.textContent = text;
	tip.hidden = false;
	const lowest = innerHeight - tip.offsetHeight - 8, above = top - tip.offsetHeight - 4;
	tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8)) + "px";
	tip.style.top = (bottom + 4 > lowest && above >= 4 ? above
		: Math.max(4, Math.min(bottom + 4, lowest))) + "px";
}
function show_tip_of(element, text) {
	// The browser itself scrolls later, and not for what is in sight in part.
	element.scrollIntoView({block: "nearest", inline: "nearest"});
	const at = element.getBoundingClientRect();
	element.setAttribute("aria-describedby", "tip");
	show_tip(text, Math.max(at.left, 0), at.top, at.bottom);
}
const hide_tip = () => { tip.hidden = true; };
document.addEventListener("focusout", hide_tip);
// What it is about moves.
for (const type of ["wheel", "touchmove"])
	document.addEventListener(type, hide_tip, {passive: true});

// One cell takes part in the order of Tab, arrows lead to the others.
function browsable(table) {
	const body = table.tBodies[0];
	const cells = row => [...row.cells].slice(table.querySelectorAll("thead th:not(.n)").length);
	let at = body.rows[0] && cells(body.rows[0])[0];

	if (!at)
		return;
	at.tabIndex = 0;
	function go(cell) {
		at.tabIndex = -1;
		at = cell;
		at.tabIndex = 0;
		at.focus();
	}
	body.addEventListener("keydown", event => {
		const cell = event.target.closest("td"), column = cell?.cellIndex;
		const beside = (row, step) => {
			do
				row = row[step];
			while (row?.hidden);
			return row?.cells[column];
		};
		const step = cell && {ArrowLeft: () => cell.previousElementSibling,
			ArrowRight: () => cell.nextElementSibling,
			ArrowUp: () => beside(cell.parentElement, "previousElementSibling"),
			ArrowDown: () => beside(cell.parentElement, "nextElementSibling")}[event.key];
		if (event.key === "Escape")
			hide_tip();
		if (!step)
			return;
		// At the edge the page does not scroll away.
		event.preventDefault();
		const next = step();
		if (next && cells(next.parentElement).includes(next))
			go(next);
	});
	// A finger does not hover.
	body.addEventListener("click", event => {
		const cell = event.target.closest("td");
		if (cell && cells(cell.parentElement).includes(cell))
			go(cell);
	});
	body.addEventListener("focusin", event => {
		const cell = event.target.closest("td"), names = many(cell.parentElement, "th, .name");
		show_tip_of(cell, [...names.map(name => name.textContent), cell.title].join("\\n"));
	});
}

function sortable(table) {
	const headers = many(table, "thead th"), body = table.tBodies[0];
	headers.forEach((header, column) => one(header, "button").addEventListener("click", () => {
		const numeric = header.classList.contains("n"), old = header.getAttribute("aria-sort");
		const down = old === "none" ? numeric : old === "ascending";
		// What has no value comes last.
		const key = row => numeric ? parseFloat(row.cells[column].dataset.v ?? "NaN")
					   : row.cells[column].textContent;
		const rows = [...body.rows].map(row => [key(row), row]);
		rows.sort(([a], [b]) => a !== a || b !== b ? (a !== a) - (b !== b)
			: (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
		headers.forEach(other => other.setAttribute("aria-sort", "none"));
		header.setAttribute("aria-sort", down ? "descending" : "ascending");
		body.append(...rows.map(row => row[1]));
	}));
}

function flame(section, {names, nodes, functions, metrics}, wanted) {
	const box = one(section, ".flame"), colour = one(section, ".colour");
	// A part of the width: of 1500 pixels nearly one.
	const LEAST_WIDTH = 0.0005;
	const reset = one(section, ".reset"), nr = nodes.parent.length, end = new Array(nr);
	const depth = new Array(nr).fill(0), total = nodes.all[0];
	let top = 0, shown = [];
	// Children follow their parent: a subtree is [i, end[i]).
	for (let i = nr - 1; i >= 0; i--) {
		end[i] = Math.max(end[i] ?? 0, i + 1);
		if (i)
			end[nodes.parent[i]] = Math.max(end[nodes.parent[i]] ?? 0, end[i]);
	}
	for (let i = 1; i < nr; i++)
		depth[i] = depth[nodes.parent[i]] + 1;

	const percent = period => (100 * period / total).toFixed(2) + " %";
	function describe(i) {
		const values = functions[nodes.name[i]] ?? {}, lines = [names[nodes.name[i]],
			percent(nodes.all[i]) + " of the time here, " + percent(nodes.own[i]) + " alone"];
		for (const [kind, text] of [["all", "with what it calls"], ["own", "alone"]]) {
			const found = (values[kind] ?? []).flatMap((value, m) =>
				value ? [metrics[m][0] + " " + value[1]] : []);
			if (found.length)
				lines.push("", "Everywhere, " + text + ":", ...found);
		}
		return lines.join("\\n");
	}
	function draw() {
		const [kind, metric] = colour.value.split(" "), fragment = document.createDocumentFragment();
		const left = new Map(), used = new Map(), small = new Map(), word = wanted();
		let rows = 0, hits = 0, hit_end = 0;
		shown = [];
		const add = (i, x, width, above) => {
			const frame = document.createElement("div"), name = names[nodes.name[i]];
			const value = functions[nodes.name[i]]?.[kind]?.[metric];
			frame.className = "frame" + (above ? " above" : "");
			frame.style.cssText = `left:${100 * x}%;width:${100 * width}%;top:${19 * depth[i]}px`;
			if (value && value[0] !== null)
				frame.style.setProperty("--t", value[0]);
			if (word && name.toLowerCase().includes(word))
				frame.classList.add("hit");
			if (width > 0.02)
				frame.textContent = name;
			frame.setAttribute("role", "treeitem");
			frame.setAttribute("aria-level", depth[i] + 1);
			frame.setAttribute("aria-label", name + ", " + percent(nodes.all[i]));
			frame.tabIndex = i === top ? 0 : -1;
			frame.dataset.i = i;
			rows = Math.max(rows, depth[i] + 1);
			shown.push(frame);
			fragment.append(frame);
		};
		const add_small = (parent, {nr, x, width, all}) => {
			const frame = document.createElement("div");
			frame.className = "frame small";
			frame.style.cssText =
				`left:${100 * x}%;width:${100 * width}%;top:${19 * (depth[parent] + 1)}px`;
			frame.title = `${nr} that are too narrow to be drawn: ${percent(all)}`;
			frame.setAttribute("role", "treeitem");
			frame.setAttribute("aria-level", depth[parent] + 2);
			frame.setAttribute("aria-label", frame.title);
			if (width > 0.02)
				frame.textContent = frame.title;
			rows = Math.max(rows, depth[parent] + 2);
			fragment.append(frame);
		};
		for (let i = nodes.parent[top]; i >= 0; i = nodes.parent[i])
			add(i, 0, 1, true);
		shown.reverse();
		left.set(top, 0);
		for (let i = top; i < end[top]; i++) {
			const parent = nodes.parent[i], width = nodes.all[i] / nodes.all[top];
			let x = 0;
			if (i !== top) {
				x = left.get(parent) + (used.get(parent) ?? 0);
				used.set(parent, (used.get(parent) ?? 0) + width);
				left.set(i, x);
			}
			if (word && i >= hit_end && names[nodes.name[i]].toLowerCase().includes(word)) {
				hits += nodes.all[i];
				hit_end = end[i];
			}
			if (width > LEAST_WIDTH) {
				add(i, x, width, false);
				continue;
			}
			// The largest child is first: all that follow are as narrow.
			const others = small.get(parent) ?? {nr: 0, x, width: 0, all: 0};
			small.set(parent, others);
			others.nr++;
			others.width += width;
			others.all += nodes.all[i];
			i = end[i] - 1;
		}
		for (const [parent, others] of small)
			if (others.width > LEAST_WIDTH)
				add_small(parent, others);
		box.replaceChildren(fragment);
		box.style.height = 19 * rows + "px";
		box.classList.toggle("search", word !== "");
		one(section, ".low").textContent = metrics[metric]?.[1] ?? "";
		one(section, ".high").textContent = metrics[metric]?.[2] ?? "";
		reset.disabled = top === 0;
		return word ? percent(hits) + " of the time" : "";
	}
	function zoom(i, focus) {
		top = i;
		hide_tip();
		draw();
		if (focus)
			one(box, `[data-i="${i}"]`)?.focus();
	}
	box.addEventListener("click", event => {
		const frame = event.target.closest("[data-i]");
		if (frame)
			zoom(+frame.dataset.i, true);
	});
	box.addEventListener("keydown", event => {
		const frame = event.target.closest("[data-i]"), i = +frame?.dataset.i;
		const at = shown.indexOf(frame), same = step => {
			let k = at + step;
			while (shown[k] && depth[shown[k].dataset.i] !== depth[i])
				k += step;
			return shown[k];
		};
		const next = {ArrowUp: () => one(box, `[data-i="${nodes.parent[i]}"]`),
			      ArrowDown: () => shown.find(f => nodes.parent[f.dataset.i] === i),
			      ArrowLeft: () => same(-1), ArrowRight: () => same(1)}[event.key];
		if (next)
			next()?.focus();
		else if (event.key === "Enter" || event.key === " ")
			zoom(i, true);
		else if (event.key === "Escape")
			zoom(0, true);
		else
			return;
		event.preventDefault();
	});
	box.addEventListener("mousemove", event => {
		const frame = event.target.closest("[data-i]");
		if (frame)
			show_tip(describe(frame.dataset.i), event.clientX, event.clientY, event.clientY + 12);
		else
			hide_tip();
	});
	box.addEventListener("mouseleave", hide_tip);
	box.addEventListener("focusin", event => {
		show_tip_of(event.target, describe(event.target.dataset.i));
	});
	colour.addEventListener("change", draw);
	reset.addEventListener("click", () => zoom(0, false));
	return draw;
}

many(document, "section").forEach((section, number) => {
	const search = one(section, "input"), kind = one(section, ".kind");
	const wanted = () => search.value.trim().toLowerCase();
	const draw = data[number] ? flame(section, data[number], wanted) : () => "";
	function find() {
		const part = draw();
		for (const table of many(section, "table")) {
			const rows = [...table.tBodies[0].rows];
			for (const row of rows)
				row.hidden = ![...row.querySelectorAll("th, .name")].some(name =>
					name.textContent.toLowerCase().includes(wanted()));
			if (!table.hidden)
				one(section, ".found").textContent = wanted() &&
					rows.filter(row => !row.hidden).length + " of " + rows.length +
					(part && ", " + part);
		}
	}
	many(section, "table").forEach(sortable);
	many(section, "table").forEach(browsable);
	search.addEventListener("input", find);
	kind?.addEventListener("change", () => {
		many(section, "table, .note").forEach(t => { t.hidden = !t.classList.contains(kind.value); });
		find();
	});
	draw();
});
"""

def csp_hash(text):
	"""Return what a Content-Security-Policy has to have for an element with this text."""
	digest = base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode()
	return f"'sha256-{digest}'"

def page(reports, max_rows):
	"""Return the page, in ASCII."""
	body, data, style = [], [], STYLE
	for report in reports:
		facts = [f"{label} <b>{e(report[key])}</b>" for key, label in
			 (("host", "host"), ("cpuid", "CPU"), ("arch", "architecture")) if key in report]
		facts.append(f"lost samples <b>{e(report.get('lost_samples', 0))}</b>")
		body.append(f'<p class="facts">{" · ".join(facts)}</p>')
		for event in report["events"]:
			text, tree, width = section(event, len(data), max_rows)
			style += f"#e{len(data)} {{ --numbers: {width:.1f}em; }}\n"
			body.append(text)
			data.append(tree)
	# Nothing in a string can end the element.
	data = json.dumps(data, separators=(",", ":"), allow_nan=False)
	for char in "<>&":
		data = data.replace(char, f"\\u{ord(char):04x}")
	text = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {csp_hash(style)}; script-src {csp_hash(SCRIPT)}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<title>perf fnstat</title><style>{style}</style></head><body>
<h1>perf fnstat: metrics per function</h1>
{chr(10).join(body)}
<p class="legend">A colour is a place on the scale of the column, which ends at its largest
value that is trusted; the scale is of square roots. The line below a number is its interval of
95&nbsp;%.</p>
<div id="tip" role="tooltip" hidden></div>
<script type="application/json" id="data">{data}</script>
<script>{SCRIPT}</script></body></html>
"""
	# What was not UTF-8 has no character.
	text = re.sub("[\ud800-\udfff]", "\ufffd", text)
	return text.encode("ascii", "xmlcharrefreplace")

def refuse_constant(name):
	raise ValueError(f"{name} is no number")

def read_report(name):
	"""Read and check a report, or end with a sentence."""
	try:
		if name == "-":
			text = sys.stdin.buffer.read()
		else:
			with open(name, "rb") as file:
				text = file.read()
	except OSError as error:
		sys.exit(f"fnstat-html: {name}: {error.strerror}")
	try:
		report = json.loads(text.decode("utf-8", "surrogateescape"),
				    parse_constant=refuse_constant)
	except (ValueError, RecursionError):
		sys.exit(f"fnstat-html: {name} is not JSON: write it with 'perf report --json'")
	if not isinstance(report, dict) or "version" not in report:
		sys.exit(f"fnstat-html: {name} is not a report of 'perf report --json'")
	if report["version"] != VERSION:
		sys.exit(f"fnstat-html: {name} has version {report['version']} of the format, "
			 f"this program reads {VERSION}")
	if not report.get("events"):
		sys.exit(f"fnstat-html: {name} has no events: nothing was sampled")
	return report

def main():
	parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
	parser.add_argument("-o", "--output", metavar="PAGE", help="default: the standard output")
	parser.add_argument("--rows", metavar="N", type=int, default=MAX_ROWS,
			    help="of each table, those with the most time (default: %(default)s)")
	parser.add_argument("report", nargs="+", metavar="REPORT",
			    help="of 'perf report --json', - is the standard input")
	args = parser.parse_args()
	reports = [read_report(name) for name in args.report]
	try:
		text = page(reports, args.rows)
	except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError,
		ValueError) as error:
		sys.exit(f"fnstat-html: the report is damaged: {type(error).__name__}: {error}")
	try:
		if args.output:
			with open(args.output, "wb") as file:
				file.write(text)
		else:
			sys.stdout.buffer.write(text)
			sys.stdout.buffer.flush()
	except OSError as error:
		sys.exit(f"fnstat-html: {args.output or 'standard output'}: {error.strerror}")

if __name__ == "__main__":
	main()
