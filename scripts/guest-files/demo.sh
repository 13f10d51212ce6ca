#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What "make run" shows, run inside the guest with Debian's perf. Every step's
# exit code and its result are checked; the first failure ends the demo.
set -u
data=/tmp/data
head -c 6000000 /usr/bin/perf > $data

fail() {
	echo
	echo "perf_events: demo step FAILED: $*"
	exit 1
}

# show COMMAND...: print the command, run it, show its output (kept in /tmp/out).
show() {
	echo
	echo "\$ $*"
	"$@" > /tmp/out 2>&1
	rc=$?
	cat /tmp/out
	[ $rc -eq 0 ] || fail "$* (exit code $rc)"
}

# counted: no event of the last perf stat may have been refused.
counted() {
	if grep -qE 'not (counted|supported)' /tmp/out; then
		fail "an event was not counted"
	fi
}

echo "Linux $(uname -r) on $(uname -m), $(nproc) CPUs; $(perf --version)"
echo "event sources: $(cd /sys/bus/event_source/devices && echo *)"

show perf stat -e task-clock,cpu-clock,context-switches,cpu-migrations,page-faults,minor-faults,major-faults \
	-o /tmp/stat gzip -k -f $data
cat /tmp/stat
cp /tmp/stat /tmp/out
counted
show perf stat -e '{task-clock,page-faults,context-switches}' sha256sum $data
counted
show perf stat -r 3 -e task-clock,page-faults sha256sum $data
counted
show perf stat -I 200 -e cpu-clock,context-switches,page-faults hashjob $data 12
counted
[ "$(grep -c context-switches /tmp/out)" -ge 2 ] || fail "perf stat -I printed no intervals"

show perf record -g -F 999 -o /tmp/perf.data sh -c "hashjob $data 8; gzip -c $data > /tmp/data.gz"
samples=$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' /tmp/out)
[ "${samples:-0}" -gt 100 ] || fail "perf record took only '${samples:-no}' samples"

show perf report --stdio -i /tmp/perf.data --no-children --percent-limit 3
grep -q '% .*hashjob' /tmp/out || fail "perf report does not show the workload"
grep -q 'hash_block' /tmp/out || fail "perf report has no symbols of the workload"

echo
echo "\$ perf script -i /tmp/perf.data | head -n 24"
perf script -i /tmp/perf.data > /tmp/script 2>/tmp/err || { cat /tmp/err; fail "perf script"; }
head -n 24 /tmp/script
heads=$(grep -cE '^[^ 	].* [0-9]+\.[0-9]+: ' /tmp/script)
[ "$heads" -eq "$samples" ] || fail "perf script prints $heads samples, perf record took $samples"

show perf trace -s sha256sum $data
grep -qE '^ +read +[1-9]' /tmp/out || fail "perf trace counted no read()"

# With a header, for the report: where the samples come from.
mkdir -p /out && echo "# flavour : $FLAVOUR" > /out/script
perf script --header -i /tmp/perf.data >> /out/script 2>/tmp/err ||
	{ cat /tmp/err; fail "perf script --header"; }
echo
echo "perf_events: all demo steps succeeded"
