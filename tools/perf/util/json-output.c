// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing of JSON.
 *
 * Copyright (C) 2021, CodeWeavers Inc. <nfraser@codeweavers.com>
 */

#include "json-output.h"

#include <stdarg.h>
#include <string.h>

// Returns the length of a UTF-8 character, 0 if it is not one.
static size_t utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t len;

	if (u[0] < 0x80)
		return 1;
	else if (u[0] >= 0xc2 && u[0] <= 0xdf)
		len = 2;
	else if (u[0] >= 0xe0 && u[0] <= 0xef)
		len = 3;
	else if (u[0] >= 0xf0 && u[0] <= 0xf4)
		len = 4;
	else
		return 0;

	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	}
	// longer than needed, a surrogate, more than U+10FFFF
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return len;
}

// Outputs a JSON-encoded string surrounded by quotes with characters escaped.
void output_json_string(FILE *out, const char *s)
{
	// required escapes with special forms as per RFC 8259
	static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	size_t len;

	fputc('"', out);
	for (; s && *s; s += len ?: 1) {
		const char *found = strchr(special, *s);

		len = utf8_length(s);
		// all other control characters must be escaped by hex code
		if (found)
			fprintf(out, "\\%c", letters[found - special]);
		else if ((unsigned char)*s <= 0x1f)
			fprintf(out, "\\u%04x", *s);
		else if (len)
			fwrite(s, 1, len, out);
		else
			// names are any bytes, JSON is not
			fputs("\\ufffd", out);
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
