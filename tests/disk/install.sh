# SPDX-License-Identifier: GPL-2.0
# On Debian's kernel: install the packages as a user does. Until the next boot, perf
# records with plain periods, and says so.
. ./transcript.sh
uname -r
uname -r | no grep -e '-windows'
# Each boot begins with an empty directory.
state > /root/before
apt-get install -q -y ./*.deb
ls /boot
grep -o "menuentry 'Debian[^']*'" /boot/grub/grub.cfg
perf-windows --version
perf-windows fnstat record -- python3 program.py > record.log 2>&1 || { cat record.log; exit 1; }
cat record.log
grep 'fnstat: no windows, the kernel or the PMU does not support them' record.log
perf-windows fnstat report --stdio > report.log 2>&1
head -n 30 report.log
grep '_PyEval_EvalFrameDefault' report.log
no perf-windows record -e cycles/period=999700,alt-period=300/u true > windows.log 2>&1
grep 'does not support alternating' windows.log
