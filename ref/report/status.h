/* SPDX-License-Identifier: MIT */
/* Exit status of the program; report_status() decides it from a report. */
#ifndef QKVEC_STATUS_H
#define QKVEC_STATUS_H

enum { CONFORMANT = 0, NOT_CONFORMANT = 1, NOT_JUDGED = 2 };

#endif
