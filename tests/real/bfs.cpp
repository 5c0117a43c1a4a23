// SPDX-License-Identifier: GPL-2.0
// bfs VERTICES: visit the vertices of a graph in breadth-first order, and tell a function of each.
//
// A loop that waits for memory and has most of the time, with calls that do not wait: many windows
// that begin in it end in it as well, and ran through the other one.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const unsigned degree = 8;
static uint64_t sum;

__attribute__((noinline)) static void visit(uint32_t vertex, uint32_t distance)
{
	sum += (uint64_t)vertex * distance;
	for (int i = 0; i < 12; i++)
		sum = (sum ^ sum >> 9) * 9;
}

__attribute__((noinline)) static void search(const std::vector<uint32_t> &edges,
					     std::vector<uint32_t> &distances,
					     std::vector<uint32_t> &queue,
					     void (*found)(uint32_t, uint32_t))
{
	uint32_t head = 0, tail = 0;

	distances[0] = 1;
	queue[tail++] = 0;
	while (head < tail) {
		uint32_t vertex = queue[head++];

		for (unsigned i = 0; i < degree; i++) {
			uint32_t next = edges[vertex * degree + i];

			if (distances[next])
				continue;
			distances[next] = distances[vertex] + 1;
			queue[tail++] = next;
			found(next, distances[next]);
		}
	}
}

int main(int argc, char **argv)
{
	uint32_t nr = argc > 1 ? atoi(argv[1]) : 100000;
	std::vector<uint32_t> edges(nr * degree), distances(nr), queue(nr);
	uint64_t state = 88172645463325252ull;

	for (uint32_t &edge : edges) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		edge = state % nr;
	}
	search(edges, distances, queue, visit);
	printf("%llu\n", (unsigned long long)sum);
}
