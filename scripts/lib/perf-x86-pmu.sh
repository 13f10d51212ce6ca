# SPDX-License-Identifier: GPL-2.0
# In a guest with an emulated PMU: what Debian's perf makes of it, a line "ok ..." or "not ok ..." each.
cd /tmp || exit 1
# The emulator is slow: no limit to the time that sampling takes.
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
# Some functions of libc take another way where a string is near the end of a page: with
# addresses chosen at random, one run in a hundred is 16 instructions longer.
echo 0 > /proc/sys/kernel/randomize_va_space
check() {
	if test "$2" "$3" "$4"; then
		echo "ok $1"
	else
		echo "not ok $1: $2 is not $3 $4"
	fi
}
counted() {
	perf stat -x, -e "$1" sha256sum /usr/bin/perf 2>&1 > /dev/null | cut -d, -f1
}
lines() {
	perf script -i data -F "$1" 2> /dev/null | grep -c .
}
record() {
	perf record -q -o data "$@" sha256sum /usr/bin/perf > /dev/null 2>&1
}
cycles=$(counted cycles:u)
check "cycles of user space" "$cycles" -gt 1000000
check "instructions: one each cycle" "$(counted instructions:u)" -eq "$cycles"
check "six events on four counters and three" \
	"$(perf stat -x, -e cycles:u,instructions:u,branches:u,branch-misses:u,cache-misses:u,ref-cycles:u \
		sha256sum /usr/bin/perf 2>&1 > /dev/null | cut -d, -f5 | sort -u)" = 100.00
record -e cycles:u -c 100003
check "samples of cycles" "$(lines ip)" -eq $((cycles / 100003))
for event in $PRECISE; do
	record -e "$event" -c 100003
	check "samples of $event" "$(lines ip)" -eq $((cycles / 100003))
done
if [ -n "$PRECISE" ]; then
	# The branches of others are thrown away when the task comes in: a sample may have none only
	# where nothing stands between it and that switch.
	record --switch-events -b -e cycles:u -c 400009
	perf script -i data --show-switch-events -F comm,ip,brstack 2> /dev/null |
		awk '/PERF_RECORD_SWITCH/ { fresh = 1; next }
		     NF == 2 && !fresh { bad++ }
		     NF { n++; fresh = 0 }
		     END { print n + 0, bad + 0 }' > stacks
	check "branch stacks" "$(cat stacks)" = "$((cycles / 400009)) 0"
	record --call-graph lbr -e cycles:u -c 400009
	check "call chains from branch records" "$(lines ip)" -gt $((cycles / 400009))
	perf mem record -q -t load -o data sha256sum /usr/bin/perf > /dev/null 2>&1
	check "addresses of loads" "$(lines addr)" -gt 10
fi
