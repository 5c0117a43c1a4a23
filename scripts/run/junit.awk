# SPDX-License-Identifier: GPL-2.0
# Print JUnit XML of lines "suite NAME", "case passed|failed|skipped NAME" of that suite, and
# "text LINE", what a suite that failed said.

function escape(text)
{
	gsub(/[\001-\010\013\014\016-\037]/, "?", text)
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	gsub(/"/, "\\&quot;", text)
	return text
}

function end_suite()
{
	if (suite == "")
		return
	printf "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n%s", suite,
		nr["passed"] + nr["failed"] + nr["skipped"], nr["failed"], nr["skipped"], cases
	if (text != "")
		printf "<system-out>%s</system-out>\n", text
	print "</testsuite>"
	split("", nr)
	suite = cases = text = ""
}

BEGIN		{ print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>" }
/^suite /	{ end_suite(); suite = escape(substr($0, 7)) }
/^case /	{
	what = $2
	sub(/^case [a-z]+ /, "")
	nr[what]++
	cases = cases "<testcase classname=\"" suite "\" name=\"" escape($0) "\"" \
		(what == "passed" ? "/>\n" : "><" (what == "failed" ? "failure" : what) "/></testcase>\n")
}
/^text /	{ text = text escape(substr($0, 6)) "\n" }
END		{ end_suite(); print "</testsuites>" }
