/* SPDX-License-Identifier: MIT */
/* POSIX: stat. */
#define _POSIX_C_SOURCE 200809L

/*
 * Every relative link and anchor of the pages resolves, and every page of docs/
 * is reached from README.md.
 *
 *   links SOURCE
 *
 * An anchor is a heading as GitHub makes it: small letters, blanks become
 * hyphens, punctuation is dropped; a second one of the same text gets "-1".
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PAGES = 128, PATH = 1024, LINE = 16384 };

struct site {
    const char *source;
    char page[PAGES][PATH];    /* those that were reached, from the source directory on */
    size_t count;
    size_t links, wrong;
};

static void path_of(char path[PATH * 2], const struct site *s, const char *page)
{
    snprintf(path, PATH * 2, "%s/%s", s->source, page);
}

static int is_page(const char *path)
{
    size_t n = strlen(path);

    return n > 3 && !strcmp(path + n - 3, ".md");
}

/* "docs/a.md" and "../vectors/b" are "vectors/b"; 0 where it leaves the tree. */
static int resolve(char out[PATH], const char *from, const char *link)
{
    char text[PATH * 2], *word;
    const char *slash = strrchr(from, '/');

    snprintf(text, sizeof text, "%.*s%s", slash ? (int)(slash - from + 1) : 0, from, link);
    out[0] = 0;
    for (word = strtok(text, "/"); word; word = strtok(NULL, "/")) {
        char *last = strrchr(out, '/');
        if (!strcmp(word, ".."))
            *(last ? last : out) = 0;
        else if (strcmp(word, ".") && strlen(out) + strlen(word) + 2 < PATH)
            sprintf(out + strlen(out), "%s%s", out[0] ? "/" : "", word);
    }
    return out[0] != 0;
}

static void slug(char out[LINE], const char *heading)
{
    size_t n = 0;

    for (; *heading && *heading != '\n' && n < LINE - 1; heading++) {
        unsigned char c = (unsigned char)*heading;
        if (c == 0xef || (c == 0xe3 && (unsigned char)heading[1] == 0x80))    /* full-width punctuation is dropped too */
            heading += 2;
        else if (isalnum(c) || c == '-' || c == '_' || c >= 0x80)
            out[n++] = (char)tolower(c);
        else if (c == ' ')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    out[n] = 0;
}

static int has_anchor(const struct site *s, const char *page, const char *anchor)
{
    char path[PATH * 2], line[LINE], made[LINE];
    int fence = 0, found = 0;
    FILE *f;

    path_of(path, s, page);
    f = fopen(path, "rb");
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *text = line + strspn(line, "#");
        fence ^= !strncmp(line, "```", 3);
        if (fence || text == line || *text != ' ')
            continue;
        slug(made, text + 1);
        found = !strcmp(made, anchor);
    }
    if (f)
        fclose(f);
    return found;
}

static void reach(struct site *s, const char *page)
{
    for (size_t k = 0; k < s->count; k++)
        if (!strcmp(s->page[k], page))
            return;
    if (s->count < PAGES)
        snprintf(s->page[s->count++], PATH, "%s", page);
}

static void follow(struct site *s, const char *page, int line, const char *target, size_t length)
{
    char link[PATH], to[PATH], path[PATH * 2], *anchor;
    struct stat st;

    snprintf(link, sizeof link, "%.*s", (int)length, target);
    if (strstr(link, "://") || !strncmp(link, "mailto:", 7))
        return;
    s->links++;
    if ((anchor = strchr(link, '#')))
        *anchor++ = 0;
    if (!link[0])
        snprintf(to, sizeof to, "%s", page);
    else if (!resolve(to, page, link))
        to[0] = 0;
    path_of(path, s, to);
    if (!to[0] || stat(path, &st)) {
        printf("%s:%d: nothing is at %s\n", page, line, link);
        s->wrong++;
    } else if (anchor && is_page(to) && !has_anchor(s, to, anchor)) {
        printf("%s:%d: %s has no heading #%s\n", page, line, to, anchor);
        s->wrong++;
    } else if (is_page(to))
        reach(s, to);
}

/* "](target)" outside of code. */
static void scan(struct site *s, const char *page)
{
    char path[PATH * 2], line[LINE];
    int fence = 0, number = 0;
    FILE *f;

    path_of(path, s, page);
    if (!(f = fopen(path, "rb"))) {
        printf("%s: cannot be read\n", page);
        s->wrong++;
        return;
    }
    while (fgets(line, sizeof line, f)) {
        int code = 0;
        number++;
        fence ^= !strncmp(line, "```", 3);
        for (char *c = line; *c && !fence; c++) {
            code ^= *c == '`';
            if (!code && c[0] == ']' && c[1] == '(')
                follow(s, page, number, c + 2, strcspn(c + 2, ") \n"));
        }
    }
    fclose(f);
}

/* Pages of docs/ that no link leads to. */
static void lost(struct site *s)
{
    char path[PATH * 2], page[PATH];
    struct dirent *e;
    DIR *d;

    path_of(path, s, "docs");
    for (d = opendir(path); d && (e = readdir(d));) {
        int found = 0;
        if (!is_page(e->d_name))
            continue;
        snprintf(page, sizeof page, "docs/%s", e->d_name);
        for (size_t k = 0; k < s->count; k++)
            found |= !strcmp(s->page[k], page);
        if (!found) {
            printf("%s: README.md does not lead here\n", page);
            s->wrong++;
        }
    }
    if (d)
        closedir(d);
}

int main(int argc, char **argv)
{
    static struct site s;

    if (argc != 2) {
        fputs("usage: links SOURCE\n", stderr);
        return 2;
    }
    s.source = argv[1];
    reach(&s, "README.md");
    reach(&s, "vectors/README.md");
    for (size_t k = 0; k < s.count; k++)
        scan(&s, s.page[k]);
    lost(&s);
    printf("%zu pages, %zu links, %zu wrong\n", s.count, s.links, s.wrong);
    return s.wrong || s.links < 10;
}
