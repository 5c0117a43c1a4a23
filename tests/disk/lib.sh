# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts of the disk: each command is in the transcript, and the first one
# that fails ends it.
set -e
PS4='# '
export PAGER=cat
set -x

# Succeed if the command fails: "set -e" does not see what "!" makes of it.
no() { if "$@"; then return 1; fi; }
