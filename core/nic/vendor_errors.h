/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor_err of failed completions, by adapter (docs/papers/nics.md#errors). The
 * ideal RNIC writes its own causes (core/qp/cause.h).
 */
#ifndef OCHE_CORE_NIC_VENDOR_ERRORS_H
#define OCHE_CORE_NIC_VENDOR_ERRORS_H

#include "core/base.h"

OCHE_C_BEGIN

enum oche_vendor_errors {
    OCHE_VENDOR_ERRORS_OWN,      /* enum oche_cause */
    OCHE_VENDOR_ERRORS_CONNECTX, /* a ConnectX-5's and -6's syndromes */
};

/*
 * Returns the vendor_err of a completion that failed for `cause` (enum oche_cause); `flushed`: the
 * request itself had no error, another one had. A cause without a known number keeps its own.
 */
uint32_t oche_vendor_error(enum oche_vendor_errors kind, unsigned cause, bool flushed);

OCHE_C_END

#endif
