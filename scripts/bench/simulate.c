// SPDX-License-Identifier: GPL-2.0
/*
 * Simulate how perf samples a program: a plugin of qemu-user for x86_64.
 *
 * The CPU is that of the machine x86_64-stalls (patches/qemu 0107 to 0109): its predictor of
 * branches, caches, and costs. All recordings of DIR/plan are taken in one run of the program.
 * None disturbs it, so that what is true is the same for all: each has a clock of its own,
 * that of the program and what its interrupts have taken so far.
 *
 * Argument: dir=DIR. DIR/plan has numbers, in this order:
 *
 *   from an overflow to its interrupt, cycles: fixed, random
 *   an interrupt takes, cycles: fixed, random, by the line of code
 *   loads after it that may take longer, how probable that is in percent, by how many cycles
 *   how many recordings follow, and of each: seed, events, precise, stacks, window,
 *   its jitter, {period, jitter}[4]
 *
 * Of cycles, instructions, and the misses of branches and of the cache, those with a period are
 * sampled, and the first so many events are a group that each sample has the counts of. With a
 * window, cycles alternate. With precise events, samples of all but cycles come at once and have
 * the address of the instruction that overflowed. DIR/0, DIR/1, ... get the samples as in
 * perf.data, DIR/profile what each address took, as scripts/bench/real.py reads it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No package of Debian 12 has qemu-plugin.h. This is of version 1 of its interface. */
#define EXPORT	__attribute__((visibility("default")))
struct qemu_plugin_tb;
struct qemu_plugin_insn;
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
		void (*)(unsigned int, void *), int flags, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
		void (*)(unsigned int, uint32_t, uint64_t, void *), int flags, int rw, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
bool qemu_plugin_mem_is_store(uint32_t info);

enum { CYCLES, INSNS, BRANCH_MISSES, CACHE_MISSES, NR_EVENTS };

#define NEVER		UINT64_MAX
#define STACK		32
#define FIRST_ID	100	/* of the events, as in simulate.py */
#define TASK		77

struct event {
	uint64_t period, jitter;
	uint64_t length;		/* of the interval that runs */
	uint64_t end;			/* the count where it overflows */
	uint64_t due;			/* when the interrupt comes, NEVER if that is not known */
};

struct recording {
	FILE *file;
	uint64_t random;
	uint64_t interrupted;		/* cycles that its interrupts have taken */
	uint64_t cold;			/* loads that may take longer */
	uint64_t window, window_jitter;
	uint64_t overrun;		/* what a long interval counted past its end */
	bool in_window, precise, stacks;
	int nr_events;
	struct event events[NR_EVENTS];
	uint64_t wake[NR_EVENTS];	/* counts of the program when something is to be done */
};

/* What the program has counted, without any interrupt, and its last branches. */
static uint64_t counts[NR_EVENTS];
static struct branch { uint64_t from, to, flags; } branches[STACK];
static uint64_t nr_branches;

static struct recording *recordings, **cold;
static int nr_recordings, nr_cold;
static uint64_t wake[NR_EVENTS];	/* the least of all recordings */
static uint64_t late_fixed, late_random, cost_fixed, cost_random, cost_line;
static uint64_t cold_loads, cold_percent, cold_cycles;
static const char *dir;

/* Draw a number from 0 to MOST with xorshift64*. */
static uint64_t draw(struct recording *rec, uint64_t most)
{
	rec->random ^= rec->random << 13;
	rec->random ^= rec->random >> 7;
	rec->random ^= rec->random << 17;
	return (rec->random * 2685821657736338717ull >> 20) % (most + 1);
}

static uint64_t count(const struct recording *rec, int k)
{
	return counts[k] + (k == CYCLES ? rec->interrupted : 0);
}

/* Begin an interval. A long one is shorter by what was counted past the end of the last ones. */
static void begin(struct recording *rec, int k)
{
	struct event *event = &rec->events[k];
	uint64_t overrun = count(rec, k) - event->end;

	if (k == CYCLES && rec->in_window) {
		event->length = rec->window - rec->window_jitter / 2 + draw(rec, rec->window_jitter);
		rec->overrun = overrun;
		overrun = 0;
	} else {
		event->length = event->period - event->jitter / 2 + draw(rec, event->jitter);
		if (k == CYCLES)
			overrun += rec->overrun;
	}
	event->end = count(rec, k) + event->length - (overrun < event->length ? overrun : 0);
	event->due = k == CYCLES ? event->end + late_fixed + draw(rec, late_random) : NEVER;
}

