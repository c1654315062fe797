/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as SONiC's CONFIG_DB. The scenario that it becomes is read, and makes
 * a world that runs for a moment. tools/fuzz 60 config_db runs it.
 */
#include "sim/foreign/config_db.h"

#include "params/text_stream.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/small_world.h"
#include "tests/fuzz/target.h"

static const char *check(struct oche_translation *to)
{
    char *text;
    size_t bytes;
    struct oche_error error = {""};
    struct oche_scenario *scenario;
    const char *wrong;
    FILE *out = oche_text_stream_open(&text, &bytes);

    oche_translation_write(to, out);
    oche_text_stream_close(out);
    scenario = oche_scenario_parse("fuzz.yaml", text, bytes, &error);
    wrong =
        scenario == NULL ? "a scenario that cannot be read" : small_world_check(text, bytes, true);
    oche_scenario_close(scenario);
    free(text);
    return wrong;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct oche_translation to = {.settings = NULL};
    struct oche_error error = {""};
    struct oche_document *document =
        oche_document_parse("fuzz", (const char *)bytes, count, &error);
    const char *wrong = NULL;

    if (document == NULL)
        return small_world_refusal(&error) ? NULL : "a text is refused without a reason";
    if (oche_config_db_is_one(document)) {
        if (oche_config_db_translate(document, &to, &error))
            wrong = check(&to);
        else if (!small_world_refusal(&error))
            wrong = "a value is refused without a reason";
    }
    oche_translation_free(&to);
    oche_document_close(document);
    return wrong;
}
