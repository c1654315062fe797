/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as a distribution of flow sizes. Drawn values must be sizes of flows,
 * and larger for larger fractions. tools/fuzz 60 cdf runs it.
 */
#include "sim/app/cdf.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define DRAWS 32

static const char *check(const struct oche_cdf *cdf)
{
    struct oche_random random = oche_random_stream(1, "cdf", 0);
    uint64_t last = 1, size;

    if (cdf->count == 0 || !(cdf->mean > 0) || !(cdf->mean <= (double)OCHE_CDF_MAX_SIZE))
        return "a distribution with no mean";
    for (unsigned i = 0; i <= DRAWS; i++) {
        size = oche_cdf_size(cdf, (double)i / DRAWS);
        if (size < last || size > OCHE_CDF_MAX_SIZE)
            return "a larger fraction has smaller flows, or flows too large";
        last = size;
    }
    size = oche_cdf_sample(cdf, &random);
    return size >= 1 && size <= last ? NULL : "a size larger than the largest";
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct oche_error error = {""};
    struct oche_cdf cdf;
    const char *wrong;

    if (!oche_cdf_read_file(&cdf, fuzz_file("cdf", bytes, count), &error))
        return strchr(error.text, '\n') == NULL && strstr(error.text, ": ") != NULL
                   ? NULL
                   : "a file is refused without a reason";
    wrong = check(&cdf);
    oche_cdf_free(&cdf);
    return wrong;
}
