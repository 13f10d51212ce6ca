// SPDX-License-Identifier: GPL-2.0
/*
 * What a hypervisor on this kernel tells about the guest that runs on a CPU.
 *
 * KVM or Xen registers one set of callbacks when it is loaded and withdraws it when it goes, in
 * task context, one hypervisor at a time.  The callers are samples, in NMI: perf_guest_state(),
 * perf_guest_get_ip() and perf_guest_handle_intel_pt_intr() in the contract header are static
 * calls, which return 0 while nobody has registered.
 *
 * The three calls are not switched at one moment.  That is harmless: a hypervisor says "active"
 * only from a guest it runs itself, and runs none before it has registered or after it withdrew.
 * Withdrawal waits until no NMI can still be inside a callback.
 */
#include "sources.h"

#ifdef CONFIG_GUEST_PERF_EVENTS
struct perf_guest_info_callbacks __rcu *perf_guest_cbs;

DEFINE_STATIC_CALL_RET0(__perf_guest_state, *perf_guest_cbs->state);
DEFINE_STATIC_CALL_RET0(__perf_guest_get_ip, *perf_guest_cbs->get_ip);
DEFINE_STATIC_CALL_RET0(__perf_guest_handle_intel_pt_intr, *perf_guest_cbs->handle_intel_pt_intr);

static const struct perf_guest_info_callbacks no_guest;

#define callback(func)	((func) ?: (void *)&__static_call_return0)

static void route(const struct perf_guest_info_callbacks *to)
{
	static_call_update(__perf_guest_state, callback(to->state));
	static_call_update(__perf_guest_get_ip, callback(to->get_ip));
	static_call_update(__perf_guest_handle_intel_pt_intr, callback(to->handle_intel_pt_intr));
}

/**
 * perf_register_guest_info_callbacks() - a hypervisor starts
 * @cbs: its callbacks; handle_intel_pt_intr may be NULL
 *
 * Task context.  Refused with a warning while another one is registered.
 */
void perf_register_guest_info_callbacks(struct perf_guest_info_callbacks *cbs)
{
	if (WARN_ON_ONCE(rcu_access_pointer(perf_guest_cbs)))
		return;
	rcu_assign_pointer(perf_guest_cbs, cbs);
	route(cbs);
}
EXPORT_SYMBOL_GPL(perf_register_guest_info_callbacks);

/**
 * perf_unregister_guest_info_callbacks() - a hypervisor ends
 * @cbs: what it registered
 *
 * Task context, may sleep.  On return no callback runs.
 */
void perf_unregister_guest_info_callbacks(struct perf_guest_info_callbacks *cbs)
{
	if (WARN_ON_ONCE(rcu_access_pointer(perf_guest_cbs) != cbs))
		return;
	route(&no_guest);
	RCU_INIT_POINTER(perf_guest_cbs, NULL);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(perf_unregister_guest_info_callbacks);
#endif /* CONFIG_GUEST_PERF_EVENTS */
