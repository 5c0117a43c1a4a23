#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: mail.sh TOPIC
#
# TOPIC is one of patches/ or of patches/qemu, or man-pages or syzkaller, whose patches are for
# other trees.
#
# Write build/mail/TOPIC, which "git send-email --no-thread" takes as it is:
# the cover letter and the patches of TOPIC, numbered, threaded, with recipients.
# SIGNOFF='Name <mail>' is who sends: the author, who signs off. If KERNEL_TREE is
# a clone of a public repository whose HEAD is a tag, that is the base-commit,
# and what TOPIC requires is listed by prerequisite-patch-id.
#
# TRAILERS='Assisted-by: ...', one or several lines, are put into each patch before the
# Signed-off-by, and ORIGIN=FILE, a text on how the series was made, at the end of the
# cover: see docs/sending.md.
#
# VERSION=N marks the mails as version N, IN_REPLY_TO=MESSAGE-ID threads them to a mail,
# and PREVIOUS=DIRECTORY, the mails of the version before, adds the range-diff to the cover.
#
# With "Mail: single" in the cover, the patches of each file are mailed by
# themselves to its maintainers, and have to apply without the others; the cover
# is not mailed.
. "$(dirname "$0")/series.sh"
name=${1:-} dir=$BUILD/mail/$name
other=$TOP/patches/$name
use_series_of "$name"
if [ -z "$name" ] || [ ! -e "$other/README" ]; then
	other='' cover=$(find_topic "$name")
fi

[[ ${SIGNOFF:-} =~ ^[^\<\>]+\ \<[^\<\>\ ]+@[^\<\>\ ]+\>$ ]] ||
	die "SIGNOFF='Name <mail>' is needed: a patch is signed by the person who sends" \
		"it (Documentation/process/submitting-patches.rst), and these are not signed yet"
