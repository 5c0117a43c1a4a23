# SPDX-License-Identifier: GPL-2.0
# Sourced by every script: where things are, and how to say things.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/perf-windows
BUILD=$TOP/build
LINUX=$BUILD/linux		# base + series: the tree to work in
BASE=$BUILD/base		# base alone, for comparisons
QEMU=$BUILD/qemu		# QEMU with its series
RESULTS=$BUILD/results
LOGS=$BUILD/log
JOBS=${JOBS:-$(nproc)}

say() { printf '==> %s\n' "$*" >&2; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() { printf '%s: error: %s\n' "${0##*/}" "$*" >&2; exit 1; }

[[ $TOP != *[[:space:]]* ]] || die "a path with a blank cannot be built in: $TOP"

# End with the usage line of the script.
usage() { die "$(sed -n 's/^# usage: /usage: /p' "$0" | head -n 1)"; }

# Set names to NAMEs, which have to be in the first column of TABLE, or to all there are.
choose_rows()			# TABLE [NAME...]
{
	local known name

	mapfile -t known < <(awk '/^[^#\t]/ { print $1 }' "$1")
	names=("${@:2}")
	[ $# -gt 1 ] || names=("${known[@]}")
	for name in "${names[@]}"; do
		[[ " ${known[*]} " == *" $name "* ]] || die "no '$name' in ${1##*/}: ${known[*]}"
	done
}

# Leave out what checkpatch says, in lines "FILE:LINE: LEVEL:TYPE: ...", where a row of
# checkpatch.exceptions has the type and the file.
drop_exceptions()
{
	awk -F ':' -v table="$TOP/scripts/verify/checkpatch.exceptions" '
		BEGIN {
			while ((getline line < table) > 0) {
				if (line !~ /^[A-Z]/)
					continue
				split(line, word, " ")
				gsub(/[.]/, "[.]", word[2])
				gsub(/[*]/, ".*", word[2])
				patterns[word[1]] = patterns[word[1]] "|^" word[2] "$"
			}
		}
		!($4 in patterns) || $1 !~ substr(patterns[$4], 2)'
}

# End unless WHAT is one of those that the comment on top of the script lists.
check_what()			# [WHAT]
{
	local known

	known=$(sed -nE 's/^#   ([a-z]+) .*/\1/p' "$0" | paste -sd ' ')
	[[ $# = 1 && " $known " == *" $1 "* ]] || die "no WHAT='$*', it is one of: $known"
}

# Hold the lock NAME of the cache until this script ends. Checkouts share the cache: a script that
# looks whether something is there, and makes it if it is not, does both under a lock.
lock_cache()			# NAME
{
	mkdir -p "$CACHE"
	exec {cache_lock}> "$CACHE/$1.lock"
	flock --nonblock "$cache_lock" && return
	say "waiting: $1 is being made for another checkout or command"
	flock "$cache_lock"
}

# Run COMMAND, print one line with the time that it took, and leave the rest of
# what it says in build/log/NAME.log. When it fails, show the end of that. After each minute,
# say that it still runs.
step()			# NAME COMMAND...
{
	local name=$1 log=$LOGS/${1//[ \/]/-}.log start=$SECONDS status ticker
	shift

	mkdir -p "$LOGS"
	[ ! -t 2 ] || printf '==> %s ...\r' "$name" >&2
	# It reads what nothing writes to: killed, it leaves no "sleep" behind. It ignores the
	# interrupt that ends this shell: look whether that is still there.
	(
		[ -z "${cache_lock:-}" ] || exec {cache_lock}>&-
		while ! read -rt 60 && kill -0 $$ 2> /dev/null; do
			printf '==> %s ... %d s so far, see %s\n' "$name" $((SECONDS - start)) "$log"
		done <> <(:)
	) >&2 &
	ticker=$!
	# In a subshell of its own, not in a condition: "set -e" holds in COMMAND.
	# Two steps of one name share a directory: the second one waits.
	set +e
	(flock 9; exec > "$log" 2>&1 < /dev/null; set -e; "$@" 9>&-) 9> "${log%.log}.lock"
	status=$?
	kill "$ticker" && wait "$ticker"
	set -e
	if [ $status != 0 ]; then
		printf '==> %s ... failed after %d s\n' "$name" $((SECONDS - start)) >&2
		tail -n 30 "$log" >&2
		die "$name failed, see $log"
	fi
	printf '==> %s ... %d s\n' "$name" $((SECONDS - start)) >&2
}
