/* SPDX-License-Identifier: MIT */
/* Open the vectors wherever the library finds them. */
#include <stdio.h>

#include <qkvec/qkvec.h>

int main(void)
{
    char error[QKVEC_SENTENCE];
    struct qkvec_corpus *corpus = qkvec_corpus_open(NULL, error);

    puts(corpus ? qkvec_corpus_name(corpus, 0) : error);
    qkvec_corpus_close(corpus);
    return corpus ? 0 : 1;
}
