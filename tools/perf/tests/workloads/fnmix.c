// SPDX-License-Identifier: GPL-2.0
/*
 * Call functions with a known behaviour in a shuffled order, to verify per-function
 * metrics. On arm64 and x86_64 the number of instructions that a call of each
 * function retires is known exactly.
 *
 * The functions of "all" are long, and each does the same all the time. Those of "every"
 * that are not in "all" call short functions, which break tools that attribute all counts
 * between two samples to one function.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/stringify.h>
#include <linux/types.h>
#include "../tests.h"

#define DEFAULT_PASSES	2000
#define MAX_THREADS	1024
/* Used if the system does not report the sizes of its caches. */
#define DEFAULT_BUF_MIB	64
#define MIN_BUF_MIB	8
/* The random numbers have 32 bits. */
#define MAX_BUF_MIB	4096
#define LINE_SIZE	64
/* A linear congruential generator. The lower bits are poor and not used. */
#define LCG_MUL		0x5851f42d4c957f2d
#define LCG_ADD		0x14057b7ef767814f
#define DIVIDEND	0x123456789abcdef1
#define DOUBLE_1_7	0x3ffb333333333333
#define DOUBLE_3_1	0x4008cccccccccccd

/*
 * The arguments of a function: a random number, a buffer that is all zero, and the bits
 * of the offsets of its cache lines.
 */
typedef void (*fnmix_t)(u64 seed, u64 *buf, u64 mask);

#if defined(__aarch64__) || defined(__x86_64__)
/*
 * Functions entirely in assembly, so that nothing depends on the compiler. A
 * function executes @setup once and @body @loops times, which are @nr_setup and
 * @nr_body instructions on every path. The loop adds one instruction to @setup and
 * two to @body.
 */
