/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator of worlds alone: the same seed gives the same scenario; the reader reads what was
 * drawn; everything that a scenario can have is drawn; and a world that breaks a rule is made as
 * small as possible.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/swarm/coverage.h"
#include "tests/swarm/plan.h"
#include "tests/swarm/shrink.h"

#define DRAFTS   1000
#define MOST_MET 1024 /* parameters of all tables */

static struct oche_schema schema;

static void draw(struct draft *draft, uint64_t seed, struct draw *draw)
{
    *draw = (struct draw){.schema = &schema, .random = oche_random_stream(seed, "swarm", 0)};
    draft_draw(draft, draw);
    oche_topology_free(&draw->topology);
}

static void test_pure(void **state)
{
    static struct draft a, b;
    static char one[DRAFT_YAML_BYTES], other[DRAFT_YAML_BYTES];
    struct draw draw_a, draw_b;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        draw(&a, seed, &draw_a);
        draw(&b, seed, &draw_b);
        draft_write(&a, one);
        draft_write(&b, other);
        assert_string_equal(one, other);
    }
}

/* Checks that the reader has the part, with each value as it was drawn. */
static void assert_read(const struct draft_part *part, const struct oche_bindings *bindings,
                        unsigned entry, const char *yaml)
{
    for (size_t i = 0; i < bindings->count; i++) {
        const struct oche_bound *bound = &bindings->bound[i];

        if (bound->section != part->section || bound->node == NULL || entry-- > 0)
            continue;
        assert_ptr_equal(bound->table, draft_table(part));
        for (uint32_t k = 0; k < part->value_count; k++) {
            const struct draft_value *value = &part->values[k];
            union oche_value got = oche_param_get(value->param, bound->values);

            if (strstr(value->param->name, "file") != NULL)
                continue; /* a path is read differently */
            if (value->param->unit == OCHE_UNIT_TEXT ? strcmp(got.text, value->text) != 0
                                                     : got.u != value->value.u)
                fail_msg("%s is read as another value in\n%s", value->param->name, yaml);
        }
        return;
    }
    fail_msg("section %s is not read in\n%s", part->section->name, yaml);
}

static void test_read_as_drawn(void **state)
{
    static struct draft draft;
    static char yaml[DRAFT_YAML_BYTES];
    unsigned read = 0;

    (void)state;
    for (uint64_t seed = 0; seed < DRAFTS; seed++) {
        struct oche_bindings bindings;
        struct oche_mistakes mistakes = {.count = 0};
        struct oche_error error;
        struct draw drawn;

        draw(&draft, seed, &drawn);
        size_t bytes = draft_write(&draft, yaml);
        struct oche_document *document = oche_document_parse("draft", yaml, bytes, &error);

        if (document == NULL)
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, error.text, yaml);
        if (oche_bind(document, schema.sections, schema.section_count, &bindings, &mistakes)) {
            read++;
            for (uint32_t i = 0, entry = 0; i < draft.part_count; i++) {
                bool more = i > 0 && draft.parts[i - 1].section == draft.parts[i].section;

                entry = more ? entry + 1 : 0;
                assert_read(&draft.parts[i], &bindings, entry, yaml);
            }
        }
        oche_document_close(document);
    }
    assert_true(read > DRAFTS / 2);
}

struct met {
    const struct oche_param *param;
    bool met;
};

/*
 * True if it is left out on purpose: a twin of each world has it, it makes no world, or it is for
 * traces, of which worlds have none.
 */
static bool is_left_out(const char *section, const struct oche_param *param)
{
    static const char *const names[] = {"model", "bytes", "payload"};

    if (strcmp(param->name, "groups_file") == 0)
        return true;
    for (size_t i = 0; section[0] == '\0' && i < OCHE_COUNT_OF(names); i++)
        if (strcmp(param->name, names[i]) == 0)
            return true;
    return false;
}

static size_t list_all(struct met *met)
{
    size_t count = 0;

    for (size_t i = 0; i < schema.section_count; i++) {
        const struct oche_section *section = &schema.sections[i];

        if (section->within != NULL)
            continue; /* its parameters are the other section's */
        for (size_t v = 0; v < (section->selector != NULL ? section->variant_count : 1); v++) {
            const struct oche_param_table *table =
                section->selector != NULL ? section->variants[v].table : section->table;

            for (size_t k = 0; k < table->count; k++) {
                assert_true(count < MOST_MET);
                met[count++] =
                    (struct met){&table->params[k], is_left_out(section->name, &table->params[k])};
            }
        }
    }
    return count;
}

