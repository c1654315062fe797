/* SPDX-License-Identifier: Apache-2.0 */
/* Sections bound to made-up tables: values, defaults, shorthands, and every kind of error. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/scenario/bind.h"

struct root {
    uint64_t seed;
    oche_time duration;
    const char *name;
};
static const struct oche_param root_params[] = {
    {OCHE_PARAM(struct root, seed), OCHE_IS_COUNT(1, 0, UINT64_MAX),
     .help = "names the random streams"},
    {OCHE_PARAM(struct root, duration), OCHE_IS_TIME(10 * OCHE_MS, 1, OCHE_NEVER),
     .help = "simulated"},
    {OCHE_PARAM(struct root, name), OCHE_IS_TEXT},
};
static const struct oche_param_table root_table = {root_params, OCHE_COUNT_OF(root_params) - 1,
                                                   sizeof(struct root)};
static const struct oche_param_table more_root_table = {&root_params[2], 1, sizeof(struct root)};

struct buffer {
    uint64_t bytes;
    bool pfc;
    double beta;
};
static const struct oche_param buffer_params[] = {
    {OCHE_PARAM_AS("buffer", struct buffer, bytes), OCHE_IS_BYTES(9000000, 1000, UINT64_MAX),
     .where = "here"},
    {OCHE_PARAM(struct buffer, pfc), OCHE_IS_BOOL(true), .of_all = true},
    {OCHE_PARAM(struct buffer, beta), OCHE_IS_REAL(8, 0, 100)},
};
static const struct oche_param_table buffer_table = OCHE_PARAM_TABLE(buffer_params, struct buffer);

struct star {
    uint64_t hosts;
    const char *file, *ports;
};
static const struct oche_param star_params[] = {
    {OCHE_PARAM(struct star, hosts), OCHE_IS_COUNT(4, 1, 1024), .help = "leaves"},
    {OCHE_PARAM(struct star, file), OCHE_IS_TEXT},
    {OCHE_PARAM(struct star, ports), OCHE_IS_TEXT},
};
static const struct oche_param_table star_table = OCHE_PARAM_TABLE(star_params, struct star);
static const struct oche_param_table no_table = {.struct_bytes = 1};

static const struct oche_variant topologies[] = {
    {.name = "star", .help = "one switch", .table = &star_table, .type = "the star"},
    {.name = "ring", .help = NULL, .table = &no_table, .type = "the ring"},
};
static const struct oche_section sections[] = {
    {.name = "", .help = "at the root", .table = &root_table},
    {.name = "", .help = "more at the root", .table = &more_root_table},
    {.name = "topology",
     .help = "which",
     .selector = "type",
     .variants = topologies,
     .variant_count = 2},
    {.name = "switch", .help = "each", .table = &buffer_table},
    {.name = "cc",
     .help = "scheme",
     .selector = "name",
     .variants = topologies,
     .variant_count = 2,
     .preset = "ring"},
    {.name = "work",
     .help = "what",
     .selector = "type",
     .variants = topologies,
     .variant_count = 2,
     .list = true,
     .optional = true},
    {.name = "switch.leaf",
     .help = "some",
     .table = &buffer_table,
     .optional = true,
     .within = &sections[3]},
};

static struct oche_error error;
static struct oche_mistakes mistakes;
static struct oche_bindings bindings;

static struct oche_document *bind_as(const char *name, const char *text, const char *set)
{
    struct oche_document *document = oche_document_parse(name, text, strlen(text), &error);

    if (document == NULL)
        return NULL;
    mistakes.count = 0;
    bool fine = set == NULL || oche_document_set(document, set, &error);

    if (fine && !oche_bind(document, sections, OCHE_COUNT_OF(sections), &bindings, &mistakes)) {
        fine = false;
        error = mistakes.kept[0].error;
    }
    if (!fine) {
        oche_document_close(document);
        return NULL;
    }
    return document;
}

static struct oche_document *bind(const char *text, const char *set)
{
    struct oche_document *document = bind_as("dir/f.yaml", text, set);

    if (document == NULL)
        fail_msg("%s", error.text);
    return document;
}

static void test_values_arrive(void **state)
{
    struct oche_document *document = bind("seed: 7\n"
                                          "name: try\n"
                                          "topology:\n"
                                          "  type: star\n"
                                          "  hosts: 128\n"
                                          "  file: a.topo\n"
                                          "  ports: [t0:1, t0:2]\n"
                                          "switch: {buffer: 12MB, pfc: false}\n"
                                          "work:\n"
                                          "  - {type: star, hosts: 2}\n"
                                          "  - ring\n",
                                          NULL);
    const struct root *root = oche_bindings_find(&bindings, "")->values;
    const struct oche_bound *topology = oche_bindings_find(&bindings, "topology");
    const struct star *star = topology->values;
    const struct buffer *buffer = oche_bindings_find(&bindings, "switch")->values;
    const struct oche_bound *work = oche_bindings_find(&bindings, "work");

    (void)state;
    assert_int_equal(root->seed, 7);
    assert_int_equal(root->duration, 10 * OCHE_MS);
    assert_string_equal(((const struct root *)bindings.bound[1].values)->name, "try");
    assert_string_equal(topology->variant->type, "the star");
    assert_int_equal(star->hosts, 128);
    assert_string_equal(star->file, "dir/a.topo");
    assert_string_equal(star->ports, "t0:1,t0:2");
    assert_int_equal(buffer->bytes, 12000000);
    assert_false(buffer->pfc);
    assert_true(buffer->beta == 8);
    assert_string_equal(oche_bindings_find(&bindings, "cc")->variant->name, "ring");
    assert_int_equal(bindings.count, 7);
    assert_string_equal(work[0].path, "work[0]");
    assert_int_equal(((const struct star *)work[0].values)->hosts, 2);
    assert_string_equal(work[1].variant->name, "ring");
    oche_document_close(document);
}

static void collect(void *context, const char *key, const char *value, const char *unit, bool given)
{
    char *text = context;
    size_t used = strlen(text);

    snprintf(text + used, 2048 - used, "%s=%s (%s)%s\n", key, value, unit, given ? " given" : "");
}

/* A section within another takes missing values from it, in any order. */
static void test_sections_within_others(void **state)
{
    struct oche_document *document =
        bind("topology: star\nswitch: {leaf: {beta: 3}, buffer: 12MB, pfc: false}\n", NULL);
    const struct oche_bound *leaf = oche_bindings_find(&bindings, "switch.leaf");
    const struct buffer *values = leaf->values;
    char text[2048] = "";

    (void)state;
    assert_int_equal(values->bytes, 12000000);
    assert_false(values->pfc);
    assert_true(values->beta == 3);
    oche_bindings_each(&bindings, collect, text);
    assert_non_null(strstr(text, "switch.leaf.buffer=12MB (bytes)\nswitch.leaf.beta=3 (real) "
                                 "given\n"));
    assert_null(strstr(text, "switch.leaf.pfc"));
    oche_bindings_fail(document, &bindings, "switch.leaf.beta: is odd", &error);
    assert_string_equal(error.text, "dir/f.yaml:2: switch.leaf.beta: is odd");
    oche_document_close(document);
    document = bind("topology: star\n", "switch.leaf.buffer=2MB");
    values = oche_bindings_find(&bindings, "switch.leaf")->values;
    assert_int_equal(values->bytes, 2000000);
    oche_document_close(document);
    document = bind("topology: star\nswitch: {leaf: }\n", NULL);
    assert_null(oche_bindings_find(&bindings, "switch.leaf"));
    oche_document_close(document);
}

