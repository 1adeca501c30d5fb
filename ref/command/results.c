/* SPDX-License-Identifier: MIT */
/* POSIX: walking through directories. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700

#include "results.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEEPEST 8        /* a vector's name has one slash; links may lead in circles */
#define NAMED 20         /* strangers told one by one */

struct walk {
    const struct wanted *w;
    const char *dir;
    size_t strangers;
};

static int belongs(const struct wanted *w, const char *name)
{
    if (corpus_find(&w->corpus, name))
        return 1;
    for (size_t k = 0; k < w->choice.count; k++)
        if (!strcmp(w->choice.chosen[k].name, name))
            return 1;
    return 0;
}

static void found(struct walk *walk, const char *path)
{
    const char *name = path + strlen(walk->dir) + 1;
    size_t length = strlen(name);
    char *stem;

    if (length < 4 || strcmp(name + length - 4, ".npz") != 0 || !(stem = strdup(name)))
        return;
    stem[length - 4] = 0;
    if (!belongs(walk->w, stem) && walk->strangers++ < NAMED)
        complain(path, "belongs to no vector, ignored");
    free(stem);
}

/* In the order of names, so that two runs say the same. */
static int walk_dir(struct walk *walk, const char *dir, int depth)
{
    struct dirent **entries;
    int count = scandir(dir, &entries, NULL, alphasort);

    if (count < 0)
        return 0;
    for (int k = 0; k < count; k++) {
        const char *name = entries[k]->d_name;
        size_t size = strlen(dir) + strlen(name) + 2;
        char *path = name[0] == '.' ? NULL : malloc(size);
        struct stat st;
        if (path) {
            snprintf(path, size, "%s/%s", dir, name);
            if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
                if (depth < DEEPEST)
                    walk_dir(walk, path, depth + 1);
            } else {
                found(walk, path);
            }
        }
        free(path);
        free(entries[k]);
    }
    free(entries);
    return 1;
}

int results_name_strangers(const char *dir, const struct wanted *w)
{
    struct walk walk = { w, dir, 0 };

    if (!walk_dir(&walk, dir, 0))
        return complain(dir, "the results' directory cannot be read: %s", strerror(errno));
    if (walk.strangers > NAMED)
        complain(dir, "%zu files more belong to no vector", walk.strangers - NAMED);
    return 0;
}
