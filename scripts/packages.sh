# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts that need packages of Debian, on this machine or for
# another one.

# Install those of the packages that this machine misses. A command (by default
# of the name of the package) or a file tells whether it does, so that another
# distribution serves as well. A file can be a pattern.
need()			# PACKAGE[=COMMAND|=/FILE]...
{
	local item probe packages=() probes=() as_root=()

	for item; do
		probe=${item#*=}
		case $probe in
		/*)	! compgen -G "$probe" > /dev/null || continue ;;
		*)	! command -v "$probe" > /dev/null || continue ;;
		esac
		packages+=("${item%%=*}")
		probes+=("$probe")
	done
	[ ${#packages[@]} -gt 0 ] || return 0

	command -v apt-get > /dev/null ||
		die "missing on this machine: ${probes[*]} (in Debian's packages" \
			"${packages[*]}; there is no apt-get to install them)"
	if [ "$(id -u)" != 0 ]; then
		command -v sudo > /dev/null ||
			die "missing on this machine: ${packages[*]} (not root, and no sudo" \
				"to install them)"
		as_root=(sudo)
	fi
	say "installing ${packages[*]}"
	mkdir -p "$CACHE"
	# Jobs that run side by side can miss something at the same time.
	(
		flock 9
		"${as_root[@]}" apt-get -qq update
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
			--no-install-recommends "${packages[@]}" > /dev/null
	) 9> "$CACHE/apt.lock" || die "cannot install ${packages[*]}"
}

# Download PACKAGES of SUITE for ARCH to the directory. PIN has lines "PACKAGE
# VERSION SHA256"; a version that the archive does not have any more is replaced
# by the current one, with a warning. With UPDATE_PINS=1 the current versions are
# taken, and PIN is written. APT_TYPE=deb-src downloads sources; the checksum is
# that of the .dsc then, which has those of the other files.
fetch_pinned()		# PIN SUITE ARCH DIRECTORY PACKAGE...
{
	local pin=$1 suite=$2 arch=$3 dir=$4 name=${1##*/} package version sha file get
	local apt=("$TOP/scripts/apt-private.sh" "${name%.pin}" "$suite" "$arch")
	shift 4

	get=(download)
	[ "${APT_TYPE:-deb}" = deb ] || get=(source --download-only)
	mkdir -p "$dir"
	"${apt[@]}" apt-get -qq update
	[ -z "${UPDATE_PINS:-}" ] || : > "$pin"
	for package; do
		version='' sha=''
		read -r _ version sha < <(grep "^$package " "$pin") || true
		if [ -z "$version" ] || ! (cd "$dir" &&
				"${apt[@]}" apt-get -qq "${get[@]}" "$package=$version"); then
			if [ -z "${UPDATE_PINS:-}" ]; then
				warn "${package} ${version:-(no version)} of $name is gone from $suite:" \
					'taking the current one (UPDATE_PINS=1 pins that)'
			fi
			sha=''
			(cd "$dir" && "${apt[@]}" apt-get -qq "${get[@]}" "$package") ||
				die "$suite has no $package for $arch"
		fi
		file=$(find "$dir" -name "${package}_*.deb" -o -name "${package}_*.dsc")
		[ -z "$sha" ] || echo "$sha  $file" | sha256sum --check --status ||
			die "$file does not have the sha256 of $pin"
		if [ -n "${UPDATE_PINS:-}" ]; then
			# With the epoch, which the names of files do not have.
			case $file in
			# A signature can have a version, too.
			*.dsc)	version=$(sed -n '/^Version: /{ s///p; q }' "$file") ;;
			*)	version=$(dpkg-deb -f "$file" Version) ;;
			esac
			echo "$package $version $(sha256sum "$file" | cut -d ' ' -f 1)" >> "$pin"
		fi
	done
}