static void test_shorthands(void **state)
{
    struct oche_document *document = bind("topology: star\ncc: star\nwork: {type: ring}\n", NULL);

    (void)state;
    assert_string_equal(oche_bindings_find(&bindings, "topology")->variant->name, "star");
    assert_string_equal(oche_bindings_find(&bindings, "cc")->variant->name, "star");
    assert_string_equal(oche_bindings_find(&bindings, "work")->variant->name, "ring");
    assert_string_equal(oche_bindings_find(&bindings, "work")->path, "work");
    oche_document_close(document);

    /* A name in an override, whose keys follow; a section that only an override has. */
    document = bind("topology: star\n", "topology.hosts=9");
    assert_int_equal(
        ((const struct star *)oche_bindings_find(&bindings, "topology")->values)->hosts, 9);
    oche_document_close(document);
    document = bind("topology: star\n", "switch.buffer=1MB");
    assert_int_equal(
        ((const struct buffer *)oche_bindings_find(&bindings, "switch")->values)->bytes, 1000000);
    oche_document_close(document);
    /* A preset's keys without its name. */
    document = bind("topology: {type: star, hosts: 3}\ncc: {}\nswitch:\n", "seed=3");
    assert_string_equal(oche_bindings_find(&bindings, "cc")->variant->name, "ring");
    oche_document_close(document);
}

