# SPDX-License-Identifier: GPL-2.0
# Print the lines of machines/variants.table and tests/tests.table that are not what a line can be, as
# "FILE:LINE: WHAT". Run where these are.

function complain(what)
{
	print FILENAME ":" FNR ": " what ": " $0
}

FILENAME ~ /variants/ && /^[@a-z]/ {
	if (!/^(@[a-z0-9]|[a-z])[a-z0-9._-]* (@?[a-z0-9][a-z0-9._-]*|-) [^ ]/)
		complain("no \"NAME OF WHAT\"")
	if ($1 in machine || system("test -e machines/" $1 ".conf") == 0)
		complain("a second machine of this name")
	machine[$1]
	machines++
	next
}
FILENAME ~ /variants/ {
	if (/^\t/ && !machines)
		complain("of no machine")
	else if (/^ /)
		complain("spaces in place of a tab")
	else if (/^\t/ && !/^\t([a-z]+\+?=("[^"]*"|'[^']*'|\([^)]*\)|([^ '"();&|`$]|[$][{][a-z]+(\/[^ };]*)?[}])*)( |$))+$/)
		complain("no assignments")
	else if (!/^(#|\t|$)/)
		complain("no machine")
	next
}

/^\[/ {
	if (!/^\[[a-z][a-z0-9._-]*(@[a-z0-9._-]+)?\]$/)
		complain("no [LIST]")
	if ($0 in list)
		complain("a second list of this name")
	list[$0]
	lists++
	split("", test)
	next
}
/^(#|$)/		{ next }
!lists			{ complain("in no list"); next }
$1 == "include"		{ if (NF != 2) complain("no \"include LIST\""); next }
$1 == "selftests"	{ if (!/^selftests [0-9]+$/) complain("no \"selftests SECONDS\""); next }
$1 == "without"		{ if (!/^without [^#]*[^# ] # ./) complain("no reason"); next }
!/^[a-z][a-z0-9_-]* [1-9][0-9]* [^ #]/	{ complain("no \"NAME SECONDS COMMAND\""); next }
/# *(uses|needs):/ && !/ # (uses|needs): [^ ]/	{ complain("no \" # uses: PATH...\" or \" # needs: WHAT...\""); next }
$1 == "kernel"		{ complain("the name of what the kernel says"); next }
$1 in test		{ complain("a second test of this name in a list"); next }
			{ test[$1] }