person=${SIGNOFF% <*} address=${SIGNOFF##*<}
address=${address%>}

trailers=()
while read -r trailer; do
	[ -n "$trailer" ] || continue
	[[ $trailer =~ ^[A-Z][A-Za-z-]+:\ .+ ]] || die "TRAILERS: '$trailer' is no 'Name: value'"
	trailers+=(--trailer "$trailer")
done <<< "${TRAILERS:-}"
if [ -n "${ORIGIN:-}" ]; then
	[ -r "$ORIGIN" ] || die "cannot read ORIGIN=$ORIGIN"
	if [ -n "$other" ] || [ "$(cover_header "$cover" Mail)" = single ]; then
		die "ORIGIN: no cover of '$name' is mailed, say it in TRAILERS="
	fi
	ORIGIN=$(realpath "$ORIGIN")
fi

# Print COMMIT on PARENT, by the person who sends it.
export GIT_AUTHOR_NAME=$person GIT_AUTHOR_EMAIL=$address
export GIT_COMMITTER_NAME=$person GIT_COMMITTER_EMAIL=$address
export GIT_CONFIG_GLOBAL=/dev/null
SIGNOFF=$(git var GIT_AUTHOR_IDENT | sed 's/> .*/>/')	# as git writes it
sign()				# COMMIT PARENT
{
	git log -1 --format=%B "$1" |
		git interpret-trailers "${trailers[@]}" --trailer "Signed-off-by: $SIGNOFF" |
		GIT_AUTHOR_DATE=$(git log -1 --format=%aD "$1") git commit-tree "$1^{tree}" -p "$2"
}

recipients()			# to|cc < ADDRESSES
{
	sed -n "s/^./--$1=&/p"
}

finish()
{
	say "$(find "$dir" -type f | wc -l) mails"
	# The mails are threaded already, those of one driver by themselves.
	echo "git send-email --no-thread $dir"
	exit
}

# Their tree is not here: commits without changes have the messages, and the changes are
# those in the files.
if [ -n "$other" ]; then
	repository=$(mktemp -d)
	trap 'rm -rf "$repository"' EXIT
	git init -q "$repository"
	cd "$repository"
	git commit -q --allow-empty -m base
	start=$(git rev-parse HEAD)
	files=("$other"/*.patch)
	for file in "${files[@]}"; do
		git mailinfo -k message /dev/null < "$file" > header
		{
			sed -n 's/^Subject: \(\[PATCH\] \)\?//p' header
			echo
			cat message
		} | git commit -q --allow-empty -F -
		git reset -q "$(sign HEAD HEAD^)"
	done
	rm -rf "$dir"
	mapfile -t to < <(cover_header "$other/README" To | recipients to)
	mapfile -t cc < <(cover_header "$other/README" Cc | recipients cc)
	mapfile -t mails < <(git format-patch --always --numbered --thread --no-signature \
		"${to[@]}" "${cc[@]}" --output-directory="$dir" "$start")
	[ ${#mails[@]} = ${#files[@]} ] || die "${#mails[@]} mails of ${#files[@]} patches"
	for nr in "${!mails[@]}"; do
		sed -n '/^---$/,$p' "${files[nr]}" >> "${mails[nr]}"
	done
	finish
fi

options=()
[[ ${VERSION:-1} =~ ^[0-9]+$ ]] || die "VERSION='$VERSION' is no number"
[ -z "${VERSION:-}" ] || options+=(--reroll-count="$VERSION")
[ -z "${IN_REPLY_TO:-}" ] || options+=(--in-reply-to="$IN_REPLY_TO")
if [ -n "${PREVIOUS:-}" ]; then
	compgen -G "$PREVIOUS/*.patch" > /dev/null || die "no mails in $PREVIOUS"
	PREVIOUS=$(realpath "$PREVIOUS")
	[[ $PREVIOUS != "$(realpath -m "$dir")" ]] || die "$PREVIOUS is where the mails are written"
fi
base=()
if [ "$series" = qemu ]; then
	warn 'no base-commit: the base is a source package of Debian'
elif tag=$(git -C "${KERNEL_TREE:-/nonexistent}" describe --tags --exact-match 2> /dev/null); then
	base=(--base=base)
	say "base-commit is $tag of $KERNEL_TREE"
else
	warn "no base-commit: KERNEL_TREE is not a git clone whose HEAD is a tag"
fi

tree=$("$TOP/scripts/series/topic-tree.sh" "$name" "$BUILD/mail/tree-$series")
cd "$tree"
start=topic-$name

rm -rf "$dir"
mapfile -t commits < <(git rev-list --reverse "$start..HEAD")
if [ "$(cover_header "$cover" Mail)" = single ]; then
	# The patches of one file belong together.
	declare -A of_file=()
	order=()
	for nr in "${!commits[@]}"; do
		file=$(git diff-tree --no-commit-id --name-only -r "${commits[nr]}" | head -n 1)
		[ -n "${of_file[$file]:-}" ] || order+=("$file")
		of_file[$file]+="$nr "
	done
	mapfile -t files < <(mailed_patches "$cover")
	mkdir -p "$dir/new"
	for file in "${order[@]}"; do
		git checkout -q --detach "$start"
		group=()
		for nr in ${of_file[$file]}; do
			git cherry-pick "${commits[nr]}" > /dev/null 2>&1 ||
				die "${files[nr]##*/} does not apply without other drivers"
			git reset -q --hard "$(sign HEAD HEAD^)"
			group+=("${files[nr]}")
		done
		mapfile -t to < <(maintainers "${group[@]}" | recipients to)
		git format-patch -q "${options[@]}" --thread --no-signature "${to[@]}" "${base[@]}" \
			--output-directory="$dir/new" "$start..HEAD"
		number=${group[0]##*/}
		for mail in "$dir/new"/*; do
			mv "$mail" "$dir/${number:2:2}-${mail##*/}"
		done
	done
	rmdir "$dir/new"
else
	parent=$start
	for commit in "${commits[@]}"; do
		parent=$(sign "$commit" "$parent")
	done
	mapfile -t to < <(cover_header "$cover" To | recipients to)
	mapfile -t cc < <(cover_header "$cover" Cc | recipients cc)
	# The text of the cover is the description of a branch.
	git branch -qf "mail-$name" "$parent"
	required=$(required_topics "$cover" | while read -r file; do
		printf '\n - %s' "$(cover_header "$file" Subject)"
	done)
	git config "branch.mail-$name.description" "$(cover_header "$cover" Subject)

$(cover_text "$cover" | sed '1,/^$/d')${required:+

To be applied on top of the series${required}}${ORIGIN:+

$(cat "$ORIGIN")}"
	prefix=$(cover_header "$cover" Prefix)
	if [ -n "${PREVIOUS:-}" ]; then
		git checkout -q --detach "$start"
		find "$PREVIOUS" -name '*.patch' ! -name '*0000-cover-letter.patch' | LC_ALL=C sort |
			xargs git am -q || die "the mails in $PREVIOUS do not apply"
		options+=(--range-diff="$(git rev-parse HEAD)" --creation-factor=90)
	fi
	git format-patch -q "${options[@]}" --subject-prefix="${prefix:-PATCH}" --numbered --thread \
		--cover-letter --cover-from-description=subject --no-signature \
		"${to[@]}" "${cc[@]}" "${base[@]}" \
		--output-directory="$dir" "$start..mail-$name"
fi
finish