static void test_files_of_overrides_are_where_we_are(void **state)
{
    struct oche_document *document = bind("topology: star\n", "topology.file=b.topo");

    (void)state;
    assert_string_equal(
        ((const struct star *)oche_bindings_find(&bindings, "topology")->values)->file, "b.topo");
    oche_document_close(document);
    document = bind_as("f.yaml", "topology: {type: star, file: c.topo}\n", NULL);
    assert_string_equal(
        ((const struct star *)oche_bindings_find(&bindings, "topology")->values)->file, "c.topo");
    oche_document_close(document);
}

/* An override's file is found beside the scenario if the working directory does not have it. */
static void test_files_of_overrides_may_be_beside(void **state)
{
    char folder[] = "/tmp/oche-bind-XXXXXX", path[64], name[64];
    struct oche_document *document;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/beside.topo", folder);
    snprintf(name, sizeof(name), "%s/f.yaml", folder);
    for (int there = 0; there < 2; there++) {
        if (there)
            fclose(fopen(path, "w"));
        document = bind_as(name, "topology: star\n", "topology.file=beside.topo");
        assert_string_equal(
            ((const struct star *)oche_bindings_find(&bindings, "topology")->values)->file,
            there ? path : "beside.topo");
        oche_document_close(document);
    }
    unlink(path);
    rmdir(folder);
}

