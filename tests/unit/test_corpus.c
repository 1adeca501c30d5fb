/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "corpus/corpus.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A corpus of small files that are no vectors: nobody reads them here. */
static char dir[] = "corpus.XXXXXX";
static const char *const names[] = { "a/one", "a/two", "b/one", "mask/a_b" };
#define NAMES (sizeof names / sizeof *names)

static char *in_dir(const char *name, const char *suffix)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s%s", dir, name, suffix);
    return path;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");

    cr_assert(f, "%s", path);
    fputs(text, f);
    fclose(f);
}

static void setup(void)
{
    char index[4096] = "", hash[SHA256_HEX];
    struct sha256 all;
    size_t used = 0;

    cr_assert(mkdtemp(dir));
    mkdir(in_dir("a", ""), 0700);
    mkdir(in_dir("b", ""), 0700);
    mkdir(in_dir("mask", ""), 0700);
    sha256_start(&all);
    for (size_t k = 0; k < NAMES; k++) {
        char line[256];
        put(in_dir(names[k], ".npz"), names[k]);
        sha256_of(hash, names[k], strlen(names[k]));
        used += (size_t)snprintf(index + used, sizeof index - used,
            "%s{\"name\":\"%s\",\"shapes\":{\"N\":[1]},\"flags\":[\"x\",\"y\\u001b\"],\"catches\":[],\"sha256\":\"%s\"}",
            k ? ",\n" : "", names[k], hash);
        snprintf(line, sizeof line, "%s %s\n", names[k], hash);
        sha256_add(&all, line, strlen(line));
    }
    sha256_finish(&all, hash);
    FILE *f = fopen(in_dir("index", ".json"), "w");
    fprintf(f, "{\"format\":1,\"corpus_version\":\"1.2\",\"new\":{},\n\"corpus_hash\":\"%s\",\"vectors\":[%s]}\n", hash, index);
    fclose(f);
}

static void teardown(void)
{
    for (size_t k = 0; k < NAMES; k++)
        remove(in_dir(names[k], ".npz"));
    remove(in_dir("index", ".json"));
    rmdir(in_dir("a", ""));
    rmdir(in_dir("b", ""));
    rmdir(in_dir("mask", ""));
    rmdir(dir);
}

TestSuite(corpus, .init = setup, .fini = teardown);

/* What the patterns choose, in one line; or the sentence. */
static void expect(const char *want, size_t patterns, const char *const *pattern)
{
    struct corpus c;
    struct choice choice;
    char got[1024] = "";

    cr_assert_null(corpus_open(&c, dir));
    const char *wrong = corpus_choose(&choice, &c, patterns, pattern);
    for (size_t k = 0; k < choice.count; k++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s%s", k ? " " : "",
                 choice.chosen[k].name, choice.chosen[k].vector ? "" : "!");
    cr_assert_str_eq(wrong ? wrong : got, want);
    choice_free(&choice);
    corpus_close(&c);
}

#define EXPECT(want, ...) \
    expect(want, sizeof (const char *[]){ __VA_ARGS__ } / sizeof (char *), (const char *[]){ __VA_ARGS__ })

Test(corpus, reads_the_index)
{
    struct corpus c;

    cr_assert_null(corpus_open(&c, dir));
    cr_assert_eq(c.count, NAMES);
    cr_assert_str_eq(c.version, "1.2");
    cr_assert_str_eq(c.vectors[0].flags, "x y?");
    cr_assert_str_eq(corpus_find(&c, "b/one")->name, "b/one");
    cr_assert_null(corpus_find(&c, "b/two"));
    cr_assert_null(corpus_find(&c, ""));
    corpus_close(&c);
    setenv("QKVEC_VECTORS", dir, 1);
    cr_assert_null(corpus_open(&c, NULL));
    cr_assert_str_eq(c.dir, dir);
    corpus_close(&c);
}

Test(corpus, patterns)
{
    expect("a/one a/two b/one mask/a_b", 0, NULL);
    EXPECT("a/one", "a/one");
    EXPECT("a/one a/two", "a");
    EXPECT("a/one b/one", "*/one");
    EXPECT("mask/a_b", "*a_b");
    EXPECT("a/one a/two b/one", "b", "a/two", "a");
    EXPECT("no/such: no vector of that name, and no file", "a", "no/such");
    EXPECT("one: no vector of that name, and no file", "one");
    EXPECT("x\\x1b: no vector of that name, and no file", "x\033");
}

Test(corpus, paths)
{
    char inside[300], outside[] = "test_corpus.npz";

    snprintf(inside, sizeof inside, "./%s/a/../b/one.npz", dir);
    EXPECT("b/one", inside);
    put(outside, "anything");
    EXPECT("a/one test_corpus.npz!", outside, "a/one");
    remove(outside);
}

