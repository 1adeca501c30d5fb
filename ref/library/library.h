/* SPDX-License-Identifier: MIT */
/* What the files of the public functions share. */
#ifndef QKVEC_LIBRARY_H
#define QKVEC_LIBRARY_H

#include "../include/qkvec/qkvec.h"
#include "../corpus/corpus.h"
#include "../corpus/vector.h"

struct qkvec_corpus { struct corpus corpus; };

struct qkvec_vector {
    struct vector v;
    struct array stage[STAGES];    /* of the reference, once it has been asked for */
    int interpreted;
};

#endif
