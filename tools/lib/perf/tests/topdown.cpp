// SPDX-License-Identifier: GPL-2.0
// Test that a C++ program compiles and links with the header, and counts.
#include <cstdio>
#include <cstring>
#include <perf/topdown.h>

namespace {

class Topdown {
public:
	Topdown() : err(perf_topdown__new(&topdown)) { }
	~Topdown() { if (!err) perf_topdown__delete(topdown); }
	Topdown(const Topdown &) = delete;
	Topdown &operator=(const Topdown &) = delete;

	perf_topdown_raw read()
	{
		perf_topdown_raw raw = perf_topdown_raw();

		if (!err)
			err = perf_topdown__read(topdown, &raw, 0);
		return raw;
	}

private:
	perf_topdown *topdown = nullptr;

public:
	int err;
};

}

int main()
{
	perf_topdown_raw sum = perf_topdown_raw();
	Topdown topdown;

	perf_topdown_raw begin = topdown.read();
	for (volatile int i = 0; i < 100000; i = i + 1)
		;
	perf_topdown_raw end = topdown.read();
	if (topdown.err) {
		std::printf("%s\n", std::strerror(-topdown.err));
		return 1;
	}
	perf_topdown__add(&sum, &begin, &end);
	if (sum.slots < 100000 || perf_topdown__fraction(&sum, sum.retiring) > 1)
		return 1;
	std::printf("%lld slots\n", static_cast<long long>(sum.slots));
	return 0;
}
