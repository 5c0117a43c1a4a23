#!/bin/bash
# perf fnstat report as a page
# SPDX-License-Identifier: GPL-2.0

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh

script=${shelldir}/../../scripts/python/fnstat-html.py
if [ ! -f "${script}" ]
then
	skip_test "No fnstat-html.py"
fi

# page REPORT: write page.html
page() {
	"${PYTHON}" "${script}" "$1" > "${testdir}/page.html" 2> "${log}"
}

"${PYTHON}" - "${testdir}" << 'END'
import json, re, sys

def stats(samples, cpi, mark):
	return {"samples": samples, "period": 100 * samples,
		"windows": {"rounds": samples, "weight": 100 * samples, "weight2": 1e4 * samples,
			    "windows": samples, "used": samples,
			    "problems": {"left": samples // 2}},
		"metrics": {"cpi": {"mark": mark, "value": cpi, "low": None, "high": 2 * cpi}}}

# The second ends a script, an attribute and a comment, the last is not UTF-8.
names = ["main", "a<b>&\"c'</script><!--", "k\u00e9\u4e2d", "x\udcff"]
entries = [{"symbol": name, "mode": ".", **stats(10 * (i + 1), 1.5 + i, "?" if i == 2 else ""),
	    "children": stats(100 if i == 0 else 10 * (i + 1), 1.5 + i, ""),
	    "callchains": [{"period": 1000 * (i + 1), "frames": ["main", name] if i else ["main"]}]}
	   for i, name in enumerate(names)]
# What main calls, which its own samples must not be taken for.
entries[0]["callchains"][0]["next"] = [{"period": 9000, "frames": names[1:]}]
report = {"version": 2, "host": "<host>", "lost_samples": 7, "events": [
	{"event": "cycles/period=100/", "samples": 100, "period": 10000,
	 "callchain_order": "caller",
	 "windows": {"group": ["cycles/period=100/", "instructions"], "totals": [300, 100],
		     "sampler": 0, "length": 300,
		     "all": {"weight": 10000, "weight2": 1e6, "windows": 100, "used": 100,
			     "problems": {"left": 50, "lost": 0}}},
	 "entries": entries}]}

def write(name, value):
	with open(f"{sys.argv[1]}/{name}.json", "w", encoding="utf-8",
		  errors="surrogateescape") as file:
		file.write(value if isinstance(value, str) else
			   json.dumps(value, ensure_ascii=False))

write("good", report)
write("no-json", "perf report: no data")
write("list", [])
write("version", {**report, "version": 1})
write("no-events", {**report, "events": []})
write("nan", json.dumps(report).replace("1.5", "NaN"))
write("damaged", {**report, "events": [{"event": "cycles"}]})
write("deep", "[" * 100000)
write("huge", json.dumps(report).replace('"value": 1.5', '"value": 1' + 400 * "0"))
# As metrics of TopDown can be.
write("negative", re.sub('"value": [0-9.]+', '"value": -1.5',
			 json.dumps(report).replace('"cpi"', '"tma_x"')))
END

if ! page "${testdir}/good.json"
then
	fail "Write a page"
	end_test
fi
pass "Write a page"
cp "${testdir}/page.html" "${testdir}/first.html"
check "From the standard input, the same bytes" \
	sh -c "'${PYTHON}' '${script}' - < '${testdir}/good.json' | cmp - '${testdir}/first.html'"

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
		pass "$1"
	else
		fail "$1"
	fi
}

check_page "Rows" 'len(page.rows) == 8 and \
	[row[0] for row in own] == ["x\ufffd", "k\u00e9\u4e2d", name, "main"]'
check_page "Values" 'children[0][:4] == ["main", "100", "1.50", "100.00"] and own[1][2] == "3.50?"'
check_page "Scripts end where they should" 'len(page.scripts) == 2 and "<!--" not in text'
check_page "Names in the flame graph" 'name in data[0]["names"] and "x\udcff" in data[0]["names"]'
check_page "Chains add up" 'data[0]["nodes"]["all"][0] == sum(data[0]["nodes"]["own"]) == 10000'
check_page "Nothing to load" 'page.sources == ["data:,"] and \
	"http:" not in text and "https:" not in text'

if page "${testdir}/negative.json" && grep -q "<td [^>]*>-1.50" "${testdir}/page.html"
then
	pass "Values below zero"
else
	fail "Values below zero"
fi
if "${PYTHON}" "${script}" --rows 3 -o "${testdir}/page.html" "${testdir}/good.json" 2> "${log}" &&
   grep -q "<tfoot>.* 3 rows .* Not here: 1 with 10.00 %" "${testdir}/page.html" &&
   [ "$(grep -c "<th scope=.row." "${testdir}/page.html")" = 6 ]
then
	pass "The rows with the most time"
else
	fail "The rows with the most time"
fi

for bad in no-json list version no-events nan damaged deep huge missing
do
	if page "${testdir}/${bad}.json" || [ -s "${testdir}/page.html" ] ||
	   [ "$(wc -l < "${log}")" != 1 ] || ! grep -q "^fnstat-html: " "${log}"
	then
		fail "Refuse a report: ${bad}"
	else
		pass "Refuse a report: ${bad}"
	fi
done

data=${testdir}/perf.data
html=${testdir}/report.html
PERF_EXEC_PATH=$(realpath "${shelldir}/../..")
export PERF_EXEC_PATH
if ! run_logged perf record -g -o "${data}" -e '{cpu-clock/period=100000/,page-faults}:uS' \
	perf test -w fnmix 300
then
	skip "perf fnstat report --html: cannot record"
elif run_logged perf fnstat report -i "${data}" --no-inline --html "${html}" &&
     grep -q "Flame graph</h3>" "${html}" && grep -q ">fnmix_cache_miss<" "${html}"
then
	pass "perf fnstat report --html"
else
	fail "perf fnstat report --html"
fi
# test_no_page NAME REGEX OPTIONS...: there is one sentence, and no page
test_no_page() {
	local what=$1 regex=$2

	shift 2
	if run_logged perf fnstat report "$@" --html "${testdir}/none.html" ||
	   [ -e "${testdir}/none.html" ] || [ "$(wc -l < "${log}")" != 1 ] ||
	   ! grep -q "${regex}" "${log}"
	then
		fail "${what}"
	else
		pass "${what}"
	fi
}
test_no_page "No page of no recording" "No such file" -i "${testdir}/nothing"
test_no_page "No page of a hierarchy" "no hierarchy" -i "${data}" --hierarchy
# perf adds the directory that it is in to PATH.
mkdir "${testdir}/bin"
ln -s "$(command -v perf)" "${testdir}/bin/perf"
if run_logged env PATH=/nonexistent "${testdir}/bin/perf" fnstat report -i "${data}" --no-inline \
	--html "${testdir}/none.html" || [ -e "${testdir}/none.html" ] ||
   ! grep -q "cannot run python3" "${log}"
then
	fail "No page without Python"
else
	pass "No page without Python"
fi
if run_logged perf fnstat report -i "${data}" --html || ! grep -q "name of a file" "${log}"
then
	fail "No page without a name"
else
	pass "No page without a name"
fi

end_test