static void test_wrong_scenarios_are_refused(void **state)
{
    static const struct {
        const char *text, *set, *error;
    } rows[] = {
        {"sed: 1\ntopology: star\n", NULL, "f.yaml:1: sed: unknown key; did you mean \"seed\"?"},
        {"topology: star\n\nswich: {}\n", NULL,
         "f.yaml:3: swich: unknown key; did you mean \"switch\"?"},
        {"topology: star\nquux: 1\n", NULL,
         "f.yaml:2: quux: unknown key; write one of seed, duration, name, topology, switch, "
         "cc, work"},
        {"topology:\n  type: star\n  host: 3\n", NULL,
         "f.yaml:3: topology.host: unknown key; did you mean \"hosts\"?"},
        {"topology: {type: ring, hosts: 3}\n", NULL,
         "f.yaml:1: topology.hosts: unknown key; write one of type"},
        {"seed: 1\n", NULL, "f.yaml:1: topology: is missing; add \"topology: {type: star}\""},
        {"topology: {hosts: 3}\n", NULL,
         "f.yaml:1: topology.type: is missing; write one of star, ring"},
        {"topology: {type: strar}\n", NULL,
         "f.yaml:1: topology.type: \"strar\" is not known; did you mean \"star\"? (star, ring)"},
        {"topology: clos\n", NULL,
         "f.yaml:1: topology: \"clos\" is not known; write one of star, ring"},
        {"topology:\n", NULL, "f.yaml:1: topology: is missing; write one of star, ring"},
        {"topology: [star]\n", NULL,
         "f.yaml:1: topology: is a list; write one type, or a map with the key type"},
        {"topology: {type: [star]}\n", NULL,
         "f.yaml:1: topology.type: is not a name; write it as type: NAME"},
        {"topology:\n  type: star\n  hosts: 0\n", NULL,
         "f.yaml:3: topology.hosts: 0 is out of range; from 1 to 1024"},
        {"topology:\n  type: star\n  hosts: many\n", NULL,
         "f.yaml:3: topology.hosts: \"many\" is not a whole number; write a whole number, such as "
         "128"},
        {"topology: {type: star, hosts: [3]}\n", NULL,
         "f.yaml:1: topology.hosts: is a list; write one value (count)"},
        {"topology: {type: star, hosts: {a: 3}}\n", NULL,
         "f.yaml:1: topology.hosts: is a map; write one value (count)"},
        {"topology: {type: star, ports: [{a: 3}]}\n", NULL,
         "f.yaml:1: topology.ports[0]: is a map or a list; write a list of plain words"},
        {"topology: star\nswitch: big\n", NULL,
         "f.yaml:2: switch: is not a section; write its keys below it, as KEY: VALUE"},
        {"topology: star\nswitch: {buffer: 12}\n", NULL,
         "f.yaml:2: switch.buffer: 12 has no unit; add one of B, KiB, MiB, GiB, TiB, KB, MB, GB or "
         "TB"},
        {"topology: star\nswitch: {leaf: {pfc: true}}\n", NULL,
         "f.yaml:2: switch.leaf.pfc: has one value for the whole network; write it as switch.pfc"},
        {"topology: star\nswitch: {leaf: 3}\n", NULL,
         "f.yaml:2: switch.leaf: is not a section; write its keys below it, as KEY: VALUE"},
        {"topology: star\nswitch: {laef: {beta: 1}}\n", NULL,
         "f.yaml:2: switch.laef: unknown key; did you mean \"leaf\"?"},
        {"topology: star\nwork:\n- ring\n- {type: star, hosts: 0}\n", NULL,
         "f.yaml:4: work[1].hosts: 0 is out of range; from 1 to 1024"},
        {"topology: star\n", "topology.hosts=0",
         "--set topology.hosts=0: topology.hosts: 0 is out of range; from 1 to 1024"},
        {"topology: star\n", "swich.pfc=true",
         "--set swich.pfc=true: swich: unknown key; did you mean \"switch\"?"},
        {"topology: star\n", "seed.x=1", "--set seed.x=1: seed: is a map; write one value (count)"},
        {"topology: star\ntopology: ring\n", NULL,
         "f.yaml:2: topology: given twice; it is on line 1 already, keep one of them"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_document *document = bind_as("f.yaml", rows[i].text, rows[i].set);

        if (document != NULL)
            fail_msg("accepted: %s", rows[i].text);
        assert_string_equal(error.text, rows[i].error);
    }
}

static void test_checks_of_a_table_are_placed(void **state)
{
    struct oche_document *document = bind("topology:\n  type: star\n  hosts: 3\n", "switch.beta=2");
    const struct oche_bound *topology = oche_bindings_find(&bindings, "topology");
    const struct oche_bound *cc = oche_bindings_find(&bindings, "cc");

    (void)state;
    oche_bound_fail(document, topology, "hosts: 3 is odd; make it even", &error);
    assert_string_equal(error.text, "dir/f.yaml:3: topology.hosts: 3 is odd; make it even");
    oche_bound_fail(document, topology, "ports: are missing; name some", &error);
    assert_string_equal(error.text, "dir/f.yaml:1: topology.ports: are missing; name some");
    oche_bound_fail(document, topology, "bad: all of it", &error);
    assert_string_equal(error.text, "dir/f.yaml:1: topology: bad: all of it");
    oche_bound_fail(document, oche_bindings_find(&bindings, "switch"), "beta: too small", &error);
    assert_string_equal(error.text, "--set switch.beta=2: switch.beta: too small");
    oche_bound_fail(document, cc, "needs ECN; set switch.ecn to true", &error);
    assert_string_equal(error.text, "dir/f.yaml: cc: needs ECN; set switch.ecn to true");
    oche_document_close(document);
}

static void test_messages_with_a_path_are_placed(void **state)
{
    static const struct {
        const char *message, *error;
    } rows[] = {
        {"topology.hosts: 3 is odd; make it even",
         "dir/f.yaml:3: topology.hosts: 3 is odd; make it even"},
        {"switch: too small (at tor0)", "dir/f.yaml: switch: too small (at tor0)"},
        {"switch.beta: too small", "dir/f.yaml: switch.beta: too small"},
        {"work[1]: hosts: 7 is odd", "dir/f.yaml:6: work[1].hosts: 7 is odd"},
        {"work[0].file: is missing", "dir/f.yaml:5: work[0].file: is missing"},
        {"work: 20 of them; at most 10", "dir/f.yaml:4: work: 20 of them; at most 10"},
        {"other.cdf:3: not monotone", "other.cdf:3: not monotone"},
        {"out of luck", "out of luck"},
        {"seed: is unlucky", "dir/f.yaml:7: seed: is unlucky"},
        {"duration: is short", "dir/f.yaml: duration: is short"},
    };
    struct oche_document *document = bind("topology:\n  type: star\n  hosts: 3\n"
                                          "work:\n  - star\n  - {type: star, hosts: 7}\n"
                                          "seed: 13\n",
                                          NULL);

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        assert_false(oche_bindings_fail(document, &bindings, rows[i].message, &error));
        assert_string_equal(error.text, rows[i].error);
    }
    oche_document_close(document);
    document = bind("topology: star\nwork: {type: star,\n hosts: 7}\n", NULL);
    oche_bindings_fail(document, &bindings, "work[0]: hosts: 7 is odd", &error);
    assert_string_equal(error.text, "dir/f.yaml:3: work.hosts: 7 is odd");
    oche_document_close(document);
}

