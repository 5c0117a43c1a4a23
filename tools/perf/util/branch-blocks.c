// SPDX-License-Identifier: GPL-2.0
/*
 * List the blocks of instructions that were executed before a sample, from its branch stack.
 *
 * A branch stack has the source and target of each of the last branches, and the cycles since
 * the branch before. The code has the number of instructions in between. This is the exact rate
 * of instructions before the sample, by function.
 *
 * But a stack has the same number of branches everywhere, so it covers more time where code is
 * slow, and there are more samples there as well: the sums over all stacks have too much of slow
 * code. Therefore only blocks that ended in a fixed time before the sample count, and if a whole
 * stack took less, each of its blocks counts for more. The time of a stack is that of the other
 * blocks: with its own time, a block that is slow by chance would count too little.
 */
#include "branch-blocks.h"

#include <dwarf-regs.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "branch.h"
#include "dso.h"
#include "map.h"
#include "maps.h"
#include "machine.h"
#include "sample.h"
#include "thread.h"
#include "intel-pt-decoder/intel-pt-insn-decoder.h"

/* Longer code without a branch is an error in the stack. */
#define MAX_BLOCK	4096
#define MAX_INSN_SIZE	15
/* Cycles before the last branch in which blocks count if they end there. */
#define BEFORE_CYCLES	400.0
/* A stack with fewer was emptied just before, so the time of a full one is not known. */
#define MIN_BRANCHES	8
/* The counter of cycles saturates here. */
#define MAX_CYCLES	0xffff

/* Count the instructions from @start to the branch at @end, inclusive. Return 0 if unknown. */
static unsigned int count_insns(struct thread *thread, struct machine *machine,
				u64 start, u64 end)
{
	unsigned int nr = 0, size = end - start, pos = 0;
	unsigned char code[MAX_BLOCK + MAX_INSN_SIZE];
	bool is_64_bit = true;
	ssize_t len;

	if (end < start || end - start >= MAX_BLOCK)
		return 0;
	switch (thread__e_machine(thread, machine, /*e_flags=*/NULL)) {
	case EM_AARCH64:
		return size / 4 + 1;
	case EM_386:
	case EM_X86_64:
		break;
	default:
		return 0;
	}
	len = thread__memcpy(thread, machine, code, start, size + MAX_INSN_SIZE, &is_64_bit);
	while (pos <= size && (ssize_t)pos < len) {
		struct intel_pt_insn insn;

		if (intel_pt_get_insn(code + pos, len - pos, is_64_bit, &insn))
			return 0;
		nr++;
		if (pos == size)
			return nr;
		/* A branch that is always taken is the last one; the kernel adds to the cycles. */
		if (insn.op != INTEL_PT_OP_OTHER && insn.op != INTEL_PT_OP_JCC &&
		    insn.op != INTEL_PT_OP_LOOP)
			return 0;
		pos += insn.length;
	}
	return 0;
}

/**
 * perf_sample__move_to_branch - Attribute the time of a mispredicted branch to the branch.
 * @sample: A sample of cycles. If it is at the target of the last branch, and that was
 *	mispredicted, nothing was executed there so far.
 */
void perf_sample__move_to_branch(struct perf_sample *sample)
{
	struct branch_entry *last = perf_sample__branch_entries(sample);

	if (last && sample->branch_stack->nr && last->flags.mispred && last->to == sample->ip)
		sample->ip = last->from;
}

/**
 * perf_sample__read_blocks - List the blocks of instructions before a sample.
 * @sample: The sample.
 * @thread: Its thread.
 * @blocks: Set to an array for the caller to free, or to NULL.
 *
 * Blocks whose code is not known are left out, but not their time.
 *
 * Return: The number of blocks, 0 if there are too few, or if memory is short.
 */
unsigned int perf_sample__read_blocks(struct perf_sample *sample, struct thread *thread,
				      struct branch_block **blocks)
{
	struct machine *machine = maps__machine(thread__maps(thread));
	struct branch_entry *entries = perf_sample__branch_entries(sample);
	u64 nr = sample->branch_stack ? sample->branch_stack->nr : 0;
	double cycles = 0, later = 0;
	unsigned int nr_blocks = 0;

	*blocks = nr >= MIN_BRANCHES ? calloc(nr, sizeof(**blocks)) : NULL;
	if (!*blocks)
		return 0;
	for (u64 i = 0; i + 1 < nr; i++)
		cycles += entries[i].flags.cycles;
	/* The branches of some CPUs have no cycles. */
	if (!cycles)
		return 0;

	for (u64 i = 0; i + 1 < nr && later <= BEFORE_CYCLES; later += entries[i++].flags.cycles) {
		struct branch_block *block = &(*blocks)[nr_blocks];
		double scale;

		block->start = entries[i + 1].to;
		block->end = entries[i].from;
		block->cycles = entries[i].flags.cycles;
		if (entries[i].flags.cycles != MAX_CYCLES)
			block->insns = count_insns(thread, machine, block->start, block->end);
		if (!block->insns)
			continue;

		scale = BEFORE_CYCLES / clamp(cycles - block->cycles, (double)nr, BEFORE_CYCLES);
		block->cycles *= scale;
		block->insns *= scale;
		nr_blocks++;
	}
	return nr_blocks;
}
