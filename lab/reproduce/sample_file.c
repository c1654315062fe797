/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses and describes the points of sample.csv. */
#include "lab/reproduce/sample_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/samples.h"
#include "params/text_stream.h"
#include "params/input_file.h"

size_t oche_sample_point(const struct oche_plan *plan, size_t number)
{
    const size_t step = 7; /* no multiple of usual numbers of schemes, loads or seeds */

    return plan->points[number * step % plan->count];
}

char *oche_sample_line(const struct oche_plan *plan, size_t point,
                       const struct oche_point_result *result)
{
    struct oche_samples *samples = oche_samples_create(plan->study);
    char *text = NULL;
    size_t bytes, count;
    bool any = false;
    FILE *out = oche_text_stream_open(&text, &bytes);
    const char *const *names = oche_samples_metrics(samples, &count);

    fprintf(out, "%s,%zu,%016" PRIx64 ",", plan->study->name, point, result->hash);
    for (size_t m = 0; m < count; m++) {
        const double value = oche_point_metric(result, names[m]);

        if (!isnan(value))
            fprintf(out, "%s%s=%.6g", any ? " " : "", names[m], value);
        any |= !isnan(value);
    }
    oche_text_stream_close(out);
    oche_samples_free(samples);
    return text;
}

char *oche_sample_read(const struct oche_paper *paper, const char *figure)
{
    const size_t length = strlen(figure);
    char *path = NULL, *line = NULL, *found = NULL;
    size_t room = 0;

    OCHE_GOT(asprintf(&path, "%s/sample.csv", paper->folder) >= 0);
    struct oche_error reason; /* without a sample there is no comparison */
    FILE *in = oche_input_stream(path, &reason);

    while (in != NULL && found == NULL && getline(&line, &room, in) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, figure, length) == 0 && line[length] == ',')
            found = strdup(line);
    }
    if (in != NULL)
        fclose(in);
    free(line);
    free(path);
    return found;
}
