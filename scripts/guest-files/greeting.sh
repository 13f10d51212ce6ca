# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What an interactive shell says first: the guest, and commands that work in it.
echo
echo "Linux $(uname -r) on $(uname -m), CPUs: $(nproc). To try:"
if [ -e /sys/bus/event_source/extensions ]; then
	cat /run/try
else
	# pfx is a client of what the stock kernel does not have.
	grep -v '^pfx ' /run/try
fi | sed 's/^/    /'
echo '"exit" leaves the guest.'
echo
