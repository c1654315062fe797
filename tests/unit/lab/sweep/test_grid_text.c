/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of grids: a shell reads them back unchanged. */
#include "lab/sweep/grid_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static struct oche_grid make_grid(void)
{
    struct oche_grid grid = {.scenario = strdup("it's mine.yaml"), .repeats = 2, .seed_base = 7};
    struct oche_error error;

    grid.sets = calloc(1, sizeof(*grid.sets));
    grid.sets[grid.set_count++] = strdup("congestion_control={name: none}");
    assert_true(oche_grid_add_axis(&grid, "loss.probability=0,1%", &error));
    assert_true(oche_grid_add_axis(&grid, "workload=[{a: b},{c: d}],$HOME", &error));
    return grid;
}

static void test_texts(void **state)
{
    struct oche_grid grid = make_grid();
    char *text = oche_grid_text(&grid);

    (void)state;
    assert_string_equal(text, "--set 'congestion_control={name: none}' "
                              "--vary loss.probability=0,1% "
                              "--vary 'workload=[{a: b},{c: d}],$HOME' --repeat 2");
    free(text);
    text = oche_grid_command(&grid, 7);
    assert_string_equal(text, "oche run 'it'\\''s mine.yaml' "
                              "--set 'congestion_control={name: none}' "
                              "--set loss.probability=1% --set 'workload=$HOME' --set seed=8");
    free(text);
    text = oche_grid_label(&grid, 4);
    assert_string_equal(text, "loss.probability=1%, workload=[{a: b},{c: d}], seed 7");
    free(text);
    oche_grid_free(&grid);
}

/* A shell takes any word for exactly that word. */
static void test_words(void **state)
{
    static const char *const words[] = {"",     "plain", "two words", "it's", "''", "$(false)",
                                        "a\nb", "\\",    "*",         "~",    "-x", "\"q\"; `x`"};
    char *command = NULL;
    size_t bytes;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(words); i++) {
        FILE *out = open_memstream(&command, &bytes);
        char read[64] = "";

        fputs("printf %s ", out);
        oche_shell_word(words[i], out);
        fclose(out);
        FILE *shell = popen(command, "r");

        assert_non_null(shell);
        size_t length = fread(read, 1, sizeof(read) - 1, shell);

        read[length] = '\0';
        assert_int_equal(pclose(shell), 0);
        assert_string_equal(read, words[i]);
        free(command);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
