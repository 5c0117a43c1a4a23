#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: test-page.sh
#
# Does fnstat-html.py make a page of what "perf report --json" writes, which does in Chromium what
# it should, or refuse it with one sentence? KTAP.
. "$(dirname "$0")/../scripts/common.sh"
. "$TOP/scripts/packages.sh"

script=$TOP/html/fnstat-html.py
need python3
testdir=$(mktemp -d)
trap 'rm -rf "$testdir"' EXIT
log=$testdir/log out=$testdir/log PYTHON=python3
. "$TOP/tests/guest/ktap.sh"
plan 34

check()				# WHAT COMMAND...
{
	local what=$1 status=0
	shift

	"$@" > "$log" 2>&1 || status=$?
	result $status "$what"
}

# page REPORT: write page.html
page() {
	"${PYTHON}" "${script}" "$1" > "${testdir}/page.html" 2> "${log}"
}

"${PYTHON}" - "${testdir}" << 'END'
import json, re, sys

def stats(samples, cpi, mark):
	return {"samples": samples, "period": 100 * samples,
		"fnstat": {"weight": 100 * samples, "weight2": 1e4 * samples,
			   "windows": samples, "used": samples,
			   "problems": {"left": samples // 2}},
		"metrics": {"cpi": {"mark": mark, "value": cpi, "high": 2 * cpi,
				    "low": None if mark == "?" else 0.75 * cpi}}}

# The second ends a script, an attribute and a comment, the last is not UTF-8.
names = ["main", "a<b>&\"c'</script><!--", "k\u00e9\u4e2d", "x\udcff"]
entries = [{"symbol": name, "mode": ".", **stats(10 * (i + 1), 1.5 + i, ["", "<", "?", "-"][i]),
	    "children": stats(100 if i == 0 else 10 * (i + 1), 1.5 + i, ""),
	    "callchains": [{"period": 1000 * (i + 1), "frames": ["main", name] if i else ["main"]}]}
	   for i, name in enumerate(names)]
# What main calls, which its own samples must not be taken for.
entries[0]["callchains"][0]["next"] = [{"period": 9000, "frames": names[1:]}]
report = {"version": 1, "host": "<host>", "lost_samples": 7, "events": [
	{"event": "cycles/period=100/", "unit": "cycles", "samples": 100, "period": 10000,
	 "callchain_order": "caller",
	 "fnstat": {"group": ["cycles/period=100/", "instructions/freq=7/P"], "totals": [300e7, 100e7],
		    "metrics": {"cpi": 3}, "sampler": 0, "length": 300, "remarks": ["Throttled <b> & more"],
		    "all": {"weight": 10000, "weight2": 1e6, "windows": 100, "used": 100,
			    "problems": {"left": 50, "lost": 0}}},
	 "entries": entries}]}

def write(name, value):
	with open(f"{sys.argv[1]}/{name}.json", "w", encoding="utf-8",
		  errors="surrogateescape") as file:
		file.write(value if isinstance(value, str) else
			   json.dumps(value, ensure_ascii=False))

write("good", report)
write("branches", json.dumps(report).replace('"sampler": 0', '"branches": true, "sampler": 0'))
# A clock has no windows, and neither has an ordinary period.
write("clock", re.sub('"(windows|used)": [0-9]+', r'"\1": 0',
		      json.dumps(report).replace("cycles/period=100/", "cpu-clock")
				.replace('"mode"', '"shared_object": "app", "mode"')))
write("others", json.dumps(report).replace('"unit": "cycles"', '"unit": "page-faults"')
				 .replace('{"cpi": {', """{
	"other": {"mark": "", "value": 1, "low": null, "high": null},
	"instructions-share": {"mark": "", "value": 1, "low": null, "high": null}, "cpi": {"""))
write("no-json", "perf report: no data")
write("list", [])
write("version", {**report, "version": 2})
write("no-events", {**report, "events": []})
write("nan", json.dumps(report).replace("1.5", "NaN"))
write("damaged", {**report, "events": [{"event": "cycles"}]})
write("deep", "[" * 100000)
write("huge", json.dumps(report).replace('"value": 1.5', '"value": 1' + 400 * "0"))
# Metrics of TopDown can be so.
write("negative", re.sub('"value": [0-9.]+', '"value": -1.5', json.dumps(report))
      .replace('"value": -1.5', '"value": -0.001', 1).replace('"cpi": {', '"tma_x": {'))
END

if ! page "${testdir}/good.json"
then
	result 1 "Write a page"
	exit "$failed"
fi
result 0 "Write a page"
cp "${testdir}/page.html" "${testdir}/first.html"
check "From the standard input, the same bytes" \
	sh -c "'${PYTHON}' '${script}' - < '${testdir}/good.json' | cmp - '${testdir}/first.html'"

check "What is missing" grep -q '<p class="remark">Throttled &lt;b&gt; &amp; more<' \
	"${testdir}/first.html"

check "What columns and marks are, for who has no mouse" \
	grep -q '<p class="legend">.*<b>CPI</b> cycles per instruction; .*<b>&lt;</b> less than that; ' \
	"${testdir}/first.html"

# Counters have no error, shares are of all. Both tables have it.
totals='<tfoot><tr><th scope="row">\[total\]</th><td>100.00</td><td>3.00</td><td>100</td><td>50</td></tr></tfoot>'
check "Totals" [ "$(grep -c "$totals" "$testdir/first.html")" = 2 ]

check "A bound" grep -q 'title="CPI &lt;5 (1.9 to 5.0)"' "${testdir}/first.html"

# columns PAGE: print the names of the columns of its first table
columns() {
	sed -n '/class="own"/,/<tbody>/s/.*<button[^>]*>\([^<]*\)<.*/\1/p' "$1" | paste -sd ' '
}

# The terminal has these names in this order, that of the report can be another.
page "$testdir/others.json"
check "Columns" [ "$(columns "$testdir/page.html")" = "Symbol Overhead CPI %I other Windows %DIS" ]
check "Amounts" grep -q '<b>100</b> windows of 300 cycles .* 3 G cycles .* 1 G instructions<' \
	"$testdir/first.html"

check "Time, or what else was sampled" \
	sh -c "grep -q '<b>Overhead</b> percentage of all page-faults;' '$testdir/page.html' &&
	       grep -q '<b>Overhead</b> percentage of the time;' '$testdir/first.html'"

# They do not end elsewhere.
page "${testdir}/branches.json"
check "Branch stacks" sh -c "grep -q '<b>100</b> branch stacks' '${testdir}/page.html' &&
	[ '$(columns "$testdir/page.html")' = 'Symbol Overhead CPI Windows' ]"

page "${testdir}/clock.json"
check "No windows" sh -c "[ '$(columns "$testdir/page.html")' = 'Symbol Shared Object Overhead CPI Samples' ] &&
	! grep -q 'indows\|%DIS' '${testdir}/page.html'"

# check_page NAME EXPRESSION: check what Python finds in the page
check_page() {
	if "${PYTHON}" - "${testdir}/first.html" "$2" 2> "${log}" << 'END'
import html.parser, json, sys

class Page(html.parser.HTMLParser):
	def __init__(self):
		super().__init__()
		self.tags, self.rows, self.scripts, self.sources = [], [], [], []
		self.in_body = False

	def handle_starttag(self, tag, attrs):
		self.tags.append(tag)
		self.sources += [value for name, value in attrs if name in ("src", "href")]
		if tag in ("thead", "tbody"):
			self.in_body = tag == "tbody"
		if tag == "tr" and self.in_body:
			self.rows.append([])
		if tag in ("td", "th") and self.in_body:
			self.rows[-1].append("")
		if tag == "script":
			self.scripts.append("")

	def handle_endtag(self, tag):
		if tag == "tbody":
			self.in_body = False

	def handle_data(self, text):
		if self.tags and self.tags[-1] == "script":
			self.scripts[-1] += text
		elif self.in_body and self.rows and self.rows[-1]:
			self.rows[-1][-1] += text.strip("\n")

with open(sys.argv[1], "rb") as file:
	text = file.read().decode("ascii")
page = Page()
page.feed(text)
data = json.loads(page.scripts[0])
name = "a<b>&\"c'</script><!--"
own, children = page.rows[:4], page.rows[4:8]
sys.exit(not eval(sys.argv[2]))
END
	then
		result 0 "$1"
	else
		result 1 "$1"
	fi
}

check_page "Rows" 'len(page.rows) == 8 and \
	[row[0] for row in own] == ["x\ufffd", "k\u00e9\u4e2d", name, "main"]'
check_page "Values" 'children[0][:4] == ["main", "100.0", "1.5", "100"] and \
	[row[2] for row in own] == ["-", "4?", "<5", "1.5"]'
check_page "No digits that are chance" '[row[1] for row in own] == ["40", "30", "20", "10"] and \
	data[0]["metrics"] == [["CPI", "1.5", "4.5"]]'
check_page "Scripts end where they should" 'len(page.scripts) == 2 and "<!--" not in text'
check_page "Names in the flame graph" 'name in data[0]["names"] and "x\udcff" in data[0]["names"]'
check_page "Chains add up" 'data[0]["nodes"]["all"][0] == sum(data[0]["nodes"]["own"]) == 10000'
check_page "Nothing to load" 'page.sources == ["data:,"] and \
	"http:" not in text and "https:" not in text'

if page "${testdir}/negative.json" && grep -q "<td [^>]*>-1.5<" "${testdir}/page.html" &&
   grep -q "<td [^>]*>0.0<" "${testdir}/page.html"
then
	result 0 "Values below zero"
else
	result 1 "Values below zero"
fi
# The report has no total of it, and no text.
check "A metric of others" sh -c "grep -q '<tfoot>.*<td>-</td>.*</tfoot>' '${testdir}/page.html' &&
	! grep -q '<b>tma_x</b>' '${testdir}/page.html'"
if "${PYTHON}" "${script}" --rows 3 -o "${testdir}/page.html" "${testdir}/good.json" 2> "${log}" &&
   grep -q "^<p class=.*own.>The 3 rows .* Not here: 1 with 10.0 %" "${testdir}/page.html" &&
   [ "$(grep -c "^<tr><th scope=.row." "${testdir}/page.html")" = 6 ]
then
	result 0 "The rows with the most time"
else
	result 1 "The rows with the most time"
fi

# check_attack KIND: put markup wherever the report has something of a kind, one after the
# other: each page has the elements and attributes of others, or is refused
check_attack() {
	if "${PYTHON}" -B - "${script}" "${testdir}/good.json" "$1" 2> "${log}" << 'END'
import base64, copy, hashlib, html.parser, importlib.util, json, re, sys

spec = importlib.util.spec_from_file_location("page", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
with open(sys.argv[2], encoding="utf-8", errors="surrogateescape") as file:
	report = json.load(file)
attack = "\"'--></script></style><img src=x onerror=pwn()><script>pwn()</script>"

class Page(html.parser.HTMLParser):
	def __init__(self, text):
		super().__init__()
		self.seen, self.texts, self.inside, self.policy = set(), {}, None, ""
		self.feed(text)

	def handle_starttag(self, tag, attrs):
		self.seen |= {(tag, name) for name, _ in attrs} | {(tag, None)}
		self.inside = tag if tag == "style" or tag == "script" and not attrs else None
		if self.inside:
			assert tag not in self.texts, f"two elements {tag}"
			self.texts[tag] = ""
		if dict(attrs).get("http-equiv") == "Content-Security-Policy":
			self.policy = dict(attrs)["content"]

	def handle_endtag(self, tag):
		self.inside = None

	def handle_data(self, text):
		if self.inside:
			self.texts[self.inside] += text

def make_page(report):
	return Page(module.page([report], 100).decode("ascii"))

def places(value, path=()):
	"""List paths to all values and to the names of all members."""
	members = value.items() if isinstance(value, dict) else \
		enumerate(value) if isinstance(value, list) else ()
	for key, member in members:
		yield path, key, member
		yield from places(member, path + (key,))

good = make_page(report)
# The policy refuses this in a page that was not attacked, too.
assert not [name for _, name in good.seen if name and re.match("style$|on", name)]
assert "unsafe" not in good.policy and "default-src 'none'" in good.policy
for kind in "script", "style":
	digest = base64.b64encode(hashlib.sha256(good.texts[kind].encode()).digest()).decode()
	assert f"{kind}-src 'sha256-{digest}'" in good.policy
tried = refused = 0
for path, key, value in places(report):
	kinds = {"names": isinstance(key, str), "strings": isinstance(value, str),
		 "numbers": isinstance(value, (int, float))}
	if not kinds[sys.argv[3]]:
		continue
	bad = copy.deepcopy(report)
	place = bad
	for step in path:
		place = place[step]
	if sys.argv[3] == "names":
		place[attack] = place.pop(key)
	else:
		place[key] = attack
	tried += 1
	try:
		page = make_page(bad)
	except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
		refused += 1
		continue
	assert page.seen <= good.seen, (path, key, page.seen - good.seen)
	assert page.texts["script"] == good.texts["script"], (path, key)
print(f"# {tried} places, {refused} refused")
sys.exit(not tried)
END
	then
		result 0 "Nothing of a report is markup: $1"
	else
		result 1 "Nothing of a report is markup: $1"
	fi
}
check_attack names
check_attack strings
check_attack numbers

for bad in no-json list version no-events nan damaged deep huge missing
do
	if page "${testdir}/${bad}.json" || [ -s "${testdir}/page.html" ] ||
	   [ "$(wc -l < "${log}")" != 1 ] || ! grep -q "^fnstat-html: " "${log}"
	then
		result 1 "Refuse a report: ${bad}"
	else
		result 0 "Refuse a report: ${bad}"
	fi
done

check "In Chromium, see page.sh" "$TOP/html/page.sh" "$testdir/good.json"
exit "$failed"
