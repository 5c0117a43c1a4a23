// SPDX-License-Identifier: GPL-2.0
/*
 * What was executed before a sample, from its branch stack.
 *
 * A branch stack has where each of the last branches was taken from and to, and the cycles
 * since the one before. The code tells how many instructions are in between. So the rate of
 * instructions is known of the time before the sample, exactly, and function by function.
 *
 * But a stack has the same number of branches everywhere, hence covers more time where code
 * is slow, and there are more samples there as well: the sums over all stacks have too much
 * of slow code. Therefore only what ended in a fixed time before the sample counts, and if all
 * of a stack took less, each of its blocks counts for more. How long this was is judged by the
 * other blocks: with its own time, one that is slow by chance would count too little.
 */
#include "window-branches.h"

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

/* Longer code without a branch is taken for damage. */
#define MAX_BLOCK	4096
#define MAX_INSN_SIZE	15
/* So long before the last branch a block may have ended, in cycles. */
#define BEFORE_CYCLES	400.0
/* Fewer are of a stack that was emptied just before, and tell nothing of how long it takes. */
#define MIN_BRANCHES	8
/* The counter of cycles stops here. */
#define MAX_CYCLES	0xffff

/* Count the instructions from @start to the branch at @end, with it. Return 0 if unknown. */
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
 * perf_sample__move_to_branch - Let the time of a mispredicted branch be the branch's.
 * @sample: A sample of cycles. If it is where the last branch went, and that was mispredicted,
 *	nothing was executed there so far.
 */
void perf_sample__move_to_branch(struct perf_sample *sample)
{
	struct branch_entry *last = perf_sample__branch_entries(sample);

	if (last && sample->branch_stack->nr && last->flags.mispred && last->to == sample->ip)
		sample->ip = last->from;
}

/**
 * perf_sample__read_blocks - List what was executed before a sample.
 * @sample: The sample.
 * @thread: Its thread.
 * @blocks: Set to an array for the caller to free, or to NULL.
 *
 * Blocks whose code is not known are left out, but the time they took is not.
 *
 * Return: The number of blocks, 0 if there are too few, or without memory.
 */
unsigned int perf_sample__read_blocks(struct perf_sample *sample, struct thread *thread,
				      struct window_block **blocks)
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
		struct window_block *block = &(*blocks)[nr_blocks];
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
