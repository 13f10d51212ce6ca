// SPDX-License-Identifier: GPL-2.0
/*
 * pfm-count.c - libpfm4 names events, perf_event_open() counts them: every
 * event of the PMU "perf", and what libpfm4 found in this machine.
 */
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void one(const char *name)
{
	struct perf_event_attr attr;
	uint64_t v[3] = { 0 };
	char *full = NULL;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .fstr = &full, .size = sizeof(arg) };
	int rc, fd;

	memset(&attr, 0, sizeof(attr));
	rc = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (rc != PFM_SUCCESS) {
		printf("%s: %s\n", name, pfm_strerror(rc));
		return;
	}
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.disabled = 1;
	fd = perf_event_open(&attr, 0, -1, -1, 0);
	if (fd < 0) {
		printf("%s: type %u config %llx: %s\n", full, attr.type,
		       (unsigned long long)attr.config, strerror(errno));
		return;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 100; i++)
		free(malloc(200000 + i));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	rc = read(fd, v, sizeof(v));
	printf("%s: type %u config %llx: read %d bytes, ran %s\n", full, attr.type,
	       (unsigned long long)attr.config, rc,
	       v[1] && v[1] == v[2] ? "all the time" : v[2] ? "partly" : "never");
	close(fd);
	free(full);
}

int main(void)
{
	pfm_pmu_info_t pmu = { .size = sizeof(pmu) };
	pfm_event_info_t info = { .size = sizeof(info) };
	char name[200];
	int p, i;

	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	pfm_for_all_pmus(p) {
		if (pfm_get_pmu_info(p, &pmu) != PFM_SUCCESS || !pmu.is_present)
			continue;
		printf("present: %s, %d events\n", pmu.name,
		       p == PFM_PMU_PERF_EVENT ? 0 : pmu.nevents);
		if (strcmp(pmu.name, "perf"))
			continue;
		for (i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
			if (pfm_get_event_info(i, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS ||
			    strchr(info.name, ':'))
				continue;
			snprintf(name, sizeof(name), "perf::%s", info.name);
			one(name);
		}
	}
	return 0;
}
