# SPDX-License-Identifier: GPL-2.0
# Count the results in a KTAP file. Prints "PASSED FAILED SKIPPED XFAILED", then
# "note TEXT", "skip REASON" for each skipped test, "fail TEXT" for each line
# that a failed test said, and "case passed|failed|skipped NAME" for each result that is not an
# expected failure. Prints nothing for a file that is no KTAP. -v status=
# is the exit status.
#
# kselftest's runner puts "# " before what a program says: its results then
# count one by one, in place of the runner's one for the program. Indented results
# are subtests, a part of the result that follows them.

# Begin the results of the runner (0) or of a program that it runs (1).
function begin(level)
{
	planned[level] = -1
	seen[level] = bad[level] = 0
}

function note(text)
{
	notes = notes (notes == "" ? "" : ", ") text
}

function fail(text)
{
	failed++
	lines = lines said "fail " text "\n"
	said = ""
}

# Count the results that the plan promises and that are not there.
function end(level,	lost)
{
	if (planned[level] < 0)
		return
	lost = planned[level] - seen[level]
	if (lost != 0) {
		note("has " seen[level] " of " planned[level] " results")
		failed += lost > 0 ? lost : 1
		bad[level]++
	}
}

function result(level, text,	skip, what, name)
{
	seen[level]++
	what = "failed"
	name = text
	sub(/^(not )?ok [0-9]+ *-? */, "", name)
	sub(/ *#.*/, "", name)
	# A directive ends the line; its case does not matter.
	if (text ~ /#[ \t]*[Xx][Ff][Aa][Ii][Ll]/) {
		xfailed++
		what = ""
	} else if (text ~ /^ok .*#[ \t]*[Ss][Kk][Ii][Pp]/) {
		skipped++
		what = "skipped"
		skip = text
		sub(/.*#[ \t]*[Ss][Kk][Ii][Pp][A-Za-z]*:?[ \t]*/, "", skip)
		lines = lines "skip " (skip == "" ? "no reason" : skip) "\n"
	} else if (text ~ /^ok /) {
		passed++
		what = "passed"
	} else {
		bad[level]++
		fail(text)
	}
	if (what != "")
		lines = lines "case " what " " name "\n"
	said = ""
}

BEGIN		{ begin(0); begin(1); nested = 0 }

# A program of kselftest's runner.
/^# (TAP|KTAP) version/	{ begin(1); nested = 1; next }
/^# 1\.\.[0-9]+/	{
	if (nested && planned[1] < 0)
		planned[1] = substr($2, 4) + 0
	next
}
/^# (not )?ok [0-9]+/	{ if (nested) { result(1, substr($0, 3)); next } }

/^1\.\.[0-9]+/	{
	if (planned[0] < 0)
		planned[0] = substr($1, 4) + 0
	if (/^1\.\.0.*#[ \t]*[Ss][Kk][Ii][Pp]/)
		skipped++
	next
}
/^(not )?ok [0-9]+/ {
	if (nested) {
		# All its results are counted. One of its own: it crashed, or timed out.
		before = bad[1]
		end(1)
		seen[0]++
		if (/^not ok/ && !bad[1])
			fail($0)
		else if (/^not ok/ && before != bad[1])
			lines = lines said "fail " $0 "\n"
		begin(1)
		nested = 0
		said = ""
	} else {
		result(0, $0)
	}
	next
}
/^(# )?Bail out!/	{ note("bailed out"); lines = lines "fail " $0 "\n"; next }
# What the runner says itself.
/^# (selftests: |timeout set to |overriding timeout)/	{ next }
/^ *#/		{ said = said "fail " (nested ? substr($0, 3) : $0) "\n"; next }
/^ *not ok/	{ said = said "fail " $0 "\n" }

END {
	if (planned[0] < 0 && !seen[0] && notes == "")
		exit
	if (planned[0] < 0)
		note("has no plan")
	if (nested) {
		end(1)
		seen[0]++
	}
	end(0)
	if (status == "124")
		note("took too long")
	else if (status != "0" && !failed && !(passed == 0 && skipped))
		note("exit status " status)
	if (notes != "" && !failed)
		failed++
	print passed + 0, failed + 0, skipped + 0, xfailed + 0
	if (notes != "")
		print "note " notes
	printf "%s", lines
}