/* Write a PERF_RECORD_SAMPLE of user space, with the fields that simulate.py declares. */
static void write_sample(const struct recording *rec, int k, uint64_t ip, bool exact)
{
	uint64_t record[20 + 3 * STACK], *pos = record + 1, misc = 2;

	if (k == CYCLES && rec->in_window)
		misc |= 1 << 13;		/* PERF_RECORD_MISC_ALT_WINDOW */
	if (exact)
		misc |= 1 << 14;		/* PERF_RECORD_MISC_EXACT_IP */
	*pos++ = FIRST_ID + k;
	*pos++ = ip;
	*pos++ = TASK | (uint64_t)TASK << 32;
	*pos++ = count(rec, CYCLES);
	*pos++ = rec->events[k].length;
	if (rec->nr_events)
		*pos++ = rec->nr_events;
	for (int i = 0; i < rec->nr_events; i++) {
		*pos++ = count(rec, i);
		*pos++ = FIRST_ID + i;
	}
	if (k == CYCLES && rec->stacks) {
		uint64_t nr = nr_branches < STACK ? nr_branches : STACK;

		*pos++ = nr;
		for (uint64_t i = 1; i <= nr; i++, pos += 3)
			memcpy(pos, &branches[(nr_branches - i) % STACK], sizeof(*branches));
	}
	record[0] = 9 | misc << 32 | (uint64_t)((char *)pos - (char *)record) << 48;
	fwrite(record, sizeof(*record), pos - record, rec->file);
}

static void interrupt(struct recording *rec, int k, uint64_t pc, uint64_t ip, bool exact)
{
	uint64_t line = (pc >> 6) * 0x9e3779b97f4a7c15ull >> 40;

	write_sample(rec, k, ip, exact);
	if (k == CYCLES)
		rec->in_window = rec->window && !rec->in_window;
	begin(rec, k);
	rec->interrupted += cost_fixed + draw(rec, cost_random) + line % (cost_line + 1);
	if (cold_loads && !rec->cold)
		cold[nr_cold++] = rec;
	rec->cold = cold_loads;
}

static void lower(uint64_t *value, uint64_t other)
{
	if (other < *value)
		*value = other;
}

static void set_wake(struct recording *rec)
{
	memset(rec->wake, 0xff, sizeof(rec->wake));
	for (int k = 0; k < NR_EVENTS; k++) {
		const struct event *event = &rec->events[k];

		if (event->period && event->due == NEVER)
			lower(&rec->wake[k], event->end);
		else if (event->period)
			lower(&rec->wake[CYCLES], event->due > rec->interrupted ?
						  event->due - rec->interrupted : 0);
	}
}

/* Do what is to be done between two instructions, that at LAST and that at PC. */
static void check(struct recording *rec, uint64_t pc, uint64_t last)
{
	for (int k = 0; k < NR_EVENTS; k++) {
		struct event *event = &rec->events[k];
		bool over = event->period && event->due == NEVER && counts[k] >= event->end;

		if (over && rec->precise) {
			interrupt(rec, k, pc, last, true);
			continue;
		}
		if (over)
			event->due = count(rec, CYCLES) + late_fixed + draw(rec, late_random);
		if (event->period && count(rec, CYCLES) >= event->due)
			interrupt(rec, k, pc, pc, false);
	}
	set_wake(rec);
}

static void check_all(uint64_t pc, uint64_t last)
{
	memset(wake, 0xff, sizeof(wake));
	for (struct recording *rec = recordings; rec < recordings + nr_recordings; rec++) {
		for (int k = 0; k < NR_EVENTS; k++) {
			if (counts[k] >= rec->wake[k])
				check(rec, pc, last);
		}
		for (int k = 0; k < NR_EVENTS; k++)
			lower(&wake[k], rec->wake[k]);
	}
}

