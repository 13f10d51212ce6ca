// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_EXT_IOC_PERIODS and PERF_EXT_IOC_GET_PERIODS, and the sysctl that has periods vary by
 * themselves: see sources/periods.c.
 *
 * Task context, may sleep.
 */
#include <linux/perf_event_ext.h>
#include <linux/random.h>
#include <linux/sysctl.h>

#include "abi.h"
#include "ext_call.h"
#include "../ext.h"

static_assert(sizeof(struct perf_ext_periods) == 56);

/* kernel.perf_ext_jitter_percent: 0 ... 50 */
static int jitter_percent __read_mostly;

/* Can the periods of an event follow a rule?  Return: 0, or an error whose reason is in @why. */
int pe_ext_refuse_periods(struct pe_event *e, const char **why)
{
	if (!is_sampling_event(&e->pub)) {
		*why = "PERIODS: the event does not sample";
		return -EINVAL;
	}
	if (e->attr.freq) {
		*why = "PERIODS: a frequency chooses its periods itself";
		return -EINVAL;
	}
	if (!e->pmu->least_period || !e->pmu->least_period(&e->pub)) {
		*why = "PERIODS: the PMU cannot vary the period of this event";
		return -EOPNOTSUPP;
	}
	return 0;
}

static bool is_fit(struct pe_event *e, u64 base, u32 mask)
{
	struct pmu *pmu = e->pmu;

	return base >= pmu->least_period(&e->pub) && base <= S64_MAX - mask &&
	       (!pmu->check_period || (!pmu->check_period(&e->pub, base) &&
				       !pmu->check_period(&e->pub, base + mask)));
}

static int check_rule(struct pe_event *e, const struct pe_period_rule *rule)
{
	if (!is_fit(e, rule->shorter, rule->mask) || !is_fit(e, rule->longer, rule->mask) ||
	    !is_fit(e, rule->initial, rule->mask))
		return pe_err(-EINVAL, "PERIODS: too short, too long, or not for this PMU");
	return 0;
}

/* What later kernels may give a meaning. */
static int check_reserved(const struct perf_ext_periods *ask)
{
	if (ask->flags || ask->pad)
		return pe_err(-EINVAL, "PERIODS: flags, pad: not 0");
	return 0;
}

static int make_rule(struct pe_period_rule *rule, struct perf_ext_periods *ask)
{
	if (ask->mask > S32_MAX || ask->seed >= PE_PERIOD_SEEDS)
		return pe_err(-EINVAL, "PERIODS: mask above 2^31 - 1, or seed not below it");
	ask->ended = 0;
	if (!ask->seed && ask->short_period)
		ask->seed = get_random_u32_below(PE_PERIOD_SEEDS - 1) + 1;
	*rule = (struct pe_period_rule){
		.shorter	= ask->short_period,
		.longer		= ask->long_period ?: ask->short_period,
		.long_every	= ask->long_every,
		.mask		= ask->mask,
		.seed		= ask->seed,
	};
	rule->initial = ask->initial_period ?: rule->longer;
	return 0;
}

struct rule_args {
	struct pe_event		*e;
	struct pe_period_rule	*rule;		/* NULL: none */
	int			err;
};

static void pe_ext_periods_prepare(struct pe_event *e, void *arg)
{
	struct rule_args *args = arg;

	args->err = args->err ?: pe_ext_need(e);
}

static void pe_ext_periods_set(struct pe_ctx *ctx, void *arg)
{
	struct rule_args *args = arg;

	pe_change_period(args->e, pe_periods_set, args->rule);
}

/* The copies take the rule from their origin, which is first. */
static void pe_ext_periods_apply(struct pe_event *e, void *arg)
{
	if (e->parent) {
		pe_call(pe_ctx(e), pe_ext_set_periods, e);
		return;
	}
	e->ext->gen++;
	pe_call(pe_ctx(e), pe_ext_periods_set, arg);
}

/* Software divides its hits into periods before they are overflows. */
static void take_drawing(struct pe_event *e)
{
	if (e->pmu->least_period != pe_software_least_period)
		pe_take_drawing_overflow(e);
}

/* @rule: NULL: none */
static int set_rule(struct pe_event *e, struct pe_period_rule *rule)
{
	struct rule_args args = { .e = e, .rule = rule };

	/* All have what it takes before the first one changes; a copy that joins now follows. */
	pe_family_each(e, pe_ext_periods_prepare, &args);
	if (args.err)
		return args.err;
	take_drawing(e);
	pe_family_each(e, pe_ext_periods_apply, &args);
	return 0;
}

static int refuse(struct pe_event *e, const struct perf_ext_periods *ask,
		  const struct pe_period_rule *rule)
{
	const char *why;
	int err;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "PERIODS: the PMU has gone");
	err = pe_ext_refuse_periods(e, &why);
	if (err)
		return pe_err(err, why);
	return ask->short_period ? check_rule(e, rule) : 0;
}

