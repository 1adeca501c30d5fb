/* SPDX-License-Identifier: MIT */
/*
 * docs/step.html: a template with the numbers of the vectors in it.
 *
 *   step_html PAGE TEMPLATE SOURCE           writes the page
 *   step_html --check PAGE TEMPLATE SOURCE   fails where it is stale
 *
 * Letters: k stage, m element.
 */
#include "step_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/step.h"

#define FOR(i, count) for (size_t i = 0; i < (count); i++)

static const char here[] = "/*DATA*/";    /* in the template: a line that begins so */

static void put_text(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", f);
        else if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else if (*text == '<')
            fputs("\\u003c", f);
        else
            putc(*text, f);
    putc('"', f);
}

/* The shortest of the decimals that read back as x; six digits where x is no golden number. */
static void put_number(FILE *f, double x, int golden)
{
    char text[40];

    if (isnan(x) || isinf(x)) {
        fputs(isnan(x) ? "\"nan\"" : x < 0 ? "\"-inf\"" : "\"inf\"", f);
        return;
    }
    for (int digits = golden ? 15 : 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x == 0 ? 0 : x);
        if (!golden || strtod(text, NULL) == x)
            break;
    }
    fputs(text, f);
}

static void put_numbers(FILE *f, const real *v, size_t count, int golden)
{
    putc('[', f);
    FOR(m, count) {
        fputs(m ? "," : "", f);
        put_number(f, v[m], golden);
    }
    putc(']', f);
}

/* ---- what is given ---- */

static void put_given(FILE *f, const char *name, const char *shape, const real *v, size_t count)
{
    if (!v)
        return;
    fprintf(f, ",\"%s\":{\"shape\":%s,\"v\":", name, shape);
    put_numbers(f, v, count, 1);
    putc('}', f);
}

static void put_givens(FILE *f, const struct scene *s)
{
    const struct mha_in *in = &s->v.in;
    double masked[SCENE_NUMBERS];

    fprintf(f, "\"given\":{\"in_proj_weight\":{\"shape\":[%zu,%zu],\"v\":", 3 * in->E, in->E);
    put_numbers(f, in->in_proj_weight, 3 * in->E * in->E, 1);
    putc('}', f);
    put_given(f, "in_proj_bias", "[12]", in->in_proj_bias, 3 * in->E);
    put_given(f, "out_proj.weight", "[4,4]", in->out_proj_weight, in->E * in->E);
    put_given(f, "out_proj.bias", "[4]", in->out_proj_bias, in->E);
    put_given(f, "bias_k", "[4]", in->bias_k, in->E);
    put_given(f, "bias_v", "[4]", in->bias_v, in->E);
    FOR(m, in->L * in->S) masked[m] = s->masked[m];
    put_given(f, "attn_mask", "[2,3]", in->attn_mask.masked ? masked : NULL, in->L * in->S);
    putc('}', f);
}

/* ---- mistakes ---- */

static int differs(const struct array *a, const struct array *b)
{
    FOR(m, a->size)
        if (!(fabs(a->v[m] - b->v[m]) < 1e-9) && !(a->v[m] == b->v[m]) && !(isnan(a->v[m]) && isnan(b->v[m])))
            return 1;
    return 0;
}

static const char *put_mistake(struct weave *w, const struct scene *s, const struct array t[STAGES], const char *name)
{
    const struct fault *x = fault_named(name);
    struct array wrong[STAGES];
    struct killer k;
    char why[1024];
    const char *error;
    int some = 0;

    if (!x)
        return weave_error(w, "faults.txt has no \"%s\"", name);
    if ((error = weave_killer(w, x, &k)) || (error = weave_why(w, x, 1, why, sizeof why)) || (error = mha_alloc(wrong, &s->v.in)))
        return error;
    x->forward(wrong, &s->v.in);
    fputs("{\"name\":", w->out);
    put_text(w->out, x->name);
    fputs(",\"why\":{\"en\":", w->out);
    put_text(w->out, x->why);
    fputs(",\"zh\":", w->out);
    put_text(w->out, why);
    fputs("},\"diff\":", w->out);
    put_text(w->out, x->diff);
    fprintf(w->out, ",\"killer\":\"%s\",\"error\":\"", k.name);
    if (isfinite(k.error))
        weave_sigma(w->out, k.error);
    fprintf(w->out, "\",\"count\":%zu,\"vectors\":%zu,\"stages\":{", k.count, k.vectors);
    FOR(e, STAGES) if (t[e].v && differs(&t[e], &wrong[e])) {
        fprintf(w->out, "%s\"%s\":", some++ ? "," : "", t[e].name);
        put_numbers(w->out, wrong[e].v, wrong[e].size, 0);
    }
    fputs("}}", w->out);
    mha_free(wrong);
    return NULL;
}

/* ---- a scene ---- */