static void test_the_effective_list(void **state)
{
    struct oche_document *document =
        bind("seed: 7\ntopology: {type: star, hosts: 128}\nwork: [ring]\n", "switch.buffer=1MB");
    char text[2048] = "";

    (void)state;
    oche_bindings_each(&bindings, collect, text);
    assert_string_equal(text, "seed=7 (count) given\n"
                              "duration=10ms (time)\n"
                              "name= (text)\n"
                              "topology.type=star (choice) given\n"
                              "topology.hosts=128 (count) given\n"
                              "topology.file= (text)\n"
                              "topology.ports= (text)\n"
                              "switch.buffer=1MB (bytes) given\n"
                              "switch.pfc=true (bool)\n"
                              "switch.beta=8 (real)\n"
                              "cc.name=ring (choice)\n"
                              "work[0].type=ring (choice) given\n");
    oche_document_close(document);
}

static void test_what_can_be_written_is_printed(void **state)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    oche_sections_print(sections, OCHE_COUNT_OF(sections), out);
    fclose(out);
    assert_non_null(strstr(text, "    duration                 time    default 10ms; at least 1ps\n"
                                 "        simulated\n"));
    assert_non_null(strstr(text, "switch: each\n"
                                 "    buffer                   bytes   default 9MB; at least 1KB\n"
                                 "        [here]\n"));
    assert_non_null(strstr(text, "\ntopology: which\n  type: star\n      one switch\n"
                                 "    hosts                    count   default 4; 1 to 1024\n"));
    assert_non_null(strstr(text, "  name: ring  (default)\n"));
    assert_non_null(strstr(text, "\nwork: (a list) what\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_arrive),
        cmocka_unit_test(test_sections_within_others),
        cmocka_unit_test(test_shorthands),
        cmocka_unit_test(test_files_of_overrides_are_where_we_are),
        cmocka_unit_test(test_files_of_overrides_may_be_beside),
        cmocka_unit_test(test_wrong_scenarios_are_refused),
        cmocka_unit_test(test_checks_of_a_table_are_placed),
        cmocka_unit_test(test_messages_with_a_path_are_placed),
        cmocka_unit_test(test_the_effective_list),
        cmocka_unit_test(test_what_can_be_written_is_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
