/* SPDX-License-Identifier: MIT */
/* The numbers of heads in the config.json beside a checkpoint. */
#ifndef QKVEC_CONFIG_H
#define QKVEC_CONFIG_H

#include <stddef.h>

#include "../store/text.h"

#define CONFIG_BYTES ((size_t)1 << 22)
#define CONFIG_SECTIONS 16
#define CONFIG_DEPTH 4              /* of objects inside objects */

/* One object of config.json that gives a number of heads. 0: not given. */
struct config_section {
    size_t hidden;                  /* width of the model */
    size_t H, G, D;                 /* query heads, key heads, channels of a head */
};

struct config {
    int found;
    struct config_section section[CONFIG_SECTIONS];
    size_t count;
    char model_type[40];            /* of the outermost object; "" if not given */
    int multi_query;
    double rope_theta[2], norm_eps; /* 0 if not given; of two kinds of layers the first and the last */
};

/* Read config.json in the folder of a checkpoint; a folder without one leaves
 * it empty. Returns NULL, or an error message if the file is not JSON. */
const char *config_read(struct config *config, const char *checkpoint, char error[SENTENCE]);

/* The same for a text in memory. */
const char *config_parse(struct config *config, const char *text, size_t length, char error[SENTENCE]);

#endif
