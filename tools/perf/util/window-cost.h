/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_WINDOW_COST_H
#define __PERF_WINDOW_COST_H

#include <stdbool.h>

bool window_cost__is_exact(void);
int window_cost__measure(double *cost, double *hz, bool *branches);

#endif /* __PERF_WINDOW_COST_H */