/* Let a load take longer in the recordings that have had an interrupt before it. */
static void load_cold(void)
{
	for (int i = nr_cold - 1; i >= 0; i--) {
		struct recording *rec = cold[i];

		if (draw(rec, 99) < cold_percent) {
			rec->interrupted += cold_cycles;
			set_wake(rec);
			lower(&wake[CYCLES], rec->wake[CYCLES]);
		}
		if (!--rec->cold)
			cold[i] = cold[--nr_cold];
	}
}

/* The CPU: what an instruction costs. */
struct insn {
	uint64_t pc, counts[NR_EVENTS];
	struct insn *next;
	uint8_t size, extra;
	enum { OTHER, CONDITIONAL, JUMP, CALL, RETURN, INDIRECT_JUMP, INDIRECT_CALL } kind;
};

static struct insn *insns, *running;
static uint64_t stall, misses;		/* of the memory that the running one accessed */

/* Look a line up in a set, where the line used last is the first. */
static bool is_hit(uint64_t *set, int ways, uint64_t line)
{
	int way = 0;
	bool hit;

	while (way < ways - 1 && set[way] != line)
		way++;
	hit = set[way] == line;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = line;
	return hit;
}

static void access_memory(unsigned int cpu, uint32_t info, uint64_t addr, void *data)
{
	static uint64_t l1[64][8], llc[1024][16];
	uint64_t line = (addr >> 6) + 1;
	bool load = !qemu_plugin_mem_is_store(info), missed;

	if (nr_cold && load)
		load_cold();
	if (is_hit(l1[line % 64], 8, line))
		return;
	missed = !is_hit(llc[line % 1024], 16, line);
	misses += missed;
	if (load)
		stall += missed ? 200 : 30;
}

/* Predict the branch that goes to PC, and learn. Return true if that was wrong. */
static bool is_mispredicted(const struct insn *insn, uint64_t pc)
{
	static uint64_t targets[512], returns[16], history, top;
	static uint8_t counters[4096];		/* 2 and 3: taken */
	uint64_t behind = insn->pc + insn->size;
	uint8_t *counter = &counters[(behind ^ history) % 4096];
	bool taken = pc != behind, wrong = false;

	switch (insn->kind) {
	case CONDITIONAL:
		wrong = (*counter >= 2) != taken;
		*counter += taken ? *counter < 3 : -(*counter > 0);
		history = history << 1 | taken;
		break;
	case RETURN:
		wrong = returns[top % 16] != pc;
		top--;
		break;
	case INDIRECT_CALL:
	case INDIRECT_JUMP:
		wrong = targets[behind % 512] != pc;
		targets[behind % 512] = pc;
		break;
	default:
		break;
	}
	if (insn->kind == CALL || insn->kind == INDIRECT_CALL)
		returns[++top % 16] = behind;
	return wrong;
}

/* Finish the last instruction: where it went is known when the next one begins. */
static void execute(unsigned int cpu, void *data)
{
	static uint64_t last_branch;
	struct insn *insn = data, *last = running;
	uint64_t pc = insn->pc, cycles;
	bool wrong;

	running = insn;
	if (!last)
		return;
	wrong = last->kind && is_mispredicted(last, pc);
	cycles = 1 + last->extra + stall + 16 * wrong;
	const uint64_t more[] = { cycles, 1, wrong, misses };
	stall = misses = 0;
	for (int k = 0; k < NR_EVENTS; k++) {
		counts[k] += more[k];
		last->counts[k] += more[k];
	}
	if (last->kind && (last->kind != CONDITIONAL || pc != last->pc + last->size)) {
		cycles = counts[CYCLES] - last_branch;
		last_branch = counts[CYCLES];
		branches[nr_branches++ % STACK] = (struct branch){
			last->pc, pc, (wrong ? 1 : 2) | (cycles > 0xffff ? 0xffff : cycles) << 4 };
	}
	for (int k = 0; k < NR_EVENTS; k++) {
		if (counts[k] >= wake[k])
			check_all(pc, last->pc);
	}
}

