/* SPDX-License-Identifier: MIT */
/*
 * An index of several files, model.safetensors.index.json or
 * pytorch_model.bin.index.json: { "metadata": ..., "weight_map": { "name": "FILE", ... } }.
 * Each FILE lies in the folder of the index; a name that leads elsewhere is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../corpus/json.h"
#include "../store/file.h"
#include "../store/grow.h"
#include "checkpoint.h"

#define FILE_NAME 200

/* One entry of weight_map. */
struct entry {
    char *name;
    size_t file;
};

struct map {
    struct entry *entry;
    size_t count, room;
    char (*file)[FILE_NAME];
    size_t files;
};

static void map_free(struct map *map)
{
    for (size_t k = 0; k < map->count; k++)
        free(map->entry[k].name);
    free(map->entry);
    free(map->file);
}

/* Return the number of a file's name, added if it is new; -1 after an error message. */
static long file_number(struct map *map, const char *name, char error[SENTENCE])
{
    char shown[SHOWN];

    for (size_t k = map->files; k--; )    /* the last one first: neighbours lie in one file */
        if (!strcmp(map->file[k], name))
            return (long)k;
    show_name(shown, name, strlen(name));
    if (!name[0] || strchr(name, '/') || strchr(name, '\\') || !strcmp(name, ".") || !strcmp(name, ".."))
        say(error, SENTENCE, "weight_map: found the file %s, wanted one in the folder of the index", shown);
    else if (map->files == CHECKPOINT_SHARDS)
        say(error, SENTENCE, "weight_map: more than %d files", CHECKPOINT_SHARDS);
    else {
        char (*more)[FILE_NAME] = realloc(map->file, (map->files + 1) * sizeof *more);
        if (more) {
            map->file = more;
            snprintf(map->file[map->files], FILE_NAME, "%s", name);
            return (long)map->files++;
        }
        say(error, SENTENCE, "not enough memory for the index");
    }
    return -1;
}

static const char *add_entry(struct map *map, const char *name, const char *file, char error[SENTENCE])
{
    long number = file_number(map, file, error);

    if (number < 0)
        return error;
    if (map->count == CHECKPOINT_TENSORS)
        return say(error, SENTENCE, "weight_map: more than %zu tensors", CHECKPOINT_TENSORS);
    struct entry *entries = grow(map->entry, &map->room, map->count, sizeof *entries);
    if (!entries)
        return say(error, SENTENCE, "not enough memory for the index");
    map->entry = entries;
    char *copy = malloc(strlen(name) + 1);
    if (!copy)
        return say(error, SENTENCE, "not enough memory for the index");
    map->entry[map->count++] = (struct entry){ strcpy(copy, name), (size_t)number };
    return NULL;
}

static const char *read_map(struct map *map, const struct checkpoint *c, char error[SENTENCE])
{
    char key[CHECKPOINT_NAME], file[FILE_NAME];
    const char *wrong = NULL;
    struct json j;
    int found = 0;

    json_start(&j, (const char *)c->bytes, c->length);
    if (!json_enter(&j, '{'))
        return say(error, SENTENCE, "no JSON object");
    while (!wrong && json_key(&j, key, sizeof key)) {
        if (strcmp(key, "weight_map")) {
            json_skip(&j);
            continue;
        }
        found = 1;
        if (!json_enter(&j, '{'))
            break;
        while (!wrong && json_key(&j, key, sizeof key) && json_text(&j, file, sizeof file))
            wrong = add_entry(map, key, file, error);
    }
    if (!wrong && !json_end(&j))
        return say(error, SENTENCE, "index: bad JSON in line %zu", json_line(&j));
    if (!wrong && !found)
        return say(error, SENTENCE, "JSON without a weight_map; wanted the .index.json of a sharded checkpoint, or a file of torch.save, safetensors or npz");
    return wrong;
}

/* Move the tensors of a shard that the map gives to it into c, and its bytes. */
static const char *adopt(struct checkpoint *c, struct checkpoint *shard, const struct map *map, size_t number)
{
    char shown[2][SHOWN];

    c->shard[c->shard_count++] = shard->bytes;
    shard->bytes = NULL;
    for (size_t k = 0; k < map->count; k++) {
        const struct entry *e = &map->entry[k];
        if (e->file != number)
            continue;
        const struct tensor *from = checkpoint_get(shard, "", 0, e->name);
        if (!from)
            return say(c->error, SENTENCE, "%.90s: the index names the file %.90s for it, which does not hold it",
                       show_name(shown[0], e->name, strlen(e->name)), show_name(shown[1], map->file[number], strlen(map->file[number])));
        struct tensor *to = checkpoint_add(c, e->name, strlen(e->name));
        if (!to)
            return c->error;
        char *name = to->name;
        *to = *from;
        to->name = name;
        shard->tensors[from - shard->tensors].unpacked = NULL;    /* moved */
    }
    return NULL;
}

static const char *read_shards(struct checkpoint *c, const struct map *map, const char *path)
{
    const char *slash = strrchr(path, '/'), *wrong = NULL;
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, total = 0;
    char *full = malloc(folder + FILE_NAME), shown[SHOWN];

    c->shard = calloc(map->files ? map->files : 1, sizeof *c->shard);
    if (!full || !c->shard)
        wrong = say(c->error, SENTENCE, "not enough memory for its files");
    for (size_t k = 0; k < map->files && !wrong; k++) {
        struct checkpoint shard = { 0 };
        unsigned char *bytes;
        size_t length;
        memcpy(full, path, folder);
        strcpy(full + folder, map->file[k]);
        show_name(shown, map->file[k], strlen(map->file[k]));
        if ((wrong = file_read(&bytes, &length, full, CHECKPOINT_BYTES - total, shard.error)))
            wrong = say(c->error, SENTENCE, "%.90s: %.210s", shown, wrong);
        else if ((wrong = checkpoint_read_memory(&shard, bytes, length)))    /* an index in an index is refused there */
            wrong = say(c->error, SENTENCE, "%.90s: %.210s", shown, wrong);
        else {
            total += length;
            wrong = adopt(c, &shard, map, k);
        }
        checkpoint_free(&shard);
    }
    free(full);
    return wrong;
}

const char *index_read(struct checkpoint *c, const char *path)
{
    struct map map = { 0 };
    char error[SENTENCE];

    const char *wrong = read_map(&map, c, error);
    if (wrong)
        wrong = say(c->error, SENTENCE, "%s", error);
    else
        wrong = read_shards(c, &map, path);
    map_free(&map);
    return wrong;
}
