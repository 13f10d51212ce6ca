# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the bash scripts: paths, messages, timing, how kernels are configured and built.

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

# need_space GB: refuse to start a long job that would fill the disk.  Trees take 1.7 GB each, a
# small kernel 0.3, all of make check 7.
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

# kernel_make SOURCE OUT ARCH: the array kmake, make with what every build of a kernel gets.
kernel_make() {
	local cross cc
	cross=$(cross_prefix "$3")
	cc=${cross}gcc
	if command -v ccache >/dev/null; then
		export CCACHE_BASEDIR=$BUILD CCACHE_SLOPPINESS=time_macros
		cc="ccache $cc"
	fi
	export KBUILD_BUILD_USER=perf KBUILD_BUILD_HOST=events
	kmake=(make -C "$1" "O=$2" "ARCH=$3" "CC=$cc" "HOSTCC=gcc")
	[ -z "$cross" ] || kmake+=("CROSS_COMPILE=$cross")
}

# merge FILE...: the wanted symbols as NAME=VALUE, the last file that names one decides.
merge() {
	awk '
		/^# CONFIG_[A-Za-z0-9_]+ is not set$/ { s = $2; v[s] = "n" }
		/^CONFIG_[A-Za-z0-9_]+=/ { s = $1; sub(/=.*/, "", s); t = $0; sub(/^[^=]*=/, "", t); v[s] = t }
		s != "" { if (!(s in seen)) { seen[s] = 1; order[++n] = s }; s = "" }
		END { for (i = 1; i <= n; i++) print order[i] "=" v[order[i]] }
	' "$@"
}

# refused WANTED CONFIG FLAVOUR ARCH: the wanted symbols that a configuration does not have.
refused() {
	awk -F= -v absent="$TOP/scripts/config/may-be-absent" -v flavour="$3" -v arch="$4" '
		BEGIN { while ((getline line < absent) > 0) { split(line, w, " "); if (w[2] == flavour || w[2] == arch) ok[w[1]] = 1 } }
		FILENAME ~ /\.config$/ { s = $1; sub(/^[^=]*=/, ""); have[s] = $0; next }
		{ s = $1; sub(/^[^=]*=/, "");
		  got = (s in have) ? have[s] : "n"
		  if (got != $0 && !(s in ok)) printf "  %s: wanted %s, got %s\n", s, $0, got }
	' "$2" "$1"
}

# build_errors LOG: what a build that failed says.
build_errors() {
	grep -nE 'error|Error|undefined reference|multiple definition' "$1" | head -40 >&2 ||
		tail -40 "$1" >&2
}
