/* SPDX-License-Identifier: MIT */
/* docs/faults.md */
#include <math.h>
#include <string.h>

#include "matrix.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)
#define NAMED 6    /* killers that are named, the clearest first */

/* "1.2e+04 sigma", or infinity where NaN meets a number. */
static void in_sigma(FILE *f, double x)
{
    if (isinf(x))
        fputs("class differs", f);
    else
        fprintf(f, x < 1000 ? "%.0f" : "%.1e", x);
}

/* "owner/repo#number" is a link to GitHub. */
static void reports(FILE *f, const char *seen_in)
{
    char words[1024];
    int some = 0;

    snprintf(words, sizeof words, "%s", seen_in);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        const char *number = strchr(word, '#');
        fputs(some++ ? ", " : "\nSeen in ", f);
        if (number)
            fprintf(f, "[%s](https://github.com/%.*s/issues/%s)", word, (int)(number - word), word, number + 1);
        else
            fputs(word, f);
    }
    if (some)
        fputs(".\n", f);
}

/* The vectors that reject a fault, by how clearly. */
static void killers(FILE *f, const struct matrix *m, size_t fault)
{
    size_t count, done[NAMED], named = 0;
    double clearest = matrix_clearest(m, fault, &count);

    fprintf(f, "\n%s: rejected by %zu of %zu vectors, at up to ", m->profile->name, count, m->vectors);
    in_sigma(f, clearest);
    fputs(isinf(clearest) ? "" : " sigma", f);
    if (m->profile != &profiles[PROFILE_FLOAT32]) {
        fputs(".\n", f);
        return;
    }
    for (; named < NAMED && named < count; named++) {
        size_t best = 0;
        double error = -1;
        FOR(v, m->vectors) {
            const struct cell *c = matrix_cell(m, v, fault);
            int told = 0;
            FOR(k, named) told |= done[k] == v;
            if (c->killed && !told && c->error > error) {
                error = c->error;
                best = v;
            }
        }
        done[named] = best;
        fprintf(f, "%s`%s`", named ? ", " : ": ", m->choice.chosen[best].name);
    }
    fputs(count > named ? ", ...\n" : ".\n", f);
}

static void one_fault(FILE *f, const struct matrix m[PAGE_PROFILES], size_t fault)
{
    const struct fault *x = &faults[fault];
    int alike = 0;

    fprintf(f, "\n### %s\n\n", x->name);
    for (const char *c = x->why; *c; c++) {      /* a star means itself */
        if (*c == '*' || *c == '_')
            putc('\\', f);
        putc(*c, f);
    }
    fprintf(f, "%s\n\n```diff\n%s%s```\n", strchr(".!?", x->why[strlen(x->why) - 1]) ? "" : ".",
            x->diff, x->diff[strlen(x->diff) - 1] == '\n' ? "" : "\n");
    FOR(k, PAGE_PROFILES) {
        const char *reason = matrix_permits(m[k].profile, x->name);
        if (reason)
            fprintf(f, "\n%s permits it: %s.\n", m[k].profile->name, reason);
        else
            killers(f, &m[k], fault);
    }
    FOR(g, fault_count)
        if (g != fault && m[0].group[g] == m[0].group[fault])
            fprintf(f, "%s`%s`", alike++ ? ", " : "\nNo vector tells it from ", faults[g].name);
    if (alike)
        fputs(".\n", f);
    reports(f, x->seen);
}

/* A fault that only one vector rejects is why that vector must stay. */
static void one_vector(FILE *f, const struct matrix *m, size_t v)
{
    size_t kills = 0, alone = 0, count;

    FOR(x, fault_count) kills += (size_t)matrix_cell(m, v, x)->killed;
    fprintf(f, "| `%s` | %zu |", m->choice.chosen[v].name, kills);
    FOR(x, fault_count) {
        matrix_clearest(m, x, &count);
        if (count == 1 && matrix_cell(m, v, x)->killed)
            fprintf(f, "%s %s", alone++ ? "," : "", faults[x].name);
    }
    fputs(" |\n", f);
}

void page_write(FILE *f, const struct matrix m[PAGE_PROFILES])
{
    size_t groups = 0;

    FOR(x, fault_count) groups += m[0].group[x] == x;
    fprintf(f, "<!-- Made by the target docs from ref/faults/faults.txt and the vectors. Do not edit. -->\n\n"
               "# The mistakes\n\n"
               "Every mistake below is a small change of [mha.c](../ref/recipe/mha.c), written in\n"
               "[faults.txt](../ref/faults/faults.txt). The build plants each one, and every vector that holds all stages is judged\n"
               "against every mistake by what a kernel returns: `output`, `attn_weights` and `attn_weights_mean`.\n"
               "An error in sigma is that of the worst element; more than %g is rejected\n"
               "([why](tolerance.md)).\n\n"
               "%zu mistakes in %zu groups that the vectors tell apart; %zu vectors of corpus %s.\n\n"
               "| profile | mistakes rejected | permitted | the weakest, and its largest error in sigma |\n|---|---|---|---|\n",
            8.0, fault_count, groups, m[0].vectors, m[0].corpus.version);
    FOR(k, PAGE_PROFILES) {
        size_t count, rejected = 0, permits = 0, weak = 0;
        double weakest = INFINITY;
        FOR(x, fault_count) {
            double clearest = matrix_clearest(&m[k], x, &count);
            rejected += count > 0;
            permits += matrix_permits(m[k].profile, faults[x].name) != NULL;
            if (count && clearest < weakest) {
                weakest = clearest;
                weak = x;
            }
        }
        fprintf(f, "| %s | %zu | %zu | `%s`, ", m[k].profile->name, rejected, permits, faults[weak].name);
        in_sigma(f, weakest);
        fputs(" |\n", f);
    }
    fputs("\n## By mistake\n", f);
    FOR(x, fault_count) one_fault(f, m, x);
    fputs("\n## By vector\n\nUnder float32. The last column names the mistakes that no other vector rejects.\n\n"
          "| vector | mistakes rejected | it alone rejects |\n|---|---|---|\n", f);
    FOR(v, m[0].vectors) one_vector(f, &m[0], v);
}
