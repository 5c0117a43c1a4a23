# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests here that read what perf script -D prints.

# A function of awk, which has none for hexadecimal numbers.
# shellcheck disable=SC2034 # for those who source this
awk_hex='
	function hex(digits, value, i) {
		sub(/^0x/, "", digits)
		for (i = 1; i <= length(digits); i++)
			value = 16 * value + index("0123456789abcdef",
						   substr(digits, i, 1)) - 1
		return value
	}
'