Test(corpus, an_altered_vector_is_never_chosen)
{
    struct corpus c;
    struct choice choice;
    const char *pattern = "a/two";

    put(in_dir("a/two", ".npz"), "a/twq");
    cr_assert_null(corpus_open(&c, dir));
    const char *wrong = corpus_choose(&choice, &c, 1, &pattern);
    cr_assert(wrong && strstr(wrong, "a/two.npz: this is not the published vector: found sha256 ") && strstr(wrong, c.vectors[1].sha256));
    cr_assert_eq(choice.count, 0);
    cr_assert(corpus_choose(&choice, &c, 0, NULL));
    pattern = "a/one";
    cr_assert_null(corpus_choose(&choice, &c, 1, &pattern));
    put(choice.chosen[0].path, "a/onf");    /* too late: these are not the bytes that count */
    cr_assert_eq(choice.chosen[0].length, 5);
    cr_assert_arr_eq(choice.chosen[0].bytes, "a/one", 5);
    choice_free(&choice);
    remove(in_dir("a/one", ".npz"));
    wrong = corpus_choose(&choice, &c, 1, &pattern);
    cr_assert(wrong && strstr(wrong, "a/one.npz: cannot be opened: No such file or directory"));
    mkfifo(in_dir("a/one", ".npz"), 0600);    /* waits for nobody */
    wrong = corpus_choose(&choice, &c, 1, &pattern);
    cr_assert(wrong && strstr(wrong, "a/one.npz: is a pipe, wanted a regular file"));
    corpus_close(&c);
}

/* Two versions: the second adds b/one. */
Test(corpus, versions)
{
    char index[2048] = "", hash[2][SHA256_HEX], file[SHA256_HEX];
    const char *const b_one = "b/one";
    struct corpus c;
    struct choice choice;

    for (int version = 0; version < 2; version++) {
        struct sha256 all;
        size_t used = 0;
        sha256_start(&all);
        for (size_t k = 0; k < NAMES; k++) {
            char line[256];
            int later = !strcmp(names[k], b_one);
            sha256_of(file, names[k], strlen(names[k]));
            snprintf(line, sizeof line, "%s %s\n", names[k], file);
            if (!later || version == 1)
                sha256_add(&all, line, strlen(line));
            used += (size_t)snprintf(index + used, sizeof index - used, "%s{\"name\":\"%s\",%s\"sha256\":\"%s\"}", k ? "," : "", names[k],
                                     later ? "\"since\":\"1.1\"," : "", file);    /* without since: of the oldest */
        }
        sha256_finish(&all, hash[version]);
    }
    FILE *f = fopen(in_dir("index", ".json"), "w");
    fprintf(f, "{\"format\":1,\"corpus_version\":\"1.1\",\"corpus_hash\":\"%s\",\"versions\":[{\"version\":\"1.0\",\"hash\":\"%s\"},"
               "{\"version\":\"1.1\",\"hash\":\"%s\"}],\"vectors\":[%s]}", hash[1], hash[0], hash[1], index);
    fclose(f);

    cr_assert_null(corpus_open(&c, dir));
    cr_assert_eq(c.count, NAMES);
    cr_assert_str_eq(corpus_find(&c, b_one)->since, "1.1");
    cr_assert_str_eq(corpus_find(&c, "a/one")->since, "1.0");
    cr_assert_str_eq(corpus_use_version(&c, "1.2"), "1.2: no such version of the corpus; wanted 1.0 or 1.1");
    cr_assert_null(corpus_use_version(&c, "1.0"));
    cr_assert_eq(c.count, NAMES - 1);
    cr_assert_str_eq(c.hash, hash[0]);
    cr_assert_null(corpus_find(&c, b_one));
    for (size_t k = 1; k < c.count; k++)
        cr_assert_lt(strcmp(c.vectors[k - 1].name, c.vectors[k].name), 0);
    cr_assert_str_eq(corpus_choose(&choice, &c, 1, &b_one), "b/one: not in corpus 1.0; b/one is there since 1.1");
    cr_assert_null(corpus_choose(&choice, &c, 0, NULL));
    cr_assert_eq(choice.count, NAMES - 1);
    choice_free(&choice);
    corpus_close(&c);
}

/* Whatever a byte of the index becomes, it is read or refused with a sentence. */
Test(corpus, hostile_index)
{
    char text[4096];
    FILE *f = fopen(in_dir("index", ".json"), "rb");
    size_t length = fread(text, 1, sizeof text, f);

    fclose(f);
    for (size_t at = 0; at < length; at++) {
        static const char bytes[] = { 0, '"', '{', ']', ',', '\\', '0', (char)0xff };
        struct corpus c;
        char kept = text[at];
        text[at] = bytes[at % sizeof bytes];
        f = fopen(in_dir("index", ".json"), "wb");
        fwrite(text, 1, length, f);
        fclose(f);
        text[at] = kept;
        const char *wrong = corpus_open(&c, dir);
        cr_assert(!wrong || strstr(wrong, "index.json: "));
        corpus_close(&c);
    }
}
