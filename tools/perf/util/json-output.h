/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __PERF_JSON_OUTPUT_H
#define __PERF_JSON_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/compiler.h>

void output_json_string(FILE *out, const char *s);
void output_json_delimiters(FILE *out, bool comma, int depth);
void output_json_format(FILE *out, bool comma, int depth, const char *format, ...)
	__printf(4, 5);
void output_json_key_string(FILE *out, bool comma, int depth, const char *key,
			    const char *value);
void output_json_key_format(FILE *out, bool comma, int depth, const char *key,
			    const char *format, ...) __printf(5, 6);

#endif /* __PERF_JSON_OUTPUT_H */
