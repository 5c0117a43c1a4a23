// SPDX-License-Identifier: GPL-2.0
/*
 * Call functions with a known behaviour in a shuffled order, to verify per-function
 * metrics. On arm64 and x86_64 the number of instructions that a call of each
 * function retires is known exactly.
 */
#include <errno.h>
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

#define DEFAULT_ROUNDS	2000
#define BUF_SIZE	(8 << 20)
#define BUF_MASK	0x7fffc0
/* A linear congruential generator. The lower bits are poor and not used. */
#define LCG_MUL		0x5851f42d4c957f2d
#define LCG_ADD		0x14057b7ef767814f
#define DIVIDEND	0x123456789abcdef1
#define DOUBLE_1_7	0x3ffb333333333333
#define DOUBLE_3_1	0x4008cccccccccccd

/* The arguments of a function: a random number and BUF_SIZE bytes, all zero. */
typedef void (*fnmix_t)(u64 seed, u64 *buf);

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
	void fnmix_##name(u64 seed, u64 *buf);			\
	enum { fnmix_##name##_insns = NR_ENTRY + (nr_insns) + 1 }

#define FNMIX(name, loops, nr_setup, setup, nr_body, body)		\
	FNMIX_ASM(name, 1 + (nr_setup) + (loops) * ((nr_body) + 2),	\
		  LOOPS(loops) setup "9:\n" body NEXT)

#define NOPS		"nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"
#endif

#if defined(__aarch64__)

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define ENTRY		"hint #34\n"	/* bti c */
#define NR_ENTRY	1
#else
#define ENTRY		""
#define NR_ENTRY	0
#endif
#define LITERALS	".ltorg\n"
#define LOOPS(n)	"mov w9, #" #n "\n"
#define NEXT		"subs w9, w9, #1\n"	\
			"b.ne 9b\n"
#define LOAD(reg, val)	"ldr " reg ", =" __stringify(val) "\n"

FNMIX_ASM(empty, 0, "");

FNMIX(mispredict, 3000,
	2, LOAD("x12", LCG_MUL)
	 LOAD("x13", LCG_ADD),
	4, "madd x0, x0, x12, x13\n"
	 "tbz x0, #45, 1f\n"
	 "add x10, x10, #1\n"
	 "b 2f\n"
	 "1: sub x10, x10, #1\n"
	 "nop\n"
	 "2:\n");

FNMIX(int_div, 1500,
	3, LOAD("x13", DIVIDEND)
	 "mov x11, #3\n"
	 "mov x10, x13\n",
	2, "udiv x10, x10, x11\n"
	 "add x10, x10, x13\n");

FNMIX(fp_div, 2000,
	4, LOAD("x10", DOUBLE_1_7)
	 LOAD("x11", DOUBLE_3_1)
	 "fmov d0, x10\n"
	 "fmov d1, x11\n",
	1, "fdiv d0, d1, d0\n");

FNMIX(convert, 2500,
	4, LOAD("x10", DOUBLE_1_7)
	 LOAD("x11", DOUBLE_3_1)
	 "fmov d0, x10\n"
	 "fmov d1, x11\n",
	3, "fcvtzs x10, d0\n"
	 "scvtf d0, x10\n"
	 "fadd d0, d0, d1\n");

FNMIX(barrier, 400,
	0, "",
	1, "isb\n");

FNMIX(cache_miss, 1000,
	4, LOAD("x12", LCG_MUL)
	 LOAD("x13", LCG_ADD)
	 LOAD("x14", BUF_MASK)
	 "mov x10, #0\n",
	4, "madd x0, x0, x12, x13\n"
	 "add x0, x0, x10\n"
	 "and x11, x14, x0, lsr #32\n"
	 "ldr x10, [x1, x11]\n");

FNMIX(nops, 500,
	0, "",
	16, NOPS NOPS);

#elif defined(__x86_64__)

#if defined(__CET__) && (__CET__ & 1)
#define ENTRY		"endbr64\n"
#define NR_ENTRY	1
#else
#define ENTRY		""
#define NR_ENTRY	0
#endif
#define LITERALS	""
#define LOOPS(n)	"mov $" #n ", %ecx\n"
#define NEXT		"dec %ecx\n"	\
			"jnz 9b\n"
#define LOAD(reg, val)	"movabs $" __stringify(val) ", %" reg "\n"

FNMIX_ASM(empty, 0, "");

FNMIX(mispredict, 3000,
	2, LOAD("r8", LCG_MUL)
	 LOAD("r9", LCG_ADD),
	6, "imul %r8, %rdi\n"
	 "add %r9, %rdi\n"
	 "bt $45, %rdi\n"
	 "jnc 1f\n"
	 "add $1, %rax\n"
	 "jmp 2f\n"
	 "1: sub $1, %rax\n"
	 "nop\n"
	 "2:\n");

FNMIX(int_div, 1500,
	3, LOAD("r8", DIVIDEND)
	 "mov $3, %r9d\n"
	 "mov %r8, %rax\n",
	3, "xor %edx, %edx\n"
	 "div %r9\n"
	 "add %r8, %rax\n");

FNMIX(fp_div, 2000,
	4, LOAD("rax", DOUBLE_1_7)
	 LOAD("rdx", DOUBLE_3_1)
	 "movq %rax, %xmm0\n"
	 "movq %rdx, %xmm1\n",
	3, "movapd %xmm1, %xmm2\n"
	 "divsd %xmm0, %xmm2\n"
	 "movapd %xmm2, %xmm0\n");

FNMIX(convert, 2500,
	4, LOAD("rax", DOUBLE_1_7)
	 LOAD("rdx", DOUBLE_3_1)
	 "movq %rax, %xmm0\n"
	 "movq %rdx, %xmm1\n",
	3, "cvttsd2si %xmm0, %rax\n"
	 "cvtsi2sd %rax, %xmm0\n"
	 "addsd %xmm1, %xmm0\n");

FNMIX(barrier, 400,
	0, "",
	2, "mfence\n"
	 "lfence\n");

FNMIX(cache_miss, 1000,
	4, LOAD("r8", LCG_MUL)
	 LOAD("r9", LCG_ADD)
	 LOAD("r10", BUF_MASK)
	 "xor %eax, %eax\n",
	7, "imul %r8, %rdi\n"
	 "add %r9, %rdi\n"
	 "add %rax, %rdi\n"
	 "mov %rdi, %rdx\n"
	 "shr $32, %rdx\n"
	 "and %r10, %rdx\n"
	 "mov (%rsi, %rdx), %rax\n");

FNMIX(nops, 500,
	0, "",
	16, NOPS NOPS);

#else /* The same in C. The number of instructions is unknown. */

#define FNMIX(name, loops, setup, body)			\
	void fnmix_##name(u64 seed, u64 *buf);		\
	noinline void fnmix_##name(u64 seed __maybe_unused, \
				   u64 *buf __maybe_unused) \
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
	seed += *(volatile u64 *)((void *)buf + ((seed >> 32) & BUF_MASK)));

