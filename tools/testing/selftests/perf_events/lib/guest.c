// SPDX-License-Identifier: GPL-2.0
/* What guests of all architectures have: see guest.h */
#include "guest.h"

struct guest guest_bare(u64 address, size_t size)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = address, .memory_size = size,
	};
	int run;
	struct guest g;

	g.kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (g.kvm < 0)
		pt_skip("no KVM: %s", strerror(errno));
	g.vm = ioctl(g.kvm, KVM_CREATE_VM, 0);
	pt_need(g.vm >= 0, "CREATE_VM: %s", strerror(errno));
	g.memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pt_need(g.memory != MAP_FAILED, "mmap: %s", strerror(errno));
	region.userspace_addr = pt_addr(g.memory);
	pt_eq(ioctl(g.vm, KVM_SET_USER_MEMORY_REGION, &region), 0);
	g.vcpu = ioctl(g.vm, KVM_CREATE_VCPU, 0);
	pt_need(g.vcpu >= 0, "CREATE_VCPU: %s", strerror(errno));
	run = ioctl(g.kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	pt_need(run > 0, "GET_VCPU_MMAP_SIZE: %s", strerror(errno));
	g.run = mmap(NULL, (size_t)run, PROT_READ | PROT_WRITE, MAP_SHARED, g.vcpu, 0);
	pt_need(g.run != MAP_FAILED, "mmap: %s", strerror(errno));
	return g;
}
