/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/foreign/translation.h"

#include <stdlib.h>
#include <string.h>

#include "params/text_stream.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

static char *written(const struct oche_translation *t)
{
    char *text;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    oche_translation_write(t, out);
    oche_text_stream_close(out);
    return text;
}

/* Keys of a section stand together, a section within its parent, whatever the order of adding. */
static void test_sections(void **state)
{
    struct oche_translation t = {.settings = NULL};
    char *text;

    (void)state;
    oche_translation_set(&t, "switch.tor", "pmax", "PMAX", "%d", 1);
    oche_translation_set(&t, "", "seed", NULL, "7");
    oche_translation_set_unit(&t, "switch", "kmin", NULL, OCHE_UNIT_BYTES, 400000);
    oche_translation_set(&t, "failures", NULL, NULL, "{link: \"a:b\", at: 1us}");
    oche_translation_set_unit(&t, "switch.tor", "kmin", NULL, OCHE_UNIT_BYTES, 5000);
    oche_translation_set(&t, "", "seed", NULL, "8");
    text = written(&t);
    assert_string_equal(text, "seed: 8\n"
                              "switch:\n"
                              "  kmin: 400KB\n"
                              "  tor:\n"
                              "    pmax: 1                              # PMAX\n"
                              "    kmin: 5KB\n"
                              "failures:\n"
                              "  - {link: \"a:b\", at: 1us}\n");
    free(text);
    assert_string_equal(oche_translation_find(&t, "switch.tor", "kmin")->value, "5KB");
    assert_null(oche_translation_find(&t, "switch", "pmax"));
    oche_translation_free(&t);
}

/* Texts get quotes, so that YAML reads them back. */
static void test_texts(void **state)
{
    static const char name[] = "a \"b\" \\ c: #d.txt";
    struct oche_translation t = {.settings = NULL};
    struct oche_error error;
    struct oche_document *document;
    char *text;

    (void)state;
    oche_translation_set_text(&t, "topology", "file", "one\ntwo", name);
    oche_translation_set_real(&t, "switch", "pmax", NULL, 1.0 / 256);
    text = written(&t);
    document = oche_document_parse("x.yaml", text, strlen(text), &error);
    assert_non_null(document);
    assert_string_equal(
        oche_yaml_find(oche_yaml_find(oche_document_root(document), "topology"), "file")->text,
        name);
    assert_non_null(strstr(text, "pmax: 0.00390625\n"));
    oche_document_close(document);
    free(text);
    oche_translation_free(&t);
}

static void test_notes(void **state)
{
    struct oche_translation t = {.settings = NULL};

    (void)state;
    for (int i = 0; i < 100; i++)
        oche_translation_note(&t, OCHE_NOTE_ASSUMED, "note %d", i);
    assert_int_equal(t.note_count, 100);
    assert_string_equal(t.notes[99].text, "note 99");
    oche_translation_free(&t);
    assert_null(t.notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_notes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
