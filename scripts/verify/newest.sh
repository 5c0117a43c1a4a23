#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: newest.sh [SUITE...]
#
# Tell how many patches of the series apply, as "git am" applies them, to the newest
# kernel source in Debian's archive (in these suites; by default unstable,
# experimental, and where the base comes from), and which do not. A patch that
# changes what one of those should have made does not apply either.
. "$(dirname "$0")/../series/series.sh"
use_series linux
unset KERNEL_TREE

need dpkg
suites=("$@")
[ $# -gt 0 ] || suites=(sid experimental "$BASE_SUITE")
newest='' package='' suite=''
for name in "${suites[@]}"; do
	apt=("$TOP/scripts/apt-private.sh" "newest-$name" "$name" amd64)
	"${apt[@]}" apt-get -qq update >&2
	mapfile -t packages < <("${apt[@]}" apt-cache search --names-only '^linux-source-[0-9.]+$' |
		cut -d ' ' -f 1)
	[ ${#packages[@]} -gt 0 ] || { warn "$name has no kernel source"; continue; }
	while read -r found version; do
		say "$name: $found $version"
		if [ -z "$newest" ] || dpkg --compare-versions "$version" gt "$newest"; then
			newest=$version package=$found suite=$name
		fi
	done < <("${apt[@]}" apt-cache madison "${packages[@]}" | awk -F' *[|] *' '{ sub(/^ */, ""); print $1, $2 }')
done
[ -n "$newest" ] || die "no kernel source in ${suites[*]}"
base=$(. "$patches/base.pin" && echo "$BASE_VERSION")
if ! dpkg --compare-versions "$newest" gt "$base"; then
	echo "nothing is newer than the base, $base: the newest is $package $newest of $suite"
	exit
fi

BASE_PIN=$BUILD/newest.pin
mkdir -p "$BUILD"
# apt has the checksum of the package.
printf 'BASE_%s\n' "PACKAGE=$package" "VERSION=$newest" "SUITE=$suite" SHA256= > "$BASE_PIN"
export BASE_PIN
read -r repository commit < <("$TOP/scripts/series/base.sh" linux)
[ -n "$commit" ] || die "no base"
open_index "$repository" "$commit"
all=0 failed=()
while read -r file; do
	all=$((all + 1))
	git apply --cached "$file" 2> /dev/null || failed+=("${file##*/}")
done < <(series_files "$patches" | grep '\.patch$')
rm -rf "${GIT_INDEX_FILE%/*}"
echo "$package $newest of $suite: $((all - ${#failed[@]})) of $all patches apply"
[ ${#failed[@]} = 0 ] || printf '  %s\n' "${failed[@]}"
