# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests here that print KTAP. They end with exit "$failed".
nr=0 failed=0

plan()			# NUMBER-OF-TESTS
{
	echo 'TAP version 13'
	echo "1..$1"
}

# The result of a test, and the file that $out names if it failed.
result()		# STATUS WHAT
{
	if [ "$1" = 0 ]; then
		echo "ok $((++nr)) $2"
	else
		[ -z "${out:-}" ] || sed 's/^/# /' "$out"
		echo "not ok $((++nr)) $2"
		failed=1
	fi
}
