/* SPDX-License-Identifier: MIT */
/* What the files of the public functions share. */
#ifndef QKVEC_LIBRARY_H
#define QKVEC_LIBRARY_H

#include "../include/qkvec/qkvec.h"
#include "../corpus/corpus.h"
#include "../corpus/vector.h"
#include "../judge/judge.h"

struct qkvec_corpus { struct corpus corpus; };

struct qkvec_vector {
    struct vector v;
    struct array stage[STAGES];    /* of the reference, once it has been asked for */
    int interpreted;
};

/* Results that the caller has in memory, and the adapter to them. given must outlive it. */
struct given { const struct qkvec_array *arrays; size_t count; };
struct adapter library_results(struct given *given);

/* Judge, and keep what diagnose() needs: made, and kept (or NULL; free with
 * mha_free). Returns NULL, or an error message; then verdict says it, too. */
const char *library_judge(struct qkvec_verdict *verdict, struct verdict *made, struct array kept[STAGES],
                          const struct qkvec_vector *v, const struct profile *p, struct adapter *adapter);

#endif
