# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the bash scripts: paths, messages, timing.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$TOP/build
# shellcheck disable=SC2034
BASE_SERIES=6.12
# shellcheck disable=SC2034
BASE_TARBALL=/usr/src/linux-source-$BASE_SERIES.tar.xz
# shellcheck disable=SC2034
JOBS=${JOBS:-$(nproc)}

# Messages go to stderr: stdout is for results (paths, patches).
say() { printf '%s\n' "== $*" >&2; }
die() { printf '%s\n' "error: $*" >&2; exit 1; }

# Where it is kept how many seconds a step took when it ended well last; rig.py has the same.
time_file() {
	local LC_ALL=C name=${1//[^A-Za-z0-9.-]/_}
	echo "$BUILD/times/${name:0:100}"
}

# step WHAT COMMAND...: run it, say how long it took, and last time, fail when it fails.
step() {
	local what=$1 start=$SECONDS rc=0 file last=
	shift
	file=$(time_file "$what")
	[ ! -s "$file" ] || last=$(cat "$file")
	say "$what ...${last:+ $last s last time}"
	"$@" || rc=$?
	if [ "$rc" -ne 0 ]; then
		die "$what failed (exit code $rc, after $((SECONDS - start)) s)"
	fi
	mkdir -p "${file%/*}"
	echo $((SECONDS - start)) > "$file"
	say "$what: done in $((SECONDS - start)) s"
}

need_tool() {
	local t
	for t in "$@"; do
		command -v "$t" >/dev/null || die "missing tool: $t (run 'make deps' as root)"
	done
}

# need_space GB: refuse to start a long job that will fill the disk.
need_space() {
	local free
	mkdir -p "$BUILD"
	free=$(df -Pk "$BUILD" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$free" -ge "$1" ] ||
		die "only $free GB free under $BUILD, $1 GB needed: free some space ('make clean' drops build/)"
}

# base_version DIR: VERSION.PATCHLEVEL.SUBLEVEL of a kernel tree.
base_version() {
	[ -f "$1/Makefile" ] || die "$1 is not a Linux source tree (no Makefile)"
	awk -F' *= *' '/^VERSION|^PATCHLEVEL|^SUBLEVEL/ { v = v s $2; s = "." } /^SUBLEVEL/ { print v; exit }' \
		"$1/Makefile"
}

check_base_version() {
	local v
	v=$(base_version "$1")
	case $v in
	"$BASE_SERIES".*) ;;
	*) die "base tree $1 is Linux ${v:-unknown}; this project needs $BASE_SERIES.y (set KSRC= to such a tree)" ;;
	esac
}

check_arch() {
	case ${1:-} in
	x86_64|arm64) ;;
	*) die "ARCH='${1:-}' is not supported: use ARCH=x86_64 or ARCH=arm64" ;;
	esac
}

cross_prefix() {
	[ "$1" = arm64 ] && echo aarch64-linux-gnu-
	return 0
}

# The kernel image inside an output folder.
image_path() {
	case $1 in
	x86_64) echo "$2/arch/x86/boot/bzImage" ;;
	arm64) echo "$2/arch/arm64/boot/Image" ;;
	esac
}
