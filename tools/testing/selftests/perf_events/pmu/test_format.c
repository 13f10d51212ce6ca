// SPDX-License-Identifier: GPL-2.0
/*
 * test_format: a format for samples that counts them, and does with every so-and-so-manyth what it
 * is told to; see struct test_format_arg in ../lib/format.h. Parameters:
 *
 *	registered	write 0, and it is withdrawn; write 1, and it is there again
 *	holding		1: the first sample of an area is being held, with interrupts off
 *			2: it was, and nobody wrote to go
 *	go		write 1, and it goes on
 *	settle		write 1: what loading a module left to others to do is done
 *
 * On a kernel that has no formats the module does nothing.
 */
#include <linux/module.h>

#ifdef CONFIG_PERF_EVENTS_EXT
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/perf_format.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

struct arg {
	u32 lose_every, notify_every, stop_every, hold;
};

struct half {
	u64 samples, events;
};

struct state {
	struct arg arg;
	u64 nr;
};

static int init(struct perf_format_area *area, const void *arg, size_t size)
{
	struct state *s;

	if (size != sizeof(s->arg))
		return -EINVAL;
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	memcpy(&s->arg, arg, size);
	area->private = s;
	area->bytes = sizeof(struct half);
	return 0;
}

static void end(struct perf_format_area *area)
{
	kfree(area->private);
}

static int holding, go;
module_param(holding, int, 0400);
module_param(go, int, 0600);

/* 5 s at most: then the case fails, and not the machine. */
static void hold(void)
{
	unsigned int ms;

	WRITE_ONCE(holding, 1);
	for (ms = 0; ms < 5000 && !READ_ONCE(go); ms++)
		mdelay(1);
	WRITE_ONCE(holding, READ_ONCE(go) ? 0 : 2);
}

/*
 * A work frees what only loading needed, and interrupts all CPUs for that. It would wait for one
 * that holds a sample, and keep the CPU of whoever is to write to go.
 */
static int set_settle(const char *text, const struct kernel_param *kp)
{
	__flush_workqueue(SCHEDULED_WQ);
	return 0;
}

static const struct kernel_param_ops settle_ops = {
	.set = set_settle,
};
module_param_cb(settle, &settle_ops, NULL, 0200);

static bool is_due(u64 nr, u32 every)
{
	return every && nr % every == 0;
}

static unsigned int sample(struct perf_format_area *area, struct perf_event *event,
			   struct perf_sample_data *data)
{
	struct half *half = perf_format_half(area);
	struct state *s = area->private;
	unsigned int verdict = 0;

	s->nr++;
	if (is_due(s->nr, s->arg.lose_every))
		return PERF_VERDICT_LOST;
	half->samples++;
	half->events += data->period;
	if (s->arg.hold && s->nr == 1)
		hold();
	if (is_due(s->nr, s->arg.notify_every))
		verdict |= PERF_VERDICT_NOTIFY;
	if (is_due(s->nr, s->arg.stop_every))
		verdict |= PERF_VERDICT_STOP;
	return verdict;
}

static struct perf_format format = {
	.name	= "test",
	.uuid	= UUID_INIT(0x74657374, 0x2d66, 0x6f72, 0x6d, 0x61, 0x74, 0, 0, 0, 0, 1),
	.owner	= THIS_MODULE,
	.init	= init,
	.exit	= end,
	.sample	= sample,
};

static int registered;

/* Writers of the parameters of a module take turns. */
static int set_registered(const char *text, const struct kernel_param *kp)
{
	int want, err = kstrtoint(text, 0, &want);

	if (err || want == registered)
		return err;
	if (want)
		err = perf_format_register(&format);
	else
		perf_format_unregister(&format);
	if (!err)
		registered = want;
	return err;
}

static const struct kernel_param_ops registered_ops = {
	.set = set_registered,
	.get = param_get_int,
};
module_param_cb(registered, &registered_ops, &registered, 0600);

static bool __init is_refused(struct perf_format *bad, int with)
{
	int err = perf_format_register(bad);

	if (!err)
		perf_format_unregister(bad);
	return err == with;
}

/* What the core must refuse. */
static int __init refused(void)
{
	struct perf_format bad = format;

	if (!is_refused(&bad, -EEXIST))		/* the UUID */
		return -EIO;
	bad.uuid.b[15]++;
	if (!is_refused(&bad, -EEXIST))		/* the name */
		return -EIO;
	bad.name = "two words";
	if (!is_refused(&bad, -EINVAL))
		return -EIO;
	bad.name = "0123456789abcdef0123456789abcde";	/* 31 characters: as many as may be */
	if (!is_refused(&bad, 0))
		return -EIO;
	bad.name = "0123456789abcdef0123456789abcdef";
	if (!is_refused(&bad, -EINVAL))
		return -EIO;
	bad.name = "";
	if (!is_refused(&bad, -EINVAL))
		return -EIO;
	bad.name = "other";
	bad.sample = NULL;
	if (!is_refused(&bad, -EINVAL))
		return -EIO;
	bad.sample = sample;
	bad.init = NULL;
	if (!is_refused(&bad, -EINVAL))
		return -EIO;
	bad.init = init;
	bad.uuid = (uuid_t){ };
	return is_refused(&bad, -EINVAL) ? 0 : -EIO;
}

static int __init load(void)
{
	int err = perf_format_register(&format);

	if (err)
		return err;
	registered = 1;
	err = refused();
	if (err)
		perf_format_unregister(&format);
	return err;
}

static void __exit unload(void)
{
	if (registered)
		perf_format_unregister(&format);
}

module_init(load);
module_exit(unload);
#endif

MODULE_DESCRIPTION("Test format: samples are counted");
MODULE_LICENSE("GPL");
