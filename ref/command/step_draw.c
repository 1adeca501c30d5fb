/* SPDX-License-Identifier: MIT */
/*
 * One screen: what PyTorch writes, the index formula, the block of the array
 * around the element as a heatmap, and the element spelled out. What does not
 * fit a small terminal is left out from the least important on.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "step.h"

static const char keys[] = "Enter next  b back  number jumps  arrows move  q quit";

enum colors { NONE, PALETTE, FULL };

static enum colors colors(void)
{
    const char *term = getenv("COLORTERM");

    if (!terminal_colors())
        return NONE;
    return term && (!strcmp(term, "truecolor") || !strcmp(term, "24bit")) ? FULL : PALETTE;
}

/* Blue for below zero, red for above, the stronger the larger; grey for what
 * is not finite. The text on it is black or white, whichever is readable. */
static void paint(enum colors how, double x, double largest)
{
    double share = isfinite(x) && largest > 0 ? fabs(x) / largest : 0;
    int full[3] = { 178, 24, 43 }, r, g, b;

    if (x < 0) {
        full[0] = 33;
        full[1] = 102;
        full[2] = 172;
    }
    r = (int)(245 + (full[0] - 245) * share);
    g = (int)(245 + (full[1] - 245) * share);
    b = (int)(245 + (full[2] - 245) * share);
    if (!isfinite(x))
        r = g = b = 150;
    if (how == FULL)
        printf("\033[38;5;%d;48;2;%d;%d;%dm", share > 0.6 ? 231 : 16, r, g, b);
    else if (how == PALETTE)
        printf("\033[38;5;%d;48;5;%dm", share > 0.6 ? 231 : 16, 16 + 36 * (r * 5 / 255) + 6 * (g * 5 / 255) + b * 5 / 255);
}

static void line_end(void)
{
    fputs("\033[K\r\n", stdout);
}

/* How many lines text takes when it is folded at columns; prints at most rows of them. */
static int fold(const char *text, int columns, int rows, int print)
{
    int used = 0;

    while (*text) {
        int length = (int)strcspn(text, "\n"), part = length;
        if (length > columns) {
            for (part = columns; part > columns / 2 && text[part] != ' ';)
                part--;
            if (text[part] != ' ')
                part = columns;
        }
        if (print && used < rows) {
            printf("%.*s", part, text);
            line_end();
        }
        used++;
        text += part;
        text += *text == '\n' || *text == ' ';
    }
    return used;
}

static int width_of(const struct array *a)
{
    int width = 1;

    for (size_t m = 0; m < a->size; m++) {
        char text[40];
        int n = snprintf(text, sizeof text, "%.4g", a->v[m]);
        width = n > width ? n : width;
    }
    return width;
}

/* Where a window of room out of count must begin so that at is seen. */
static size_t window(size_t at, size_t count, size_t room)
{
    size_t first = at > room / 2 ? at - room / 2 : 0;

    if (room >= count)
        return 0;
    return first + room > count ? count - room : first;
}

static void draw_cell(enum colors how, double x, double largest, int width, int chosen)
{
    paint(how, x, largest);
    printf("%c%*.4g%c", chosen ? '[' : ' ', width, isnan(x) ? (double)NAN : x, how == NONE ? step_shade(x, largest) : chosen ? ']' : ' ');
    if (how == NONE)
        putchar(chosen ? ']' : ' ');
    else
        fputs("\033[0m", stdout);
}

static void draw_block(const struct walk *w, int rows, int columns)
{
    const struct array *a = &w->t[w->stage];
    size_t C = a->shape[a->ndim - 1], T = a->ndim > 1 ? a->shape[a->ndim - 2] : 1;
    size_t c = w->at[a->ndim - 1], t = a->ndim > 1 ? w->at[a->ndim - 2] : 0;
    int width = width_of(a), cell = width + (colors() == NONE ? 3 : 2), label = rows > 1 ? 5 : 0;
    size_t room = (size_t)(columns - label > cell ? (columns - label) / cell : 1), lines = (size_t)(rows > 2 ? rows - 1 : rows);
    size_t left = window(c, C, room), top = window(t, T, lines);
    const real *v = a->v + walk_offset(w) - t * C - c;

    if (!a->size)
        return;
    if (rows > 2) {
        printf("%*s", label, "");
        for (size_t k = left; k < C && k < left + room; k++)
            printf("%*zu%*s", width + 1, k, cell - width - 1, "");
        line_end();
    }
    for (size_t i = top; i < T && i < top + lines; i++) {
        if (label)
            printf("%3zu%c ", i, i == top && top ? '^' : i == top + lines - 1 && i < T - 1 ? 'v' : ' ');
        for (size_t k = left; k < C && k < left + room; k++)
            draw_cell(colors(), v[i * C + k], step_largest(a), width, i == t && k == c);
        line_end();
    }
}

static void draw_title(const struct walk *w, int columns)
{
    const struct array *a = &w->t[w->stage];
    struct step_text x = { .used = 0 };

    step_add(&x, "%zu/%zu %s (", walk_place(w, w->stage), walk_count(w), a->name);
    for (int d = 0; d < a->ndim; d++)
        step_add(&x, d ? ", %zu" : "%zu", a->shape[d]);
    step_add(&x, a->ndim == 1 ? ",)" : ")");
    if (a->ndim > 2) {
        step_add(&x, "  block ");
        step_index(&x, "", a->ndim - 2, w->at);
    }
    step_add(&x, "  %s", w->v->name);
    if (colors() != NONE)
        fputs("\033[1m", stdout);
    printf("%.*s", columns, x.text);
    if (colors() != NONE)
        fputs("\033[0m", stdout);
    line_end();
}

void step_draw(const struct walk *w, const char *typed, int rows, int columns)
{
    struct step_text above = { .used = 0 }, element = { .used = 0 };
    int head, tail, array = (int)(w->t[w->stage].ndim > 1 ? w->t[w->stage].shape[w->t[w->stage].ndim - 2] : 1) + 1;
    int room = rows - 2;    /* without the title and the keys */

    columns = columns > 4 ? columns - 1 : 4;    /* a full line would fold by itself */
    step_add(&above, "PyTorch  ");
    step_torch(&above, w);
    step_add(&above, "\nindex    ");
    step_formula(&above, w);
    step_explain(&element, w);
    head = fold(above.text, columns, 0, 0);
    tail = fold(element.text, columns, 0, 0);
    if (head + tail + 3 > room)
        head = 0;
    if (tail + 3 > room)
        tail = room > 3 ? room - 3 : 0;
    array = head + tail + array > room ? room - head - tail : array;

    fputs("\033[H", stdout);
    draw_title(w, columns);
    fold(above.text, columns, head, 1);
    if (array > 0)
        draw_block(w, array, columns);
    if (head + tail + array + 1 < room)
        line_end();
    fold(element.text, columns, tail, 1);
    fputs("\033[J", stdout);
    printf("\033[%d;1H", rows);
    if (*typed)
        printf("stage %s, then Enter", typed);
    else
        printf("%.*s", columns, keys);
    fputs("\033[K", stdout);
    fflush(stdout);
}
