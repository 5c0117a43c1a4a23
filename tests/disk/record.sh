# SPDX-License-Identifier: GPL-2.0
# On the kernel of the package, which the boot loader starts: perf records with windows.
# Then remove the packages.
. ./transcript.sh
uname -r
uname -r | grep -e '-windows$'
cat /proc/cmdline
perf-windows fnstat record -- python3 program.py > record.log 2>&1 || { cat record.log; exit 1; }
cat record.log
no grep 'no windows' record.log
perf-windows fnstat report --stdio > report.log 2>&1
head -n 40 report.log
# There are some, and functions have metrics of them: on this machine CPI is 1.
grep -E '^# [1-9][0-9]* windows of ' report.log
grep -E '% +1\.00\?? .* [1-9][0-9]+ +[0-9.]+ +\[\.\] _PyUnicode_JoinArray' report.log
. ./purge
