// SPDX-License-Identifier: GPL-2.0
/*
 * test_virtual: resources for the PMU "virtual", whose values a test sets; and how a module has
 * some. Parameters, all in sysfs:
 *
 *	value		what all of them are
 *	registered	write 0, and they are withdrawn; write 1, and they are there again
 *	name, unit	at load: of the first one
 *
 * test_level is a level, test_sum a sum, test_secret a level that is not public.
 *
 * On a kernel that has no such PMU the module does nothing.
 */
#include <linux/module.h>

#ifdef CONFIG_PERF_EVENTS_EXT
#include <linux/perf_virtual.h>

static unsigned long value;
module_param(value, ulong, 0644);
static char *name = "test_level";
module_param(name, charp, 0444);
static char *unit = "turns";
module_param(unit, charp, 0444);

static u64 read_value(const struct perf_event *event)
{
	return READ_ONCE(value);
}

static struct perf_virtual resources[] = {
	{
		.scale	= "0.5",
		.public	= true,
		.read	= read_value,
		.owner	= THIS_MODULE,
	}, {
		.name	= "test_sum",
		.sum	= true,
		.local	= true,
		.public	= true,
		.read	= read_value,
		.owner	= THIS_MODULE,
	}, {
		.name	= "test_secret",
		.read	= read_value,
		.owner	= THIS_MODULE,
	},
};

/* The first @nr of them. */
static void withdraw(int nr)
{
	while (nr--)
		perf_virtual_unregister(&resources[nr]);
}

static int offer(void)
{
	int nr, err;

	for (nr = 0; nr < ARRAY_SIZE(resources); nr++) {
		err = perf_virtual_register(&resources[nr]);
		if (err) {
			withdraw(nr);
			return err;
		}
	}
	return 0;
}

static int registered;

/* Writers of the parameters of a module take turns. */
static int set_registered(const char *text, const struct kernel_param *kp)
{
	int want, err = kstrtoint(text, 0, &want);

	if (err || want == registered)
		return err;
	if (want)
		err = offer();
	else
		withdraw(ARRAY_SIZE(resources));
	if (!err)
		registered = want;
	return err;
}

static const struct kernel_param_ops registered_ops = {
	.set = set_registered,
	.get = param_get_int,
};
module_param_cb(registered, &registered_ops, &registered, 0600);

static int __init load(void)
{
	int err;

	resources[0].name = name;
	resources[0].unit = unit;
	err = offer();
	registered = !err;
	return err;
}

static void __exit unload(void)
{
	if (registered)
		withdraw(ARRAY_SIZE(resources));
}

module_init(load);
module_exit(unload);
#endif

MODULE_DESCRIPTION("Test resources: what the PMU virtual shows");
MODULE_LICENSE("GPL");
