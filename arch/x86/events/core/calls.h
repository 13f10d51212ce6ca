/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every operation of struct x86_pmu that is called through a static call.  Define
 * X86_PE_CALL(op) and include this, as often as needed; hence no include guard.
 */
X86_PE_CALL(handle_irq);
X86_PE_CALL(enable_all);
X86_PE_CALL(disable_all);
X86_PE_CALL(enable);
X86_PE_CALL(disable);
X86_PE_CALL(add);
X86_PE_CALL(del);
X86_PE_CALL(assign);
X86_PE_CALL(read);
X86_PE_CALL(update);
X86_PE_CALL(set_period);
X86_PE_CALL(limit_period);
X86_PE_CALL(start_scheduling);
X86_PE_CALL(schedule_events);
X86_PE_CALL(get_event_constraints);
X86_PE_CALL(put_event_constraints);
X86_PE_CALL(commit_scheduling);
X86_PE_CALL(stop_scheduling);
X86_PE_CALL(leave);
X86_PE_CALL(sched_task);
X86_PE_CALL(filter);
X86_PE_CALL(pebs_aliases);
X86_PE_CALL(drain_pebs);
#undef X86_PE_CALL
