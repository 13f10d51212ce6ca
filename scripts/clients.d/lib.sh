# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by every client, in the guest. What goes to standard output is a fact
# and must be the same in every run on the stock kernel; the whole output of
# every step is kept in /log/full.
export PATH=/clients/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C HOME=/tmp/client PAGER=cat TERM=dumb DEBUGINFOD_URLS=
D=/tmp/client
mkdir -p $D
cd $D || exit 1

# keep TITLE: the last step's output, for whoever looks for the reason of a difference.
keep() {
	{
		printf '## %s\n' "$*"
		head -c 20000 $D/out
		echo "-- standard error"
		head -c 6000 $D/err
	} >> /log/full
}

# step SECONDS LABEL COMMAND...: run it, its exit code is a fact.
step() {
	seconds=$1
	label=$2
	shift 2
	rc=0
	timeout -k 5 "$seconds" "$@" > $D/out 2> $D/err < /dev/null || rc=$?
	echo "$label: exit code $rc"
	keep "$label: $*: $rc"
	return 0
}

# shows PATTERN...: does the last step's output match each (grep -E)?
shows() {
	for pattern in "$@"; do
		if cat $D/out $D/err | grep -qE -- "$pattern"; then
			echo "$label: shows '$pattern'"
		else
			echo "$label: does not show '$pattern'"
		fi
	done
}

# between LOW HIGH NUMBER WHAT: is it? For what no kernel counts alike twice.
between() {
	if [ "${3:-0}" -ge "$1" ] 2>/dev/null && [ "$3" -le "$2" ]; then
		echo "$label: $4 between $1 and $2"
	else
		echo "$label: $4 is '${3:-}', not between $1 and $2"
	fi
}

# number PATTERN: the number of lines of the last step's output that match.
lines() {
	grep -cE -- "$1" $D/out || true
}
