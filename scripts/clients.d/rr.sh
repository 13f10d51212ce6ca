# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2086,SC2154
# Sourced by the clients about rr.
export _RR_TRACE_DIR=$D/traces

# replays RECORDINGS TIMES [OPTION]: record rr-threads so often, replay each as often; does a replay
# print what was recorded? A replay that diverges ends with an error, or waits for a debugger.
replays() {
	same=0
	for _ in $(seq "$1"); do
		rm -rf "$_RR_TRACE_DIR"
		rc=0
		timeout -k 5 100 rr record $3 /clients/bin/rr-threads > recorded 2> err || rc=$?
		if [ $rc != 0 ]; then
			echo "recording: exit code $rc"
			cat err >> /log/full
			return
		fi
		for _ in $(seq "$2"); do
			rc=0
			timeout -k 5 100 rr replay -a > replayed 2> err < /dev/null || rc=$?
			if [ $rc = 0 ] && [ "$(cat recorded)" = "$(cat replayed)" ]; then
				same=$((same + 1))
			else
				{
					echo "## exit code $rc; recorded, replayed, error:"
					cat recorded replayed err
				} >> /log/full
			fi
		done
	done
	echo "replays${3:+ $3}: $same of $(($1 * $2)) print what was recorded"
}
