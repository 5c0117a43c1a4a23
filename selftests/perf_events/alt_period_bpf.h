/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load BPF programs with bpf(2) alone, from arrays of instructions.
 */
#ifndef ALT_PERIOD_BPF_H
#define ALT_PERIOD_BPF_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* BPF_MOV64_IMM() etc. */
#include "../../../include/linux/filter.h"

static inline int sys_bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Creates an array map with one element of @size bytes, for mmap(). Returns its fd. */
static inline int bpf_create_value(size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(__u32);
	attr.value_size = size;
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

/*
 * Loads a program for perf events, and returns its fd. The verifier explains in
 * @log why it refused the program; the kernel wants at least 128 bytes there.
 */
static inline int bpf_load_perf_prog(const struct bpf_insn *insns, size_t nr,
				     char *log, size_t log_size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = nr;
	attr.license = (uintptr_t)"GPL";
	attr.log_buf = (uintptr_t)log;
	attr.log_size = log_size;
	attr.log_level = !!log;
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

#endif /* ALT_PERIOD_BPF_H */