static const char *put_stages(struct weave *w, const struct scene *s, const struct array t[STAGES])
{
    struct walk walk = { .v = &s->v, .t = t };
    const char *error = NULL;
    int some = 0;

    fputs(",\"stages\":[", w->out);
    FOR(k, STAGES) if (t[k].v) {
        struct step_text torch = { .used = 0 }, formula = { .used = 0 };
        walk_go(&walk, (enum mha_stage)k);
        step_torch(&torch, &walk);
        step_formula(&formula, &walk);
        fprintf(w->out, "%s\n{\"name\":\"%s\",\"shape\":[", some++ ? "," : "", t[k].name);
        FOR(d, (size_t)t[k].ndim) fprintf(w->out, d ? ",%zu" : "%zu", t[k].shape[d]);
        putc(']', w->out);
        if (s->golden || (k >= K_HEADS && k <= MASK)) {    /* elsewhere they are those of the first scene */
            fputs(",\"torch\":", w->out);
            put_text(w->out, torch.text);
            fputs(",\"index\":", w->out);
            put_text(w->out, formula.text);
        }
        fputs(",\"v\":", w->out);
        put_numbers(w->out, t[k].v, t[k].size, s->golden);
        putc('}', w->out);
    }
    fputs("],\"mistakes\":[", w->out);
    for (size_t f = 0; !error && s->mistakes[f]; f++) {
        fputs(f ? ",\n" : "\n", w->out);
        error = put_mistake(w, s, t, s->mistakes[f]);
    }
    fputs("]}", w->out);
    return error;
}

static const char *put_scene(struct weave *w, int which)
{
    struct scene s;
    struct array t[STAGES];
    const char *wrong = scene_make(&s, w, which);

    if (wrong)
        return wrong;
    if (!(wrong = mha_alloc(t, &s.v.in))) {
        mha_forward(t, &s.v.in);
        FOR(k, STAGES) {
            const struct npz_array *stored = s.golden && t[k].v ? vector_stage(&s.v, NULL, "", t[k].name) : NULL;
            if (stored)
                FOR(m, t[k].size) t[k].v[m] = npz_value(stored, m);
        }
        fprintf(w->out, "%s\n{\"title\":{\"en\":", which ? "," : "");
        put_text(w->out, s.english);
        fputs(",\"zh\":", w->out);
        put_text(w->out, s.chinese);
        fprintf(w->out, "},\"sizes\":{\"N\":%zu,\"L\":%zu,\"S\":%zu,\"E\":%zu,\"H\":%zu,\"D\":%zu},", s.v.in.N, s.v.in.L, s.v.in.S, s.v.in.E, s.v.in.H, s.v.in.E / s.v.in.H);
        put_givens(w->out, &s);
        wrong = put_stages(w, &s, t);
        mha_free(t);
    }
    vector_free(&s.v);
    return wrong;
}

static const char *make(struct weave *w, const char *template)
{
    FILE *f = fopen(template, "rb");
    char line[8192];
    const char *wrong = f ? NULL : "the template cannot be read";

    while (!wrong && fgets(line, sizeof line, f)) {
        if (strncmp(line, here, sizeof here - 1)) {
            fputs(line, w->out);
            continue;
        }
        fputs("const SCENES = [", w->out);
        for (int which = 0; !wrong && which < SCENES; which++)
            wrong = put_scene(w, which);
        fputs("];\n", w->out);
    }
    if (f)
        fclose(f);
    return wrong;
}

static int stale(FILE *wanted, const char *path)
{
    FILE *is = fopen(path, "rb");
    int line = 1, a = 0, b = 0;

    while (is && (a = getc(is)) == (b = getc(wanted)) && a != EOF)
        line += a == '\n';
    if (is)
        fclose(is);
    if (is && a == b)
        return 0;
    printf("%s:%d: stale; the target docs makes it again\n", path, line);
    return 1;
}

static int copy(FILE *from, const char *path)
{
    FILE *f = fopen(path, "wb");
    int c;

    while (f && (c = getc(from)) != EOF)
        putc(c, f);
    if (f && !ferror(f) && !fclose(f))
        return 0;
    printf("%s: cannot be written\n", path);
    return 1;
}

int main(int argc, char **argv)
{
    int check = argc > 1 && !strcmp(argv[1], "--check"), status = 1;
    char **a = argv + 1 + check;
    struct weave w = { .qkvec = NULL };
    const char *wrong;

    if (argc - check != 4) {
        fputs("usage: step_html [--check] PAGE TEMPLATE SOURCE\n", stderr);
        return 2;
    }
    w.source = a[2];
    snprintf(w.vectors, sizeof w.vectors, "%s/vectors", a[2]);
    w.out = tmpfile();
    wrong = w.out ? make(&w, a[1]) : "no temporary file";
    if (wrong)
        printf("%s: %s\n", a[0], wrong);
    else {
        rewind(w.out);
        status = check ? stale(w.out, a[0]) : copy(w.out, a[0]);
    }
    if (w.made)
        matrix_free(&w.matrix);
    if (w.out)
        fclose(w.out);
    return status;
}
