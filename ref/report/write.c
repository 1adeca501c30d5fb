/* SPDX-License-Identifier: MIT */
/* A report in the format that was asked for. */
#include "parts.h"

const char *const report_formats[REPORT_FORMATS] = { "text", "tap", "junit", "json" };

static void write_by(report_writer *writer, FILE *f, const struct report *report)
{
    struct mha_in smallest = { .N = 1, .L = 1, .S = 1, .E = 1, .Ek = 1, .Ev = 1, .H = 1 };
    struct array t[STAGES];
    const char *stage[STAGES];

    mha_shapes(t, &smallest);    /* the recipe is the only place that names its stages */
    for (int k = 0; k < STAGES; k++)
        stage[k] = t[k].name;
    writer(f, report, stage);
}

void report_write(FILE *f, const struct report *report, enum report_format format)
{
    static report_writer *const writers[REPORT_FORMATS] = { report_text, report_tap, report_junit, report_json };

    write_by(writers[format], f, report);
}

void report_failure(FILE *f, const struct report *report)
{
    write_by(report_text_failures, f, report);
}
