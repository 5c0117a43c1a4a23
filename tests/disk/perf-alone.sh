# SPDX-License-Identifier: GPL-2.0
# On Debian's kernel, as in docs/install.md: what perf fnstat tells, and that it goes away.
. ./transcript.sh
uname -r
uname -r | no grep -e '-windows'
state > before
apt-get install -q -y ./*.deb
perf-windows fnstat record -- python3 program.py > record.log 2>&1 || { cat record.log; exit 1; }
cat record.log
grep -F "$(cat says)" record.log
perf-windows fnstat report --stdio > report.log 2>&1
head -n 30 report.log
grep '_PyEval_EvalFrameDefault' report.log
apt-get purge -q -y linux-perf-windows
state > after
diff before after