#define FNMIX_ASM(name, nr_insns, code)				\
	asm(".pushsection .text\n"				\
	    ".p2align 6\n"					\
	    ".globl fnmix_" #name "\n"				\
	    ".type fnmix_" #name ", %function\n"		\
	    "fnmix_" #name ":\n"				\
	    ".cfi_startproc\n"					\
	    ENTRY						\
	    code						\
	    "ret\n"						\
	    ".cfi_endproc\n"					\
	    LITERALS						\
	    ".size fnmix_" #name ", . - fnmix_" #name "\n"	\
	    ".popsection\n");					\
	void fnmix_##name(u64 seed, u64 *buf, u64 mask);	\
	enum { fnmix_##name##_insns = NR_ENTRY + (nr_insns) + 1 }

#define FNMIX(name, loops, nr_setup, setup, nr_body, body)		\
	FNMIX_ASM(name, 1 + (nr_setup) + (loops) * ((nr_body) + 2),	\
		  LOOPS(loops) setup "9:\n" body NEXT)

/* A string of @nr times @code. */
#define REPEAT(nr, code)	".rept " __stringify(nr) "\n" code ".endr\n"
#define NOPS(nr)		REPEAT(nr, "nop\n")
#endif

/*
 * The parts of the functions on each architecture, with the number of their instructions if this
 * differs. A branch is taken back to label 9, or 8.
 */
#if defined(__aarch64__)

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define ENTRY		"hint #34\n"	/* bti c */
#define NR_ENTRY	1
#else
#define ENTRY		""
#define NR_ENTRY	0
#endif
#define LITERALS	".ltorg\n"
#define LOAD(reg, val)	"ldr " reg ", =" __stringify(val) "\n"

/* Counters of loops, one in another, and the last one in a function that is called. */
#define LOOPS(n)	"mov w9, #" #n "\n"
#define NEXT		"subs w9, w9, #1\n"	\
			"b.ne 9b\n"
#define INNER_LOOPS(n)	"mov w12, #" #n "\n"
#define INNER_NEXT	"subs w12, w12, #1\n"	\
			"b.ne 8b\n"
#define CALLED_LOOPS(n)	"mov w14, #" #n "\n"
#define CALLED_NEXT	"subs w14, w14, #1\n"	\
			"b.ne 9b\n"

/* Functions that are called have these registers: x10 to x13, w14, d0, d1. */
#define BEFORE_CALLS	"mov x15, x30\n"
#define AFTER_CALLS	"mov x30, x15\n"
#define NR_CALLS	2
#define CALL(name)	"bl fnmix_" #name "\n"
#define CLEAR_SEED	"mov w0, #0\n"
#define SET_SEED	"mov w0, #1\n"
#define IF_SEED		"cbnz w0, 5f\n"
#define NR_IF_SEED	1

#define RANDOM_MUL	"x12"
#define RANDOM_ADD	"x13"
#define NR_MISPREDICT	4
#define MISPREDICT	"madd x0, x0, x12, x13\n"	\
			"tbz x0, #45, 1f\n"		\
			"add x10, x10, #1\n"		\
			"b 2f\n"			\
			"1: sub x10, x10, #1\n"		\
			"nop\n"				\
			"2:\n"
#define INIT_MISS	"mov x14, x2\n"			\
			"mov x10, #0\n"
#define NR_MISS		4
#define MISS		"madd x0, x0, x12, x13\n"	\
			"add x0, x0, x10\n"		\
			"and x11, x14, x0, lsr #32\n"	\
			"ldr x10, [x1, x11]\n"

#define INIT_DIV	LOAD("x13", DIVIDEND)		\
			"mov x11, #3\n"			\
			"mov x10, x13\n"
#define NR_DIV		2
#define DIV		"udiv x10, x10, x11\n"		\
			"add x10, x10, x13\n"
#define INIT_FP		LOAD("x10", DOUBLE_1_7)		\
			LOAD("x11", DOUBLE_3_1)		\
			"fmov d0, x10\n"		\
			"fmov d1, x11\n"
#define NR_FP_DIV	1
#define FP_DIV		"fdiv d0, d1, d0\n"
#define CONVERT		"fcvtzs x10, d0\n"		\
			"scvtf d0, x10\n"		\
			"fadd d0, d0, d1\n"
#define NR_BARRIER	1
#define BARRIER		"isb\n"

#elif defined(__x86_64__)

#if defined(__CET__) && (__CET__ & 1)
#define ENTRY		"endbr64\n"
#define NR_ENTRY	1
#else
#define ENTRY		""
#define NR_ENTRY	0
#endif
#define LITERALS	""
#define LOAD(reg, val)	"movabs $" __stringify(val) ", %" reg "\n"

#define LOOPS(n)	"mov $" #n ", %ecx\n"
#define NEXT		"dec %ecx\n"		\
			"jnz 9b\n"
#define INNER_LOOPS(n)	"mov $" #n ", %r10d\n"
#define INNER_NEXT	"dec %r10d\n"		\
			"jnz 8b\n"
#define CALLED_LOOPS(n)	"mov $" #n ", %r11d\n"
#define CALLED_NEXT	"dec %r11d\n"		\
			"jnz 9b\n"

/* Functions that are called have these registers: rax, rdx, r8, r9, r11, xmm0 to xmm2. */
#define BEFORE_CALLS	""
#define AFTER_CALLS	""
#define NR_CALLS	0
#define CALL(name)	"call fnmix_" #name "\n"
#define CLEAR_SEED	"xor %edi, %edi\n"
#define SET_SEED	"mov $1, %edi\n"
#define IF_SEED		"test %edi, %edi\n"		\
			"jnz 5f\n"
#define NR_IF_SEED	2

#define RANDOM_MUL	"r8"
#define RANDOM_ADD	"r9"
#define NR_MISPREDICT	6
#define MISPREDICT	"imul %r8, %rdi\n"		\
			"add %r9, %rdi\n"		\
			"bt $45, %rdi\n"		\
			"jnc 1f\n"			\
			"add $1, %rax\n"		\
			"jmp 2f\n"			\
			"1: sub $1, %rax\n"		\
			"nop\n"				\
			"2:\n"
#define INIT_MISS	"mov %rdx, %r10\n"		\
			"xor %eax, %eax\n"
#define NR_MISS		7
#define MISS		"imul %r8, %rdi\n"		\
			"add %r9, %rdi\n"		\
			"add %rax, %rdi\n"		\
			"mov %rdi, %rdx\n"		\
			"shr $32, %rdx\n"		\
			"and %r10, %rdx\n"		\
			"mov (%rsi, %rdx), %rax\n"

#define INIT_DIV	LOAD("r8", DIVIDEND)		\
			"mov $3, %r9d\n"		\
			"mov %r8, %rax\n"
#define NR_DIV		3
#define DIV		"xor %edx, %edx\n"		\
			"div %r9\n"			\
			"add %r8, %rax\n"
#define INIT_FP		LOAD("rax", DOUBLE_1_7)		\
			LOAD("rdx", DOUBLE_3_1)		\
			"movq %rax, %xmm0\n"		\
			"movq %rdx, %xmm1\n"
#define NR_FP_DIV	3
#define FP_DIV		"movapd %xmm1, %xmm2\n"		\
			"divsd %xmm0, %xmm2\n"		\
			"movapd %xmm2, %xmm0\n"
#define CONVERT		"cvttsd2si %xmm0, %rax\n"	\
			"cvtsi2sd %rax, %xmm0\n"	\
			"addsd %xmm1, %xmm0\n"
#define NR_BARRIER	2
#define BARRIER		"mfence\n"			\
			"lfence\n"
#endif

#if defined(__aarch64__) || defined(__x86_64__)

FNMIX_ASM(empty, 0, "");
FNMIX(mispredict, 3000,
	2, LOAD(RANDOM_MUL, LCG_MUL) LOAD(RANDOM_ADD, LCG_ADD),
	NR_MISPREDICT, MISPREDICT);
FNMIX(int_div, 1500, 3, INIT_DIV, NR_DIV, DIV);
FNMIX(fp_div, 2000, 4, INIT_FP, NR_FP_DIV, FP_DIV);
FNMIX(convert, 2500, 4, INIT_FP, 3, CONVERT);
FNMIX(barrier, 400, 0, "", NR_BARRIER, BARRIER);
FNMIX(cache_miss, 1000,
	4, LOAD(RANDOM_MUL, LCG_MUL) LOAD(RANDOM_ADD, LCG_ADD) INIT_MISS,
	NR_MISS, MISS);
FNMIX(nops, 500, 0, "", 16, NOPS(16));

/* Called by the others. */
FNMIX_ASM(leaf, 3 + 4 * NR_DIV, INIT_DIV REPEAT(4, DIV));
FNMIX_ASM(insns_50, 49, NOPS(49));
FNMIX_ASM(insns_200, 3 + 10 * 19 + 6, INIT_DIV REPEAT(10, DIV NOPS(19 - NR_DIV)) NOPS(6));
FNMIX_ASM(insns_800, 4 + 99 * 8 + 3, INIT_FP REPEAT(99, FP_DIV NOPS(8 - NR_FP_DIV)) NOPS(3));

/* 60 instructions if @seed is 0, else as many as the number here. */
FNMIX_ASM(bimodal, NR_IF_SEED + 4 + 265 * 5,
	  IF_SEED
	  NOPS(59 - NR_IF_SEED)
	  "ret\n"
	  "5:\n" CALLED_LOOPS(265)
	  INIT_DIV
	  "9:\n" DIV NOPS(3 - NR_DIV)
	  CALLED_NEXT);

FNMIX_ASM(caller, NR_CALLS + 1 + 600 * (24 + 3 + fnmix_leaf_insns),
	  BEFORE_CALLS
	  LOOPS(600)
	  "9:\n" NOPS(24)
	  CALL(leaf)
	  NEXT
	  AFTER_CALLS);

FNMIX_ASM(sizes, NR_CALLS + 1 + 20 * (3 + 2 + fnmix_insns_50_insns + fnmix_insns_200_insns +
				      fnmix_insns_800_insns),
	  BEFORE_CALLS
	  LOOPS(20)
	  "9:\n" CALL(insns_50) CALL(insns_200) CALL(insns_800)
	  NEXT
	  AFTER_CALLS);

FNMIX_ASM(modes, NR_CALLS + 1 + 5 * (5 + 9 * (244 + NR_ENTRY + 60) + fnmix_bimodal_insns),
	  BEFORE_CALLS
	  LOOPS(5)
	  "9:\n" INNER_LOOPS(9)
	  "8:\n" CLEAR_SEED
	  NOPS(240)
	  CALL(bimodal)
	  INNER_NEXT
	  SET_SEED
	  CALL(bimodal)
	  NEXT
	  AFTER_CALLS);

#else /* The same in C. The number of instructions is unknown. */

#define FNMIX(name, loops, setup, body)			\
	void fnmix_##name(u64 seed, u64 *buf, u64 mask); \
	noinline void fnmix_##name(u64 seed __maybe_unused, \
				   u64 *buf __maybe_unused, \
				   u64 mask __maybe_unused) \
	{						\
		setup;					\
		for (int i = 0; i < (loops); i++) {	\
			body;				\
		}					\
	}						\
	enum { fnmix_##name##_insns = 0 }

FNMIX(empty, 0, {}, {});

FNMIX(mispredict, 3000,
	volatile u64 n = 0,
	seed = seed * LCG_MUL + LCG_ADD;
	if (seed & (1ULL << 45))
		n++;
	else
		n ^= seed);

FNMIX(int_div, 1500,
	volatile u64 n = DIVIDEND;
	volatile u64 d = 3,
	n = n / d + DIVIDEND);

FNMIX(fp_div, 2000,
	volatile double n = 1.7;
	volatile double d = 3.1,
	n = d / n);

FNMIX(convert, 2500,
	volatile double n = 1.7;
	volatile long l,
	l = n;
	n = l + 3.1);

FNMIX(barrier, 400,
	,
	__sync_synchronize());

FNMIX(cache_miss, 1000,
	,
	seed = seed * LCG_MUL + LCG_ADD;
	seed += *(volatile u64 *)((void *)buf + ((seed >> 32) & mask)));

FNMIX(nops, 500,
	,
	asm volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"));

FNMIX(leaf, 4,
	volatile u64 n = DIVIDEND;
	volatile u64 d = 3,
	n = n / d + DIVIDEND);

FNMIX(insns_50, 6,
	,
	asm volatile("nop\nnop\nnop\nnop\nnop\nnop\n"));

FNMIX(insns_200, 10,
	volatile u64 n = DIVIDEND;
	volatile u64 d = 3,
	n = n / d + DIVIDEND);

FNMIX(insns_800, 99,
	volatile double n = 1.7;
	volatile double d = 3.1,
	n = d / n);

FNMIX(bimodal, seed ? 265 : 1,
	volatile u64 n = DIVIDEND;
	volatile u64 d = 3,
	n = n / d + DIVIDEND);

FNMIX(caller, 600,
	,
	asm volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n");
	fnmix_leaf(0, NULL, 0));

FNMIX(sizes, 20,
	,
	fnmix_insns_50(0, NULL, 0);
	fnmix_insns_200(0, NULL, 0);
	fnmix_insns_800(0, NULL, 0));

FNMIX(modes, 50,
	,
	fnmix_nops(0, NULL, 0);
	fnmix_bimodal(i % 10 == 9, NULL, 0));

#endif

enum fnmix_set {
	SET_ALL,	/* of "all" and "every" */
	SET_EVERY,
	SET_CALLED,	/* called by others, or alone */
	SET_EMPTY,
};

static const struct {
	const char	*name;
	fnmix_t		fn;
	unsigned int	insns;
	enum fnmix_set	set;
} functions[] = {
#define FUNCTION(name, set) { #name, fnmix_##name, fnmix_##name##_insns, set }
	FUNCTION(mispredict, SET_ALL),
	FUNCTION(int_div, SET_ALL),
	FUNCTION(fp_div, SET_ALL),
	FUNCTION(convert, SET_ALL),
	FUNCTION(barrier, SET_ALL),
	FUNCTION(cache_miss, SET_ALL),
	FUNCTION(nops, SET_ALL),
	FUNCTION(caller, SET_EVERY),	/* calls leaf, all the time */
	FUNCTION(sizes, SET_EVERY),	/* calls the insns_N */
	FUNCTION(modes, SET_EVERY),	/* calls bimodal: 9 short calls, 1 long */
	FUNCTION(leaf, SET_CALLED),
	FUNCTION(insns_50, SET_CALLED),
	FUNCTION(insns_200, SET_CALLED),
	FUNCTION(insns_800, SET_CALLED),
	FUNCTION(bimodal, SET_CALLED),
	FUNCTION(empty, SET_EMPTY),
};

#define NR_FUNCTIONS	((int)ARRAY_SIZE(functions))

struct fnmix_run {
	pthread_t	thread;
	u64		passes;
	u64		seed;
	const fnmix_t	*funcs;
	int		nr_funcs;
	u64		*buf;
	u64		mask;
};

/* Print the instructions of a call, with those of the functions that it calls. */
static void list_functions(bool every)
{
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		enum fnmix_set set = functions[i].set;

		if (!every && (set == SET_EVERY || set == SET_CALLED))
			continue;
		if (functions[i].insns)
			printf("%s %u\n", functions[i].name, functions[i].insns);
		else
			printf("%s unknown\n", functions[i].name);
	}
	fflush(stdout);
}

static u64 fnmix_random(u64 *state)
{
	*state = *state * LCG_MUL + LCG_ADD;
	return *state >> 32;
}

/*
 * The number of instructions here depends neither on the random numbers nor on the
 * functions, so runs with the same number of passes differ by the instructions of the
 * functions alone.
 */
static void run_functions(const struct fnmix_run *run)
{
	fnmix_t order[NR_FUNCTIONS];
	u64 passes = run->passes, state = run->seed, *buf = run->buf, mask = run->mask;
	int nr = run->nr_funcs;

	memcpy(order, run->funcs, sizeof(order));
	while (passes--) {
		for (int i = nr - 1; i > 0; i--) {
			int j = (fnmix_random(&state) * (i + 1)) >> 32;
			fnmix_t fn = order[i];

			order[i] = order[j];
			order[j] = fn;
		}
		for (int i = 0; i < nr; i++)
			order[i](fnmix_random(&state), buf, mask);
	}
}

static void *fnmix_thread(void *run)
{
	run_functions(run);
	return NULL;
}

static int run_threads(const struct fnmix_run *run, int nr_threads)
{
	struct fnmix_run *runs = calloc(nr_threads, sizeof(*runs));
	int nr = 0, err = runs ? 0 : ENOMEM;

	while (nr < nr_threads && !err) {
		runs[nr] = *run;
		runs[nr].seed = run->seed + nr;
		err = pthread_create(&runs[nr].thread, NULL, fnmix_thread, &runs[nr]);
		nr += !err;
	}
	if (err)
		fprintf(stderr, "fnmix: cannot start %d threads: %s\n", nr_threads, strerror(err));
	while (nr--)
		pthread_join(runs[nr].thread, NULL);
	free(runs);
	return err ? 1 : 0;
}

/* A power of two that is four times as large as the largest cache, or more. */
static u64 default_buf_mib(void)
{
	u64 largest = 0, mib = MIN_BUF_MIB;

	for (int i = 0; i < 8; i++) {
		char path[128], unit = 0;
		unsigned long long size;
		FILE *file;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		file = fopen(path, "r");
		if (!file)
			break;
		if (fscanf(file, "%llu%c", &size, &unit) >= 1) {
			size <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
			if (size > largest)
				largest = size;
		}
		fclose(file);
	}
	if (!largest)
		return DEFAULT_BUF_MIB;
	while (mib << 20 < 4 * largest && mib < MAX_BUF_MIB)
		mib *= 2;
	return mib;
}

static bool parse_number(const char *arg, const char *what, u64 min, u64 max, u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(arg, &end, 0);
	if (!errno && end != arg && !*end && *number >= min && *number <= max)
		return true;
	fprintf(stderr, "fnmix: '%s' is not a number of %s\n", arg, what);
	return false;
}

/*
 * fnmix [passes [function|all|every [MiB of the buffer [threads]]]]
 * fnmix list [every]
 *
 * With threads, each of them runs all passes.
 */
static int fnmix(int argc, const char **argv)
{
	struct fnmix_run run = { .passes = DEFAULT_PASSES, .seed = 1 };
	fnmix_t funcs[NR_FUNCTIONS] = {};
	u64 mib = 0, threads = 0, size;
	const char *name = "all";
	int ret = 0;

	if (argc > 0 && !strcmp(argv[0], "list")) {
		list_functions(argc > 1 && !strcmp(argv[1], "every"));
		return 0;
	}

	if (argc > 0 && !parse_number(argv[0], "passes", 0, ~0ULL, &run.passes))
		return 1;
	if (argc > 1)
		name = argv[1];
	if (argc > 2 && !parse_number(argv[2], "MiB", 1, MAX_BUF_MIB, &mib))
		return 1;
	if (argc > 3 && !parse_number(argv[3], "threads", 1, MAX_THREADS, &threads))
		return 1;

	for (int i = 0; i < NR_FUNCTIONS; i++) {
		enum fnmix_set set = functions[i].set;

		if ((!strcmp(name, "all") && set == SET_ALL) ||
		    (!strcmp(name, "every") && set <= SET_EVERY) ||
		    !strcmp(name, functions[i].name))
			funcs[run.nr_funcs++] = functions[i].fn;
	}
	if (!run.nr_funcs) {
		fprintf(stderr, "fnmix: there is no function '%s'\n", name);
		return 1;
	}
	run.funcs = funcs;

	if (!mib)
		mib = default_buf_mib();
	/* The offsets are those of lines, in as many bytes as a power of two. */
	for (size = 1 << 20; size * 2 <= mib << 20; size *= 2)
		;
	run.mask = size - LINE_SIZE;
	run.buf = calloc(1, size);
	if (!run.buf) {
		fprintf(stderr, "fnmix: no memory for %" PRIu64 " MiB\n", mib);
		return 1;
	}
	/* All pages that were never written are the same zero page. */
	for (size_t i = 0; i < size / sizeof(*run.buf); i += 4096 / sizeof(*run.buf))
		WRITE_ONCE(run.buf[i], 0);

	if (threads)
		ret = run_threads(&run, threads);
	else
		run_functions(&run);
	free(run.buf);
	return ret;
}

DEFINE_WORKLOAD(fnmix);