/**
 * pe_ext_change_periods() - PERF_EXT_IOC_PERIODS
 * @e: the event
 * @asked: what user space says; answers the seed
 *
 * Return: 0 or an error; then nothing has changed.
 */
long pe_ext_change_periods(struct pe_event *e, struct pe_ext_ask *asked)
{
	struct perf_ext_periods *ask = &asked->u.periods;
	struct pe_period_rule rule;
	int err = check_reserved(ask) ?: make_rule(&rule, ask);

	if (err)
		return err;
	e = pe_ext_named(e, ask->set, ask->member);
	if (IS_ERR(e))
		return PTR_ERR(e);
	scoped_guard(pe_event_ctx, e)
		err = refuse(e, ask, &rule);
	/* Each copy has periods of its own. */
	if (!err && ask->short_period)
		err = pe_kin_dissolve(e);
	if (err)
		return err;
	guard(pe_event_ctx)(e);
	return refuse(e, ask, &rule) ?: set_rule(e, ask->short_period ? &rule : NULL);
}

/* Takes neither ctx->mutex nor another CPU, for fdinfo.  Return: there is a rule. */
static bool look_at_periods(struct pe_event *e, struct perf_ext_periods *p)
{
	struct pe_ctx *ctx = pe_ctx(e);
	struct pe_periods *periods;

	guard(raw_spinlock_irq)(&ctx->lock);
	periods = pe_periods(e);
	if (!periods)
		return false;
	*p = (struct perf_ext_periods){
		.short_period	= periods->rule.shorter,
		.long_period	= periods->rule.longer,
		.initial_period	= periods->rule.initial,
		.long_every	= periods->rule.long_every,
		.mask		= periods->rule.mask,
		.seed		= periods->rule.seed,
		.ended		= READ_ONCE(periods->ended),
	};
	return true;
}

/**
 * pe_ext_get_periods() - PERF_EXT_IOC_GET_PERIODS
 * @e: the event
 * @ask: answers the rule in force
 *
 * Return: 0 or an error.
 */
long pe_ext_get_periods(struct pe_event *e, struct pe_ext_ask *ask)
{
	struct perf_ext_periods *answer = &ask->u.periods;
	u16 set = answer->set, member = answer->member;
	int err = check_reserved(answer);

	if (err)
		return err;
	e = pe_ext_named(e, set, member);
	if (IS_ERR(e))
		return PTR_ERR(e);
	guard(pe_event_ctx)(e);
	if (READ_ONCE(e->state) <= PERF_EVENT_STATE_REVOKED)
		return pe_err(-ENODEV, "PERIODS: the PMU has gone");
	if (!look_at_periods(e, answer))
		*answer = (struct perf_ext_periods){};
	answer->set = set;
	answer->member = member;
	return 0;
}

/**
 * pe_ext_jitter() - kernel.perf_ext_jitter_percent has the periods of a new event vary
 * @e: a new event, not attached
 *
 * Events whose periods cannot vary, or not by so little, keep theirs.  Return: 0 or -ENOMEM.
 */
int pe_ext_jitter(struct pe_event *e)
{
	unsigned int percent = READ_ONCE(jitter_percent);
	struct pe_period_rule rule;
	const char *why;

	if (likely(!percent) || pe_ext_refuse_periods(e, &why) ||
	    !pe_period_jitter(&rule, e->attr.sample_period, percent) ||
	    !is_fit(e, rule.shorter, rule.mask))
		return 0;
	rule.seed = get_random_u32_below(PE_PERIOD_SEEDS - 1) + 1;
	if (pe_ext_need(e))
		return -ENOMEM;
	take_drawing(e);
	pe_periods_set(e, &rule);
	return 0;
}

/**
 * pe_ext_show_periods() - lines of fdinfo
 * @m: where to
 * @e: the event
 *
 * Takes neither ctx->mutex nor another CPU.
 */
void pe_ext_show_periods(struct seq_file *m, struct pe_event *e)
{
	struct perf_ext_periods p;

	if (!look_at_periods(e, &p))
		return;
	seq_printf(m, "periods:\t%llu %llu %llu %u\n", p.short_period, p.long_period,
		   p.initial_period, p.long_every);
	seq_printf(m, "random:\t%#x %u\n", p.mask, p.seed);
	seq_printf(m, "ended:\t%llu\n", p.ended);
}

static int percent_most = 50;

static struct ctl_table sysctls[] = {
	{
		.procname	= "perf_ext_jitter_percent",
		.data		= &jitter_percent,
		.maxlen		= sizeof(jitter_percent),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &percent_most,
	},
};

static int __init pe_ext_periods_init(void)
{
	register_sysctl_init("kernel", sysctls);
	return 0;
}
fs_initcall(pe_ext_periods_init);
