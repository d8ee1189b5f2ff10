// SPDX-License-Identifier: GPL-2.0
/* Makes the tracepoints that furlong_trace.h describes. */
#define CREATE_TRACE_POINTS
#include "furlong_trace.h"