FNMIX(nops, 500,
	,
	asm volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"));

#endif

static const struct {
	const char	*name;
	fnmix_t		fn;
	unsigned int	insns;
} functions[] = {
#define FUNCTION(name) { #name, fnmix_##name, fnmix_##name##_insns }
	FUNCTION(mispredict),
	FUNCTION(int_div),
	FUNCTION(fp_div),
	FUNCTION(convert),
	FUNCTION(barrier),
	FUNCTION(cache_miss),
	FUNCTION(nops),
	FUNCTION(empty),	/* not one of "all" */
};

#define NR_FUNCTIONS	((int)ARRAY_SIZE(functions))

static void list_functions(void)
{
	for (int i = 0; i < NR_FUNCTIONS; i++) {
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
 * functions, so that runs with the same number of rounds differ by the instructions
 * of the functions alone.
 */
static void run_functions(u64 rounds, const fnmix_t *funcs, int nr, u64 *buf)
{
	fnmix_t order[NR_FUNCTIONS];
	u64 state = 1;

	memcpy(order, funcs, sizeof(order));
	while (rounds--) {
		for (int i = nr - 1; i > 0; i--) {
			int j = (fnmix_random(&state) * (i + 1)) >> 32;
			fnmix_t fn = order[i];

			order[i] = order[j];
			order[j] = fn;
		}
		for (int i = 0; i < nr; i++)
			order[i](fnmix_random(&state), buf);
	}
}

/* fnmix [rounds [function|all]], or fnmix list */
static int fnmix(int argc, const char **argv)
{
	fnmix_t funcs[NR_FUNCTIONS] = {};
	const char *name = "all";
	u64 rounds = DEFAULT_ROUNDS;
	u64 *buf;
	int nr = 0;

	if (argc == 1 && !strcmp(argv[0], "list")) {
		list_functions();
		return 0;
	}

	if (argc > 0) {
		char *end;

		errno = 0;
		rounds = strtoull(argv[0], &end, 0);
		if (errno || end == argv[0] || *end) {
			fprintf(stderr, "fnmix: '%s' is not a number of rounds\n", argv[0]);
			return 1;
		}
	}
	if (argc > 1)
		name = argv[1];

	for (int i = 0; i < NR_FUNCTIONS; i++) {
		bool all = !strcmp(name, "all") && functions[i].fn != fnmix_empty;

		if (all || !strcmp(name, functions[i].name))
			funcs[nr++] = functions[i].fn;
	}
	if (!nr) {
		fprintf(stderr, "fnmix: there is no function '%s'\n", name);
		return 1;
	}

	buf = calloc(1, BUF_SIZE);
	if (!buf)
		return 1;
	/* All pages that were never written are the same zero page. */
	for (size_t i = 0; i < BUF_SIZE / sizeof(*buf); i += 4096 / sizeof(*buf))
		WRITE_ONCE(buf[i], 0);

	run_functions(rounds, funcs, nr, buf);
	free(buf);
	return 0;
}

DEFINE_WORKLOAD(fnmix);
