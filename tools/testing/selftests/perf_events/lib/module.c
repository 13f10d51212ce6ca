// SPDX-License-Identifier: GPL-2.0
/* Test PMUs: modules that lie beside the program, see ../pmu. */
#include "ptest.h"

#define PREFIX	"test_"		/* of all modules of ../pmu */

static int load(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

int pt_try_load_module(const char *name, const char *params)
{
	char path[512];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	pt_need(len > 0, "readlink /proc/self/exe: %s", strerror(errno));
	path[len] = 0;
	slash = strrchr(path, '/') + 1;
	snprintf(slash, sizeof(path) - (slash - path), "%s.ko", name);
	if (!pt_path_exists(path))
		pt_skip("no module %s: build ../pmu for this kernel", path);
	return load(path, params ? params : "");
}

void pt_load_module(const char *name, const char *params)
{
	int err = pt_try_load_module(name, params);

	if (err && !pt_kernel_symbol("register_kprobe"))
		pt_skip("module %s finds functions by kprobes", name);
	pt_need(!err, "module %s: %s", name, strerror(-err));
}

int pt_unload_module(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static void param_path(char *path, size_t size, const char *module, const char *param)
{
	snprintf(path, size, "/sys/module/%s/parameters/%s", module, param);
}

int pt_module_set(const char *module, const char *param, long long value)
{
	char path[256], text[32];

	param_path(path, sizeof(path), module, param);
	snprintf(text, sizeof(text), "%lld", value);
	return pt_write_file(path, text);
}

long long pt_module_get(const char *module, const char *param)
{
	char path[256];

	param_path(path, sizeof(path), module, param);
	pt_need(pt_path_exists(path), "module %s has no parameter %s", module, param);
	return pt_read_number(path, -1);
}

/* A case ends with all its events gone, so nothing may hold a test PMU any more. */
bool pt_unload_test_modules(void)
{
	FILE *f = fopen("/proc/modules", "re");
	char name[64], line[512];
	bool all = true;

	if (!f)
		return true;	/* a kernel without modules */
	while (fgets(line, sizeof(line), f)) {
		int err;

		if (sscanf(line, "%63s", name) != 1 || strncmp(name, PREFIX, strlen(PREFIX)))
			continue;
		err = pt_unload_module(name);
		if (err) {
			pt_msg("module %s does not go: %s", name, strerror(-err));
			all = false;
		}
	}
	fclose(f);
	return all;
}
