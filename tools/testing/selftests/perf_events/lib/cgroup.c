// SPDX-License-Identifier: GPL-2.0
/* Cgroups of a case and events of them, see cgroup.h. */
#include "cgroup.h"
#include <sys/stat.h>

#define MAX_DIRS	16

const char *cg_mounted = "/sys/fs/cgroup";
static char base[64];
static char dirs[MAX_DIRS][200];
static unsigned int nr_dirs;

int cg_enter_path(const char *dir, pid_t pid)
{
	char path[256], text[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	snprintf(text, sizeof(text), "%d", pid);
	return pt_write_file(path, text);
}

void cg_enter(const char *dir)
{
	int err = cg_enter_path(dir, getpid());

	pt_need(!err, "%s: %s", dir, strerror(-err));
}

void cg_leave(void)
{
	cg_enter(cg_mounted);
}

void cg_remove_all(void)
{
	cg_enter_path(cg_mounted, getpid());
	while (nr_dirs)
		rmdir(dirs[--nr_dirs]);
}

void cg_wait_until_gone(void)
{
	char path[100], text[256], *dying;

	snprintf(path, sizeof(path), "%s/cgroup.stat", cg_mounted);
	do {
		sched_yield();
		pt_need(pt_slurp(path, text, sizeof(text)), "no %s", path);
		dying = strstr(text, "nr_dying_descendants ");
		pt_need(dying, "%s does not tell", path);
	} while (atoi(dying + strlen("nr_dying_descendants ")));
}

/* Was the kernel built with CGROUP_PERF? */
static void need_controller(void)
{
	FILE *f = fopen("/proc/cgroups", "r");
	char line[256];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= !strncmp(line, "perf_event\t", 11);
	if (f)
		fclose(f);
	if (!found)
		pt_skip("no perf_event controller");
}

const char *cg_make(const char *name)
{
	char *dir = dirs[nr_dirs];

	pt_need(nr_dirs < MAX_DIRS, "too many cgroups");
	if (!nr_dirs) {
		char path[100];

		need_controller();
		snprintf(path, sizeof(path), "%s/cgroup.procs", cg_mounted);
		if (!pt_path_exists(path))
			pt_skip("no cgroup2 at %s", cg_mounted);
		/* Until then cgroups of version 2 are not known to any controller. */
		snprintf(path, sizeof(path), "%s/cgroup.subtree_control", cg_mounted);
		if (pt_path_exists(path) && pt_write_file(path, "+pids"))
			pt_skip("no controllers at %s", cg_mounted);
		snprintf(base, sizeof(base), "%s/pt%d", cg_mounted, getpid());
	}
	snprintf(dir, sizeof(dirs[0]), "%s%s", base, name);
	pt_need(!mkdir(dir, 0755), "mkdir %s: %s", dir, strerror(errno));
	nr_dirs++;
	return dir;
}

int cg_dir_fd(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	pt_need(fd >= 0, "%s: %s", dir, strerror(errno));
	return fd;
}

int cg_try_open(struct perf_event_attr *attr, const char *dir, int cpu, int group)
{
	int at = cg_dir_fd(dir);
	int fd = pt_try_open(attr, at, cpu, group, PERF_FLAG_PID_CGROUP);

	close(at);
	return fd;
}

int cg_open(struct perf_event_attr *attr, const char *dir, int cpu, int group)
{
	int fd = cg_try_open(attr, dir, cpu, group);

	pt_need(fd >= 0, "event of %s: %s", dir, strerror(-fd));
	return fd;
}

int cg_faults(const char *dir, int cpu)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	return cg_open(&attr, dir, cpu, -1);
}
