// SPDX-License-Identifier: GPL-2.0
// minisat VARIABLES: solve random formulas that are about as often satisfiable as not.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include "minisat/core/Solver.h"

using namespace Minisat;

static std::uint64_t seed = 1;

static int below(int limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % limit;
}

static bool solve(int variables, std::uint64_t &conflicts)
{
	Solver solver;

	for (int i = 0; i < variables; i++)
		solver.newVar();
	for (int i = 0; i < variables * 4.26; i++) {
		Lit literals[3];

		for (Lit &literal : literals)
			literal = mkLit(below(variables), below(2));
		solver.addClause(literals[0], literals[1], literals[2]);
	}
	bool satisfiable = solver.solve();

	conflicts += solver.conflicts;
	return satisfiable;
}

int main(int argc, char **argv)
{
	int variables = argc > 1 ? std::atoi(argv[1]) : 100, satisfiable = 0;
	std::uint64_t conflicts = 0;

	for (int i = 0; i < 8; i++)
		satisfiable += solve(variables, conflicts);
	std::printf("%d of 8, %ld conflicts\n", satisfiable, (long)conflicts);
	return 0;
}