/* Find out if an instruction is a branch, and what it costs more than a cycle. */
static void decode(struct insn *insn, const uint8_t *byte)
{
	const uint8_t *end = byte + insn->size;
	uint8_t op, next, reg;
	bool lock = false;

	for (; byte < end && *byte && strchr("\x66\x67\xf2\xf3\x2e\x3e\x64\x65\xf0", *byte); byte++)
		lock |= *byte == 0xf0;
	if (byte < end && (*byte & 0xf0) == 0x40)
		byte++;
	if (byte >= end)
		return;
	op = byte[0];
	next = byte + 1 < end ? byte[1] : 0;
	reg = next >> 3 & 7;
	if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) || (op == 0x0f && next >> 4 == 8))
		insn->kind = CONDITIONAL;
	else if (op == 0xe9 || op == 0xeb)
		insn->kind = JUMP;
	else if (op == 0xe8)
		insn->kind = CALL;
	else if (op == 0xc2 || op == 0xc3)
		insn->kind = RETURN;
	else if (op == 0xff && (reg == 2 || reg == 4))
		insn->kind = reg == 2 ? INDIRECT_CALL : INDIRECT_JUMP;
	else if ((op == 0xf6 || op == 0xf7) && reg >= 6)
		insn->extra = 14;		/* DIV */
	else if (op == 0x0f && (next == 0x5e || next == 0x51))
		insn->extra = 12;		/* DIVSD, SQRTSD */
	else if (op == 0x0f && next == 0xa2)
		insn->extra = 33;		/* CPUID */
	if (lock || ((op == 0x86 || op == 0x87) && next < 0xc0))
		insn->extra = 18;		/* XCHG locks too. */
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *found = qemu_plugin_tb_get_insn(tb, i);
		struct insn *insn = calloc(1, sizeof(*insn));

		/* What is translated again has a second line in the profile. */
		insn->next = insns;
		insns = insn;
		insn->pc = qemu_plugin_insn_vaddr(found);
		insn->size = qemu_plugin_insn_size(found);
		decode(insn, qemu_plugin_insn_data(found));
		qemu_plugin_register_vcpu_insn_exec_cb(found, execute, 0, insn);
		qemu_plugin_register_vcpu_mem_cb(found, access_memory, 0, 3, insn);
	}
}

static FILE *open_file(const char *name, const char *mode)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, mode);
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

/* Write the profile, unless a recording could not be written. */
static void finish(uint64_t id, void *data)
{
	FILE *file;

	for (int i = 0; i < nr_recordings; i++) {
		if (fclose(recordings[i].file))
			return;
	}
	file = open_file("profile", "w");
	for (const struct insn *insn = insns; insn; insn = insn->next) {
		const uint64_t *c = insn->counts;

		if (c[INSNS])
			fprintf(file, "1 %lx %lu %lu %lu %lu\n", insn->pc, c[INSNS], c[CYCLES],
				c[BRANCH_MISSES], c[CACHE_MISSES]);
	}
	fclose(file);
}

static uint64_t number(FILE *plan)
{
	uint64_t value = 0;

	return fscanf(plan, "%lu", &value) == 1 ? value : 0;
}

static void read_recording(FILE *plan, struct recording *rec)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)(rec - recordings));
	rec->file = open_file(name, "w");
	rec->random = number(plan);
	rec->nr_events = number(plan);
	rec->precise = number(plan);
	rec->stacks = number(plan);
	rec->window = number(plan);
	rec->window_jitter = number(plan);
	for (int k = 0; k < NR_EVENTS; k++) {
		rec->events[k].period = number(plan);
		rec->events[k].jitter = number(plan);
		begin(rec, k);
	}
	set_wake(rec);
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	uint64_t *timing[] = { &late_fixed, &late_random, &cost_fixed, &cost_random, &cost_line,
			       &cold_loads, &cold_percent, &cold_cycles };
	FILE *plan;

	if (argc != 1 || strncmp(argv[0], "dir=", 4)) {
		fprintf(stderr, "The argument is dir=DIR.\n");
		return -1;
	}
	dir = strdup(argv[0] + 4);
	plan = open_file("plan", "r");
	for (size_t i = 0; i < sizeof(timing) / sizeof(*timing); i++)
		*timing[i] = number(plan);
	nr_recordings = number(plan);
	recordings = calloc(nr_recordings, sizeof(*recordings));
	cold = calloc(nr_recordings, sizeof(*cold));
	for (int i = 0; i < nr_recordings; i++)
		read_recording(plan, &recordings[i]);
	fclose(plan);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}
