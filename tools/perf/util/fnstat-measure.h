/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_FNSTAT_MEASURE_H
#define __PERF_FNSTAT_MEASURE_H

#include <stdbool.h>

bool fnstat_measure_exact(void);
int fnstat_measure(double *cost, double *hz, bool *branches);

#endif /* __PERF_FNSTAT_MEASURE_H */
