#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: speed.sh [SAMPLES]
#
# What does perf report cost that shows windows, compared with one that does not, and
# with the perf of the base? Of a recording of SAMPLES (2 million), made by repeating
# those of a small one from the machine of the demo. KTAP.
#
# Instructions of user space decide, as valgrind counts them: they are the same in each
# run, to a millionth. Time is the least user time of three runs, on a busy machine it
# differs by a tenth. Memory is the resident set at most without the recording, which
# perf maps.
. "$(dirname "$0")/../make/lib.sh"

samples=${1:-2000000} runs=3
dir=$BUILD/speed
need python3 valgrind

rm -rf "$dir"
mkdir -p "$dir/root/usr/bin"
"$TOP/scripts/run/run-list.sh" arm64-up speed "$RESULTS/speed"
tr -d '\r' < "$RESULTS/speed/speed.tap" | base64 -d | gunzip > "$dir/small.data" ||
	die "no recording in $RESULTS/speed/speed.tap"
ln -s "$("$TOP/scripts/make/perf.sh" arm64)" "$dir/root/usr/bin/perf"
base_worktree
series=$("$TOP/scripts/make/perf.sh" "$host_arch")
base=$("$TOP/scripts/make/perf.sh" "$host_arch" "$BASE")

# The base does not read attrs that are longer than those it knows.
attr_size=$(sed -nE 's/^#define PERF_ATTR_SIZE_VER[0-9]+[[:space:]]+([0-9]+).*/\1/p' \
	"$BASE/tools/include/uapi/linux/perf_event.h" | tail -n 1)
grow()			# NAME SAMPLES [ATTR-SIZE]
{
	step "recording of $2 samples" python3 "$TOP/scripts/bench/multiply-samples.py" "$dir/small.data" \
		"$dir/$1.data" "${@:2}"
}
grow plain "$samples" "$attr_size"
grow windows "$samples"
grow quarter $((samples / 4))

# Print user time in ms and memory in KiB.
cost()			# PERF RECORDING OPTION...
{
	python3 - "$1" report --stdio --symfs "$dir/root" -i "$dir/$2.data" "${@:3}" << 'END'
import os, sys
program, recording = sys.argv[1], sys.argv[sys.argv.index('-i') + 1]
pid = os.fork()
if not pid:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.execv(program, sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
if status:
    sys.exit(f'{program} failed: {status}')
print(round(usage.ru_utime * 1000), usage.ru_maxrss - os.stat(recording).st_size // 1024)
END
}

# Print how many millions of instructions that takes.
instructions()		# PERF RECORDING OPTION...
{
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
		"$1" report --stdio --symfs "$dir/root" -i "$dir/$2.data" "${@:3}" \
		2>&1 > /dev/null < /dev/null |
		tr -d , | awk '/I +refs:/ { n = $NF } END { if (!n) exit 1; printf "%.1f\n", n / 1e6 }'
}

declare -A insns time memory
measure()		# NAME PERF RECORDING OPTION...
{
	local name=$1 ms kb

	[ -n "${insns[$name]:-}" ] || insns[$name]=$(instructions "${@:2}")
	read -r ms kb < <(cost "${@:2}")
	[ "${time[$name]:-$ms}" -lt "$ms" ] || time[$name]=$ms
	[ "${memory[$name]:-0}" -gt "$kb" ] || memory[$name]=$kb
}

for ((run = 0; run < runs; run++)); do
	measure base "$base" plain
	measure plain "$series" plain
	measure windows "$series" windows --fnstat
	measure quarter "$series" quarter --fnstat
done

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
nr=0 failed=0
result()		# RATIO LIMIT WHAT
{
	local ok=ok

	awk -v ratio="$1" -v limit="$2" 'BEGIN { exit !(ratio <= limit) }' || { ok='not ok' failed=1; }
	echo "$ok $((++nr)) $3: $1, at most $2"
}

echo 'TAP version 13'
echo '1..3'
printf '# %-34s %14s %10s %12s\n' "perf report of $samples samples" 'insns, million' 'time, ms' \
	'memory, KiB'
row() { printf '# %-34s %14.1f %10d %12d\n' "$2" "${insns[$1]}" "${time[$1]}" "${memory[$1]}"; }
row base "of the base"
row plain "of the series"
row windows "--fnstat"
row quarter "--fnstat, of $((samples / 4))"
# Most of it is how the compiler initializes the entry of a sample in a function of its own.
result "$(ratio "${insns[plain]}" "${insns[base]}")" 1.02 'instructions without windows, to the base'
result "$(ratio "${insns[windows]}" "${insns[plain]}")" 1.00 'instructions with windows, to without'
result "$(ratio "${memory[windows]}" "${memory[quarter]}")" 1.10 \
	'memory with windows, of all samples to a quarter of them'
exit $failed
