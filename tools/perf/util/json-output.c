// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing of JSON.
 *
 * Copyright (C) 2021, CodeWeavers Inc. <nfraser@codeweavers.com>
 */

#include "json-output.h"

#include <stdarg.h>
#include <string.h>

// Outputs a JSON-encoded string surrounded by quotes with characters escaped.
void output_json_string(FILE *out, const char *s)
{
	// required escapes with special forms as per RFC 8259
	static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

	fputc('"', out);
	for (; s && *s; s++) {
		const char *found = strchr(special, *s);

		// all other control characters must be escaped by hex code
		if (found)
			fprintf(out, "\\%c", letters[found - special]);
		else if ((unsigned char)*s <= 0x1f)
			fprintf(out, "\\u%04x", *s);
		else
			fputc(*s, out);
	}
	fputc('"', out);
}

// Outputs an optional comma, newline and indentation to delimit a new value
// from the previous one in a JSON object or array.
void output_json_delimiters(FILE *out, bool comma, int depth)
{
	int i;

	if (comma)
		fputc(',', out);
	fputc('\n', out);
	for (i = 0; i < depth; ++i)
		fputc('\t', out);
}

// Outputs a printf format string (with delimiter) as a JSON value.
void output_json_format(FILE *out, bool comma, int depth, const char *format, ...)
{
	va_list args;

	output_json_delimiters(out, comma, depth);
	va_start(args, format);
	vfprintf(out,  format, args);
	va_end(args);
}

// Outputs a JSON key-value pair where the value is a string.
void output_json_key_string(FILE *out, bool comma, int depth, const char *key,
			    const char *value)
{
	output_json_delimiters(out, comma, depth);
	output_json_string(out, key);
	fputs(": ", out);
	output_json_string(out, value);
}

// Outputs a JSON key-value pair where the value is a printf format string.
void output_json_key_format(FILE *out, bool comma, int depth, const char *key,
			    const char *format, ...)
{
	va_list args;

	output_json_delimiters(out, comma, depth);
	output_json_string(out, key);
	fputs(": ", out);
	va_start(args, format);
	vfprintf(out,  format, args);
	va_end(args);
}
