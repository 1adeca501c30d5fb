/* SPDX-License-Identifier: MIT */
/*
 * mutate.c - a program of the build: mha.c and faults.txt -> mutated copies.
 *
 *     mutate MHA_C FAULTS_TXT DIR FILES
 *
 * writes DIR/copies_0.c and so on, FILES of them, each with some of the copies
 * (one process of the compiler for each copy would take longer than the copies
 * themselves), and DIR/table.c. A piece of a record that is not in mha.c, or is
 * there twice, ends the build with the name of the record.
 *
 * Each file has mha.c itself once. A copy has only the functions that the record
 * changes and those that call them; they are static and get the name of the
 * record behind their own. fault_NAME() is its entry, and with REAL=float
 * fault_NAME_float().
 *
 * Letters: f fault, p piece, k line or function.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 32, FUNCTIONS = 64, NAME = 64 };

/* From what to what, and where in mha.c. */
struct piece {
    char *from, *to;
    size_t at;
};

struct record {
    char name[NAME];
    char *why, *seen, *diff;
    size_t line;
    size_t pieces;
    struct piece piece[PIECES];
};

static const char *faults_path = "faults.txt";

static void fail(const struct record *f, size_t line, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s:%zu: error: ", faults_path, line);
    if (f && f->name[0])
        fprintf(stderr, "%s: ", f->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void *must(void *p)
{
    if (!p) {
        fputs("mutate: not enough memory\n", stderr);
        exit(1);
    }
    return p;
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    size_t size = 0, room = 1 << 16;
    char *text = must(malloc(room));

    if (!in) {
        fprintf(stderr, "mutate: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    for (size_t got; (got = fread(text + size, 1, room - size - 1, in)) > 0;) {
        size += got;
        if (room - size < 2)
            text = must(realloc(text, room *= 2));
    }
    fclose(in);
    text[size] = 0;
    return text;
}

/* text = text + between + more; text may be NULL. */
static char *append(char *text, const char *between, const char *more)
{
    size_t size = text ? strlen(text) : 0, gap = text ? strlen(between) : 0;

    text = must(realloc(text, size + gap + strlen(more) + 1));
    memcpy(text + size, between, gap);
    strcpy(text + size + gap, more);
    return text;
}

/* ---- faults.txt ---- */

/* "- text" or "+ text", or the sign alone for an empty line. */
static void add_line(struct record *f, char sign, const char *text, char before)
{
    if (sign == '-' && before != '-') {
        if (f->pieces == PIECES)
            fail(f, f->line, "more than %d pieces", PIECES);
        f->piece[f->pieces++] = (struct piece){ 0 };
    }
    if (!f->pieces)
        fail(f, f->line, "begins with a + line");
    struct piece *p = &f->piece[f->pieces - 1];
    char **side = sign == '-' ? &p->from : &p->to;
    *side = append(*side, "\n", text);

    char head[3] = { sign, ' ', 0 };
    f->diff = append(append(append(f->diff, "", head), "", text), "", "\n");
}

static int is_name(const char *s)
{
    size_t size = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return size > 0 && size < NAME && !s[size];
}

/* "owner/repo#12 owner/repo#34" */
static int are_reports(const char *s)
{
    for (;;) {
        const char *names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
        size_t owner = strspn(s, names), repo;
        if (!owner || s[owner] != '/' || !(repo = strspn(s + owner + 1, names)) || s[owner + 1 + repo] != '#')
            return 0;
        s += owner + repo + 2;
        size_t digits = strspn(s, "0123456789");
        if (!digits)
            return 0;
        s += digits;
        if (!*s)
            return 1;
        if (*s++ != ' ')
            return 0;
    }
}

static void check_record(const struct record *f)
{
    if (!f->why)
        fail(f, f->line, "has no why:");
    if (!f->pieces)
        fail(f, f->line, "changes nothing");
    for (size_t p = 0; p < f->pieces; p++)
        if (!f->piece[p].to)
            fail(f, f->line, "no + line after \"%s\"", f->piece[p].from);
}

static struct record *read_records(char *text, size_t *count)
{
    struct record *records = NULL, *f = NULL;
    size_t line = 0;
    char before = 0;

    *count = 0;
    for (char *s = text; *s;) {
        char *end = s + strcspn(s, "\n"), *next = *end ? end + 1 : end;
        *end = 0;
        line++;
        if (!strncmp(s, "name: ", 6)) {
            if (f)
                check_record(f);
            records = must(realloc(records, (*count + 1) * sizeof *records));
            f = &records[(*count)++];
            *f = (struct record){ .line = line };
            if (!is_name(s + 6))
                fail(f, line, "a name is made of a-z, 0-9 and _: \"%s\"", s + 6);
            strcpy(f->name, s + 6);
            for (size_t k = 0; k + 1 < *count; k++)
                if (!strcmp(records[k].name, f->name))
                    fail(f, line, "the name is there twice");
        } else if (*s == '#' || !*s) {
            ;
        } else if (!f) {
            fail(NULL, line, "not a record: \"%s\"", s);
        } else if ((*s == '-' || *s == '+') && (s[1] == ' ' || !s[1])) {
            add_line(f, *s, s[1] ? s + 2 : "", before);
        } else if (!strncmp(s, "why: ", 5)) {
            f->why = append(f->why, " ", s + 5);
        } else if (!strncmp(s, "seen: ", 6)) {
            if (!are_reports(s + 6))
                fail(f, line, "seen: wants owner/repo#number with one blank between them: \"%s\"", s + 6);
            f->seen = append(f->seen, " ", s + 6);
        } else {
            fail(f, line, "no line of a record: \"%s\"", s);
        }
        before = *s;
        s = next;
    }
    if (f)
        check_record(f);
    return records;
}

/* ---- mha.c ---- */

/* Where each piece is; in the order of mha.c, and none on top of another. */
static void find_pieces(struct record *f, const char *mha)
{
    for (size_t p = 0; p < f->pieces; p++) {
        const char *at = strstr(mha, f->piece[p].from);
        if (!at)
            fail(f, f->line, "this is not in mha.c:\n%s", f->piece[p].from);
        if (strstr(at + 1, f->piece[p].from))
            fail(f, f->line, "this is in mha.c more than once:\n%s", f->piece[p].from);
        f->piece[p].at = (size_t)(at - mha);
    }
    for (size_t p = 1; p < f->pieces; p++)
        for (size_t q = p; q > 0 && f->piece[q].at < f->piece[q - 1].at; q--) {
            struct piece swapped = f->piece[q];
            f->piece[q] = f->piece[q - 1];
            f->piece[q - 1] = swapped;
        }
    for (size_t p = 1; p < f->pieces; p++)
        if (f->piece[p - 1].at + strlen(f->piece[p - 1].from) > f->piece[p].at)
            fail(f, f->line, "two pieces overlap:\n%s", f->piece[p].from);
}

static char *mutated(const struct record *f, const char *mha)
{
    char *text = NULL;
    size_t at = 0;

    for (size_t p = 0; p < f->pieces; p++) {
        size_t size = f->piece[p].at - at, had = text ? strlen(text) : 0;
        text = must(realloc(text, had + size + 1));
        memcpy(text + had, mha + at, size);
        text[had + size] = 0;
        text = append(text, "", f->piece[p].to);
        at = f->piece[p].at + strlen(f->piece[p].from);
    }
    return append(text, "", mha + at);
}

/* A function of mha.c, or of a mutated copy of it. */
struct function {
    char name[NAME];
    const char *at;
    size_t size, line;
};

/* The "}" that closes the first "{" of s; NULL where there is none. */
static const char *closing(const char *s)
{
    size_t depth = 0;

    for (; *s; s++)
        if (*s == '{')
            depth++;
        else if (*s == '}' && --depth == 0)
            return s;
    return NULL;
}

/* A function begins with a line like "static void rows(...)". */
static size_t find_functions(struct function *found, const char *text)
{
    size_t count = 0, line = 1;

    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n', line++) {
        size_t open = strcspn(s, "(\n"), start = open;
        if ((strncmp(s, "static ", 7) && strncmp(s, "void ", 5)) || s[open] != '(')
            continue;
        while (start > 0 && (isalnum((unsigned char)s[start - 1]) || s[start - 1] == '_'))
            start--;
        const char *end = closing(s + open);
        if (count == FUNCTIONS || open - start >= NAME || !end) {
            fprintf(stderr, "mutate: too many functions in mha.c, too long a name, or no end\n");
            exit(1);
        }
        struct function *k = &found[count++];
        *k = (struct function){ .at = s, .size = (size_t)(end - s) + 1, .line = line };
        memcpy(k->name, s + start, open - start);
    }
    return count;
}

static int calls(const struct function *caller, const char *name)
{
    size_t size = strlen(name);

    for (const char *s = caller->at; (s = strstr(s, name)) && s < caller->at + caller->size; s++)
        if (s[size] == '(' && !isalnum((unsigned char)s[-1]) && s[-1] != '_')
            return 1;
    return 0;
}

static int is_public(const struct function *k)
{
    return !strncmp(k->at, "void ", 5);
}

/* As in the text, but static. */
static void write_function(FILE *out, const struct function *k)
{
    fprintf(out, "%s%.*s\n\n", is_public(k) ? "static " : "", (int)k->size, k->at);
}

/* mha.c itself: what a copy leaves as it is, it calls here. */
static void write_original(FILE *out, const struct function *original, size_t originals, const char *mha)
{
    for (size_t k = 0; k < originals; k++)
        if (is_public(&original[k]))
            fprintf(out, "#define %s %s_original\n", original[k].name, original[k].name);
    fprintf(out, "#line 1 \"mha.c\"\n%.*s", (int)(original[0].at - mha), mha);
    for (size_t k = 0; k < originals; k++)
        write_function(out, &original[k]);
}

/* Fail unless every piece of the record lies in a function of mha.c. */
static void check_pieces(const struct record *f, const struct function *original, size_t originals, const char *mha)
{
    for (size_t p = 0; p < f->pieces; p++) {
        const char *at = mha + f->piece[p].at;
        size_t k = 0;
        while (k < originals && !(at >= original[k].at && at < original[k].at + original[k].size))
            k++;
        if (k == originals)
            fail(f, f->line, "this is in no function of mha.c:\n%s", f->piece[p].from);
    }
}

/* Keep those of the count functions of a copy that differ from mha.c or call one
 * that does, up to mha_forward(). Returns how many. */
static size_t select_changed(struct function *function, size_t count, const struct record *f,
                             const struct function *original, size_t originals)
{
    size_t changed = 0;

    for (size_t k = 0; k < count; k++) {
        int same = 0;
        for (size_t o = 0; o < originals && !same; o++)
            same = function[k].size == original[o].size && !memcmp(function[k].at, original[o].at, original[o].size);
        for (size_t c = 0; c < changed && same; c++)
            same = !calls(&function[k], function[c].name);
        if (!same)
            function[changed++] = function[k];
    }
    if (!changed || strcmp(function[changed - 1].name, "mha_forward"))
        fail(f, f->line, "changes nothing that mha_forward() calls");
    return changed;
}

/* Write the functions that a record changes, each renamed to function_RECORD,
 * and the copy's entry. */
static void write_copy(FILE *out, const struct record *f, const struct function *original, size_t originals, const char *mha)
{
    struct function function[FUNCTIONS];
    char *text = mutated(f, mha);
    size_t count = find_functions(function, text), changed;

    check_pieces(f, original, originals, mha);
    changed = select_changed(function, count, f, original, originals);
    fprintf(out, "\n/* ==== %s ==== */\n\n", f->name);
    for (size_t k = 0; k < changed; k++)
        fprintf(out, "#undef %s\n#define %s %s_%s\n", function[k].name, function[k].name, function[k].name, f->name);
    for (size_t k = 0; k < changed; k++) {
        fprintf(out, "#line %zu \"mha.c with %s\"\n", function[k].line, f->name);
        write_function(out, &function[k]);
    }
    for (size_t k = 0; k < changed; k++) {
        fprintf(out, "#undef %s\n", function[k].name);
        if (is_public(&function[k]))
            fprintf(out, "#define %s %s_original\n", function[k].name, function[k].name);
    }
    fprintf(out,
            "#ifdef FAULTS_FLOAT\n"
            "void fault_%s_float(void *t, const void *in);\n"
            "void fault_%s_float(void *t, const void *in) { mha_forward_%s(t, in); }\n"
            "#else\n"
            "void fault_%s(struct array t[STAGES], const struct mha_in *in);\n"
            "void fault_%s(struct array t[STAGES], const struct mha_in *in) { mha_forward_%s(t, in); }\n"
            "#endif\n",
            f->name, f->name, f->name, f->name, f->name, f->name);
    free(text);
}

/* ---- what is written ---- */

static FILE *create(const char *dir, const char *name)
{
    char path[4096];
    FILE *out = NULL;

    if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path)
        out = fopen(path, "wb");
    if (!out) {
        fprintf(stderr, "mutate: %s/%s: %s\n", dir, name, strerror(errno));
        exit(1);
    }
    fprintf(out, "/* Made by mutate out of mha.c and faults.txt. */\n");
    return out;
}

static void close_file(FILE *out)
{
    int bad = ferror(out);

    if (fclose(out) || bad) {
        fprintf(stderr, "mutate: %s\n", strerror(errno));
        exit(1);
    }
}

static void write_copies(const char *dir, const struct record *records, size_t count, const char *mha, size_t files)
{
    struct function original[FUNCTIONS];
    size_t originals = find_functions(original, mha);

    for (size_t k = 0; k < files; k++) {
        char name[64];
        snprintf(name, sizeof name, "copies_%zu.c", k);
        FILE *out = create(dir, name);
        fputs("#include \"mha.h\"\n", out);
        write_original(out, original, originals, mha);
        for (size_t f = k; f < count; f += files)
            write_copy(out, &records[f], original, originals, mha);
        close_file(out);
    }
}

static void write_string(FILE *out, const char *text)
{
    fputs("      \"", out);
    for (const char *s = text ? text : ""; *s; s++) {
        if (*s == '\n')
            fputs(s[1] ? "\\n\"\n      \"" : "\\n", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else
            fputc(*s, out);
    }
    fputs("\",\n", out);
}

static void write_table(const char *dir, const struct record *records, size_t count)
{
    FILE *out = create(dir, "table.c");

    fputs("#include \"faults.h\"\n\n", out);
    for (size_t f = 0; f < count; f++)
        fprintf(out, "void fault_%s(struct array t[STAGES], const struct mha_in *in);\n"
                     "void fault_%s_float(void *t, const void *in);\n", records[f].name, records[f].name);
    fputs("\nconst struct fault faults[] = {\n", out);
    for (size_t f = 0; f < count; f++) {
        fprintf(out, "    { \"%s\",\n", records[f].name);
        write_string(out, records[f].why);
        write_string(out, records[f].seen);
        write_string(out, records[f].diff);
        fprintf(out, "      fault_%s, fault_%s_float },\n", records[f].name, records[f].name);
    }
    fputs("};\nconst size_t fault_count = sizeof faults / sizeof *faults;\n", out);
    close_file(out);
}

int main(int argc, char **argv)
{
    size_t count, files = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;

    if (!files) {
        fputs("usage: mutate MHA_C FAULTS_TXT DIR FILES\n", stderr);
        return 2;
    }
    faults_path = argv[2];
    char *mha = read_file(argv[1]), *text = read_file(argv[2]);
    struct record *records = read_records(text, &count);
    if (!count) {
        fprintf(stderr, "mutate: %s: no records\n", faults_path);
        return 1;
    }
    for (size_t f = 0; f < count; f++)
        find_pieces(&records[f], mha);
    write_copies(argv[3], records, count, mha, files);
    write_table(argv[3], records, count);

    for (size_t f = 0; f < count; f++) {
        free(records[f].why);
        free(records[f].seen);
        free(records[f].diff);
        for (size_t p = 0; p < records[f].pieces; p++) {
            free(records[f].piece[p].from);
            free(records[f].piece[p].to);
        }
    }
    free(records);
    free(text);
    free(mha);
    return 0;
}
