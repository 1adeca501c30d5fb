/* SPDX-License-Identifier: MIT */
/* POSIX: access() sees whether a file is there without opening a pipe. */
#define _POSIX_C_SOURCE 200809L

#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../corpus/json.h"
#include "../store/file.h"

/* What one object says, before its heads are put together. */
struct object {
    size_t hidden, heads, encoder_heads, decoder_heads, key_heads, falcon_heads, D;
    int multi_query, new_architecture, has_multi_query;
};

enum kind { HIDDEN, HEADS, ENCODER_HEADS, DECODER_HEADS, KEY_HEADS, FALCON_HEADS, HEAD_DIM };

static const struct { const char *key; enum kind kind; } keys[] = {
    { "hidden_size", HIDDEN }, { "n_embd", HIDDEN }, { "d_model", HIDDEN }, { "dim", HIDDEN },
    { "num_attention_heads", HEADS }, { "n_head", HEADS }, { "n_heads", HEADS }, { "num_heads", HEADS },
    { "encoder_attention_heads", ENCODER_HEADS }, { "decoder_attention_heads", DECODER_HEADS },
    { "num_key_value_heads", KEY_HEADS }, { "kv_n_heads", KEY_HEADS }, { "n_kv_heads", KEY_HEADS }, { "multi_query_group_num", KEY_HEADS },
    { "num_kv_heads", FALCON_HEADS }, { "n_head_kv", FALCON_HEADS },
    { "head_dim", HEAD_DIM }, { "d_kv", HEAD_DIM }, { "kv_channels", HEAD_DIM }, { "d_head", HEAD_DIM },
};

/* Return a number from 1 to 10^6 if the text is one, else 0 (null, a list of numbers). */
static size_t count_of(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits && digits < 7 && !text[digits] ? (size_t)strtoul(text, NULL, 10) : 0;
}

static void set_count(struct object *o, enum kind kind, size_t n)
{
    size_t *const places[] = { &o->hidden, &o->heads, &o->encoder_heads, &o->decoder_heads, &o->key_heads, &o->falcon_heads, &o->D };

    if (n)
        *places[kind] = n;
}

static void add_section(struct config *config, const struct object *o, size_t H)
{
    size_t G = o->key_heads ? o->key_heads : H;

    /* Falcon writes num_kv_heads always, and uses it in the new architecture alone. */
    if (o->has_multi_query && !o->key_heads)
        G = o->new_architecture && o->falcon_heads ? o->falcon_heads : o->multi_query && !o->new_architecture ? 1 : H;
    else if (o->falcon_heads && !o->key_heads)
        G = o->falcon_heads;
    if (H && config->count < CONFIG_SECTIONS)
        config->section[config->count++] = (struct config_section){ o->hidden, H, G, o->D };
}

/* Read the value of a key that is a string, a number or a word. */
static void read_scalar(struct config *config, struct object *o, const char *key, const char *text, int outermost)
{
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (!strcmp(key, keys[k].key))
            set_count(o, keys[k].kind, count_of(text));
    if (!strcmp(key, "multi_query")) {
        o->has_multi_query = 1;
        o->multi_query = !strcmp(text, "true");
        config->multi_query |= o->multi_query;
    }
    if (!strcmp(key, "new_decoder_architecture"))
        o->new_architecture = !strcmp(text, "true");
    if (!strcmp(key, "model_type") && outermost)
        snprintf(config->model_type, sizeof config->model_type, "%.*s", (int)sizeof config->model_type - 1, text);    /* a longer name is none of those asked for */
    if (!strcmp(key, "rope_theta") || !strcmp(key, "rotary_emb_base"))
        config->rope_theta[config->rope_theta[0] > 0] = strtod(text, NULL);
    if (!strcmp(key, "rms_norm_eps") || !strcmp(key, "layer_norm_eps") || !strcmp(key, "layer_norm_epsilon"))
        config->norm_eps = strtod(text, NULL);
}

/* Return the first character of the next value, without reading it. */
static char peek(const struct json *j)
{
    const char *at = j->at;

    while (at < j->end && *at && strchr(" \t\r\n", *at))
        at++;
    return at < j->end ? *at : '\0';
}

static void read_object(struct config *config, struct json *j, struct object *o, int depth)
{
    char key[128], text[256];

    if (!json_enter(j, '{'))
        return;
    while (json_key(j, key, sizeof key)) {
        char next = peek(j);
        if (next == '{' && depth < CONFIG_DEPTH) {
            /* attn_config of MPT and DBRX adds to its parent; other objects are models of their own. */
            struct object inner = { 0 };
            if (!strcmp(key, "attn_config") || !strcmp(key, "rope_parameters"))
                read_object(config, j, o, depth + 1);
            else {
                read_object(config, j, &inner, depth + 1);
                add_section(config, &inner, inner.heads);
            }
        } else if (next == '{' || next == '[') {
            json_skip(j);
        } else {
            struct json before = *j;
            if (!json_text(j, text, sizeof text)) {    /* a text too long for any number */
                *j = before;
                json_skip(j);
            } else
                read_scalar(config, o, key, text, !depth);
        }
    }
}

const char *config_parse(struct config *config, const char *text, size_t length, char error[SENTENCE])
{
    struct object o = { 0 };
    struct json j;

    *config = (struct config){ .found = 1 };
    json_start(&j, text, length);
    read_object(config, &j, &o, 0);
    if (!json_end(&j))
        return say(error, SENTENCE, "config.json beside it: bad JSON in line %zu", json_line(&j));
    add_section(config, &o, o.heads);
    add_section(config, &o, o.encoder_heads != o.heads ? o.encoder_heads : 0);
    add_section(config, &o, o.decoder_heads != o.heads && o.decoder_heads != o.encoder_heads ? o.decoder_heads : 0);
    for (int k = 0; k < 2; k++)
        if (!isfinite(config->rope_theta[k]) || config->rope_theta[k] < 0)
            config->rope_theta[k] = 0;
    if (!isfinite(config->norm_eps) || config->norm_eps < 0)
        config->norm_eps = 0;
    return NULL;
}

const char *config_read(struct config *config, const char *checkpoint, char error[SENTENCE])
{
    const char *slash = strrchr(checkpoint, '/'), *wrong = NULL;
    size_t folder = slash ? (size_t)(slash - checkpoint) + 1 : 0, length = 0;
    char *path = malloc(folder + sizeof "config.json");
    unsigned char *bytes = NULL;

    *config = (struct config){ 0 };
    if (!path)
        return say(error, SENTENCE, "not enough memory for the path of config.json");
    memcpy(path, checkpoint, folder);
    memcpy(path + folder, "config.json", sizeof "config.json");
    if (!access(path, F_OK)) {
        char reason[SENTENCE];
        if ((wrong = file_read(&bytes, &length, path, CONFIG_BYTES, reason)))
            say(error, SENTENCE, "config.json beside it: %.260s", reason);
        else
            wrong = config_parse(config, (const char *)bytes, length, error);
        free(bytes);
    }
    free(path);
    return wrong ? error : NULL;
}