static void test_all_is_drawn(void **state)
{
    static struct draft draft;
    static struct met met[MOST_MET];
    size_t count = list_all(met);

    (void)state;
    for (uint64_t seed = 0; seed < DRAFTS; seed++) {
        struct draw drawn;

        draw(&draft, seed, &drawn);
        for (uint32_t i = 0; i < draft.part_count; i++)
            for (uint32_t k = 0; k < draft.parts[i].value_count; k++)
                for (size_t m = 0; m < count; m++)
                    met[m].met |= met[m].param == draft.parts[i].values[k].param;
    }
    for (size_t m = 0; m < count; m++)
        if (!met[m].met)
            fail_msg("%s is never drawn: if it is a text, tests/swarm/texts.c must know it",
                     met[m].param->name);
}

/* A rule that worlds with more than three hosts and a lossy link break. */
static bool breaks(void *context, const struct draft *draft)
{
    struct draft copy = *draft;
    const struct draft_value *hosts = draft_find(&copy, "topology", "hosts");
    const struct draft_value *loss = draft_find(&copy, "loss", "probability");

    ++*(unsigned *)context;
    return hosts != NULL && loss != NULL && hosts->value.u > 3 && loss->value.real > 0;
}

static void test_shrink(void **state)
{
    static struct draft draft;
    unsigned shrunk = 0, asked = 0;

    (void)state;
    for (uint64_t seed = 0; shrunk < 3 && seed < DRAFTS; seed++) {
        struct draw drawn;

        draw(&draft, seed, &drawn);
        if (!breaks(&asked, &draft))
            continue;
        asked = 0;
        unsigned tried = shrink(&draft, breaks, &asked, 1000);

        assert_int_equal(tried, asked);
        assert_int_equal(draft.part_count, 2);
        assert_int_equal(draft_find(&draft, "topology", "hosts")->value.u, 4);
        assert_int_equal(draft.parts[1].value_count, 1);
        shrunk++;
    }
    assert_int_equal(shrunk, 3);
}

/* A required feature as one pointer. */
static const void *identity(const struct draft_feature *feature)
{
    if (feature->param != NULL)
        return feature->param;
    return feature->variant != DRAFT_NO_VARIANT
               ? (const void *)&feature->section->variants[feature->variant]
               : (const void *)feature->section;
}

/* Consecutive even seeds require every pair of features exactly once. */
static void test_pairs_are_required(void **state)
{
    static const void *first[MOST_MET];
    uint64_t round = 0, pairs = 0;
    struct draw draw = {.schema = &schema};

    (void)state;
    for (uint64_t seed = 0; round == 0 || seed < round * round; seed++) {
        draw.random = oche_random_stream(seed, "swarm", 0);
        draft_plan(&draw, 2 * seed); /* odd seeds bring rare events */
        assert_true(draw.required_count >= 2);
        const void *is = identity(&draw.required[0]), *with = identity(&draw.required[1]);

        if (round == 0 && seed > 0 && is == first[0])
            round = seed; /* each feature was the first one; now the second ones move on */
        if (round == 0) {
            assert_true(seed < MOST_MET);
            first[seed] = is;
            assert_ptr_equal(is, with);
            continue;
        }
        assert_ptr_equal(is, first[seed % round]);
        assert_ptr_equal(with, first[(seed % round + seed / round) % round]);
        pairs++;
    }
    assert_true(round > 80);
    assert_int_equal(pairs, round * round - round);
}

static bool is_required(const struct draw *draw, const char *name)
{
    struct draw other = {.schema = &schema};

    if (strncmp(name, "saw=", 4) == 0)
        return true;
    assert_true(draft_require(&other, name));
    for (uint32_t i = 0; i < draw->required_count; i++)
        if (identity(&draw->required[i]) == identity(&other.required[0]))
            return true;
    return false;
}

/* Each rare pair exists, is possible, and is required by some odd seed. */
static void test_rare_pairs_are_required(void **state)
{
    struct draw draw = {.schema = &schema};
    const char *names[2];
    size_t count = 0;

    (void)state;
    while (draft_rare_pair(count, names))
        count++;
    assert_true(count > 20);
    for (uint64_t seed = 1; seed < 4 * count; seed += 4) {
        assert_true(draft_rare_pair(seed / 4, names));
        if (coverage_impossible(names[0], names[1]) != NULL)
            fail_msg("%s and %s: %s", names[0], names[1], coverage_impossible(names[0], names[1]));
        draw.random = oche_random_stream(seed, "swarm", 0);
        draft_plan(&draw, seed);
        for (size_t i = 0; i < 2; i++)
            if (!is_required(&draw, names[i]))
                fail_msg("seed %u does not feature for %s", (unsigned)seed, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pure),
        cmocka_unit_test(test_read_as_drawn),
        cmocka_unit_test(test_all_is_drawn),
        cmocka_unit_test(test_shrink),
        cmocka_unit_test(test_pairs_are_required),
        cmocka_unit_test(test_rare_pairs_are_required),
    };

    if (chdir(SWARM_FOLDER) != 0)
        return 1;
    oche_schema_make(&schema);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
