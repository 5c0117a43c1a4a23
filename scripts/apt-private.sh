#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: apt-private.sh NAME SUITE ARCH COMMAND...
#
# Run an apt COMMAND (apt-get, apt-cache, ...) that sees SUITE for ARCH on the
# Debian mirror of this machine, with a state directory of its own under the
# cache: the system's sources, lists and package database stay untouched. The
# machine's apt configuration (proxies, transports, keys) is used as it is.
# With APT_TYPE=deb-src it sees the source packages.
. "$(dirname "$0")/common.sh"

[ $# -ge 4 ] || usage
command -v apt-get > /dev/null ||
	die "packages of Debian $2 are needed, and this machine has no apt-get to fetch them"
name=$1 suite=$2 arch=$3
shift 3

dir=$CACHE/apt/$name
mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$dir/empty"
touch "$dir/status"

# The mirror: where the machine gets "main" of Debian itself, not of an add-on
# archive such as backports; or that of security, for a suite that is there.
label=Debian
[[ $suite != *-security ]] || label=Debian-Security
find_mirror()
{
	# shellcheck disable=SC2016 # apt expands that
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' |
		awk -v label="$label" \
			'$1 == "Debian" && $2 == label && $3 == "main" && !n++ { print $4 }'
}
mirror=$(find_mirror)
if [ -z "$mirror" ] && [ "$(id -u)" = 0 ]; then
	# It is in the package lists, which may never have been fetched.
	apt-get -qq update >&2
	mirror=$(find_mirror)
fi
[ -n "$mirror" ] ||
	die "no mirror of $label in the apt configuration (run 'apt-get update' once)"

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
printf '%s [arch=%s signed-by=%s] %s %s main\n' \
	"${APT_TYPE:-deb}" "$arch" "$keyring" "$mirror" "$suite" > "$dir/sources.list"

options=(
	-o "Dir::Etc::sourcelist=$dir/sources.list"
	-o "Dir::Etc::sourceparts=$dir/empty"
	-o "Dir::Etc::preferencesparts=$dir/empty"
	-o "Dir::State::lists=$dir/lists"
	-o "Dir::State::status=$dir/status"
	-o "Dir::Cache::archives=$dir/archives"
	-o "Dir::Cache::pkgcache=$dir/pkgcache.bin"
	-o "Dir::Cache::srcpkgcache=$dir/srcpkgcache.bin"
	-o "APT::Architecture=$arch"
	-o "APT::Architectures=$arch"
	-o "APT::Sandbox::User="
	-o "Acquire::Languages=none"
)
command=$1
shift
exec "$command" "${options[@]}" "$@"
