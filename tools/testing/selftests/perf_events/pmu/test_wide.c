// SPDX-License-Identifier: GPL-2.0
/*
 * test_wide: a client of register_wide_hw_breakpoint(), which watches a word of the kernel on all
 * CPUs, as debuggers in the kernel and out of it do.
 *
 *	watched		1: watch it, 0: no more; fails as registering does
 *	touched		write anything: the word is written on this CPU
 *	hits		how often that was seen
 *	turns		so many times it is watched, and no more
 */
#include <linux/hw_breakpoint.h>
#include <linux/module.h>
#include <linux/perf_event.h>

static struct perf_event * __percpu *watchers;
static unsigned long word;
static atomic_t hits;

static void seen(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	atomic_inc(&hits);
}

static int begin(void)
{
	struct perf_event * __percpu *new;
	struct perf_event_attr attr;

	if (watchers)
		return -EBUSY;
	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&word;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_W;
	new = register_wide_hw_breakpoint(&attr, seen, NULL);
	if (IS_ERR((void __force *)new))
		return PTR_ERR((void __force *)new);
	watchers = new;
	return 0;
}

static void end(void)
{
	if (watchers)
		unregister_wide_hw_breakpoint(watchers);
	watchers = NULL;
}

static int set_watched(const char *text, const struct kernel_param *param)
{
	bool on;
	int err = kstrtobool(text, &on);

	if (err || on)
		return err ?: begin();
	end();
	return 0;
}

static int set_touched(const char *text, const struct kernel_param *param)
{
	guard(preempt)();
	WRITE_ONCE(*(u32 *)&word, READ_ONCE(*(u32 *)&word) + 1);
	return 0;
}

static int get_hits(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%d\n", atomic_read(&hits));
}

static int set_turns(const char *text, const struct kernel_param *param)
{
	unsigned int n;
	int err = kstrtouint(text, 0, &n);

	while (!err && n--) {
		err = begin();
		end();
	}
	return err;
}

static const struct kernel_param_ops watched_ops = { .set = set_watched };
static const struct kernel_param_ops touched_ops = { .set = set_touched };
static const struct kernel_param_ops hits_ops = { .get = get_hits };
static const struct kernel_param_ops turns_ops = { .set = set_turns };

module_param_cb(watched, &watched_ops, NULL, 0200);
module_param_cb(touched, &touched_ops, NULL, 0200);
module_param_cb(hits, &hits_ops, NULL, 0400);
module_param_cb(turns, &turns_ops, NULL, 0200);

static int __init test_wide_init(void)
{
	return 0;
}
module_init(test_wide_init);

static void __exit test_wide_exit(void)
{
	end();
}
module_exit(test_wide_exit);

MODULE_DESCRIPTION("Watches a word on all CPUs");
MODULE_LICENSE("GPL");
