/* SPDX-License-Identifier: MIT */
#include "axes.h"

#include <stdio.h>
#include <string.h>

/* C: whatever comes in, E, kdim or vdim. X: S', the keys with the appended ones. */
static const char *const axes[STAGES] = {
    [QUERY_ROWS] = "NLE", [KEY_ROWS] = "NSC", [VALUE_ROWS] = "NSC",
    [Q_WEIGHT] = "EE", [K_WEIGHT] = "EC", [V_WEIGHT] = "EC", [Q_BIAS] = "E", [K_BIAS] = "E", [V_BIAS] = "E",
    [Q_WEIGHT_T] = "EE", [K_WEIGHT_T] = "CE", [V_WEIGHT_T] = "CE",
    [Q_PROJ] = "NLE", [K_PROJ] = "NSE", [V_PROJ] = "NSE",
    [Q_HEADS] = "NHLD", [K_HEADS] = "NHXD", [V_HEADS] = "NHXD",
    [MASK] = "NHLX", [SCORES] = "NHLX", [MASKED_SCORES] = "NHLX", [ATTN_WEIGHTS] = "NHLX",
    [HEAD_OUTPUTS] = "NHLD", [MERGED] = "NLE", [OUT_WEIGHT_T] = "EE", [OUTPUT] = "NLE", [ATTN_WEIGHTS_MEAN] = "NLX",
};

const char *axis_name(enum mha_stage stage, int k)
{
    static const char letters[] = "NLSEHDXC";
    static const char *const names[] = { "N", "L", "S", "E", "H", "D", "S'", "C" };

    return names[strchr(letters, axes[stage][k]) - letters];
}

int axis_orders(int n)
{
    return n <= 1 ? 1 : n * axis_orders(n - 1);
}

/* The digits of which, in bases n, n-1, ..., pick from the axes that are left. */
void axis_order(int order[4], int which, int n)
{
    int rest = which, left[4] = { 0, 1, 2, 3 };

    for (int k = 0; k < n; k++) {
        int choices = n - k, pick = rest % choices;
        rest /= choices;
        order[k] = left[pick];
        for (int a = pick; a + 1 < choices; a++)
            left[a] = left[a + 1];
    }
}

const char *axis_text(char text[48], enum mha_stage stage, int which, int n)
{
    int order[4], at = snprintf(text, 48, "(");

    axis_order(order, which, n);
    for (int k = 0; k < n; k++)
        at += snprintf(text + at, 48 - (size_t)at, "%s%s", k ? ", " : "", axis_name(stage, order[k]));
    snprintf(text + at, 48 - (size_t)at, n == 1 ? ",)" : ")");
    return text;
}
