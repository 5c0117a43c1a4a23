// SPDX-License-Identifier: GPL-2.0
// join ROWS: look up the key of each row in a hash table that no cache holds, and add up what is found.
//
// A loop of two functions: nearly all windows that begin in the lookup, which waits for memory, end in
// a lookup as well, and ran through its caller.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct slot {
	uint64_t key, value;
};

struct row {
	uint64_t key;
	uint32_t price, discount, group;
};

static const uint64_t keys = 120000, slots = 1 << 18;
static std::vector<slot> table(slots);

static uint64_t hash(uint64_t key)
{
	key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
	key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
	return key ^ key >> 33;
}

__attribute__((noinline)) static slot *probe(uint64_t hash, uint64_t key)
{
	uint64_t i = hash % slots;

	while (table[i].key && table[i].key != key)
		i = (i + 1) % slots;
	return &table[i];
}

__attribute__((noinline)) static void join(const std::vector<row> &rows, uint64_t *sums)
{
	for (const row &r : rows) {
		const slot *found = probe(hash(r.key), r.key);
		uint64_t net = (uint64_t)r.price * (100 - r.discount) + found->value;
		uint64_t tax = net * 19 >> 7, day = (r.key * 2654435761u >> 20) & 31;

		sums[r.group] += net;
		sums[16 + (r.group ^ (day & 7))] += tax;
		sums[32 + (day & 15)] ^= net + tax;
	}
}

int main(int argc, char **argv)
{
	uint64_t state = 88172645463325252ull, sums[48] = {}, sum = 0;
	int nr = argc > 1 ? atoi(argv[1]) : 100000;
	std::vector<row> rows(20000);

	for (uint64_t key = 1; key <= keys; key++)
		*probe(hash(key), key) = { key, key * 7 };
	for (int done = 0; done < nr; done += rows.size()) {
		for (row &r : rows) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			r = { state % keys + 1, uint32_t(state >> 20 & 4095),
			      uint32_t(state >> 50 & 15), uint32_t(state >> 60) };
		}
		join(rows, sums);
	}
	for (uint64_t x : sums)
		sum += x;
	printf("%llu\n", (unsigned long long)sum);
}
