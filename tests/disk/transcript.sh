# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts of the disk: each command is in the transcript, and the first one
# that fails ends it.
set -e
PS4='# '
export PAGER=cat
set -x

# Print what packages can leave behind: their names and states, and files.
state()
{
	dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n'
	find /boot /etc /lib/modules /usr/bin /usr/src /usr/lib/*-windows* /var/lib/initramfs-tools \
		2> /dev/null | sort || true
}

# Succeed if the command fails: "set -e" does not see what "!" makes of it.
no() { if "$@"; then return 1; fi; }
