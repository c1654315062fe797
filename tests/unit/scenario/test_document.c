/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as a tree that knows its lines; overrides; rejected texts, and the messages. */
#include "tests/support/test.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/scenario/document.h"

static struct oche_document *parse(const char *text)
{
    struct oche_error error;
    struct oche_document *document = oche_document_parse("f.yaml", text, strlen(text), &error);

    if (document == NULL)
        fail_msg("%s", error.text);
    return document;
}

static const struct oche_yaml *at(const struct oche_document *document, const char *key)
{
    return oche_yaml_find(oche_document_root(document), key);
}

static void test_nodes_know_their_lines(void **state)
{
    struct oche_document *document = parse("# a comment\n"
                                           "seed: 7\n"
                                           "topology:\n"
                                           "  type: star\n"
                                           "  hosts: 4\n"
                                           "workload:\n"
                                           "  - {type: incast,\n"
                                           "     load: 50%}\n"
                                           "  - permutation\n"
                                           "note:\n"
                                           "nothing: ~\n");
    const struct oche_yaml *workload = at(document, "workload");

    (void)state;
    assert_int_equal(at(document, "seed")->line, 2);
    assert_string_equal(at(document, "seed")->text, "7");
    assert_int_equal(oche_yaml_find(at(document, "topology"), "hosts")->line, 5);
    assert_string_equal(oche_yaml_find(at(document, "topology"), "hosts")->path, "topology.hosts");
    assert_int_equal(workload->kind, OCHE_YAML_LIST);
    assert_int_equal(workload->count, 2);
    assert_int_equal(oche_yaml_find(workload->child[0], "load")->line, 8);
    assert_string_equal(oche_yaml_find(workload->child[0], "load")->path, "workload[0].load");
    assert_string_equal(oche_yaml_find(workload->child[0], "load")->text, "50%");
    assert_int_equal(workload->child[1]->line, 9);
    assert_string_equal(workload->child[1]->text, "permutation");
    assert_string_equal(at(document, "note")->text, "");
    assert_string_equal(at(document, "nothing")->text, "");
    assert_null(at(document, "absent"));
    assert_int_equal(strncmp(oche_document_text(document), "# a comment\nseed", 16), 0);
    oche_document_close(document);
}

static void test_aliases_are_copied(void **state)
{
    struct oche_document *document = parse("a: &x {k: 1}\nb: *x\n");
    struct oche_error error;

    (void)state;
    assert_true(oche_document_set(document, "b.k=2", &error));
    assert_string_equal(oche_yaml_find(at(document, "a"), "k")->text, "1");
    assert_string_equal(oche_yaml_find(at(document, "b"), "k")->text, "2");
    oche_document_close(document);
}

static void test_bad_files_are_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "f.yaml:1: is empty; begin with a section, such as \"topology:\" of a scenario"},
        {"# only a comment\n",
         "f.yaml:1: is empty; begin with a section, such as \"topology:\" of a scenario"},
        {"[1, 2]\n", "f.yaml:1: is not a map of sections; begin with a section, such as "
                     "\"topology:\" of a scenario"},
        {"hello\n", "f.yaml:1: is not a map of sections; begin with a section, such as "
                    "\"topology:\" of a scenario"},
        {"a: 1\nb: 2\na: 3\n",
         "f.yaml:3: a: given twice; it is on line 1 already, keep one of them"},
        {"s:\n  k: 1\n  k: 2\n",
         "f.yaml:3: s.k: given twice; it is on line 2 already, keep one of them"},
        {"a: 1\n---\nb: 2\n", "f.yaml:3: a second document begins here; a file holds one"},
        {"? [1, 2]\n: 3\n", "f.yaml:1: a key is not a plain word; write it as key: value"},
        {"a: \"x\\0y\"\n", "f.yaml:1: a: has a zero byte in it; write plain text"},
        {"a: *nobody\n", "f.yaml:1: not YAML: found undefined alias; define it before with &name"},
        {"a: 1\n\tb: 2\n",
         "f.yaml:2: not YAML: found a tab character that violates indentation; indent by spaces, "
         "not tabs"},
        {"a: @b\n", "f.yaml:1: not YAML: found character that cannot start any token; indent by "
                    "spaces, not tabs, and quote a value that begins with a sign"},
        {"a: [1, 2\nb: 3\n",
         "f.yaml:2: not YAML: did not find expected ',' or ']'; check indentation, colons and "
         "brackets here and on the line before"},
        {"a: \xff\n", "f.yaml:1: not YAML: invalid leading UTF-8 octet; save the file as UTF-8 "
                      "text"},
        {"a: &x [*x]\n", "is nested more than 32 deep; write it flat"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_error error = {"accepted"};

        assert_null(oche_document_parse("f.yaml", rows[i].text, strlen(rows[i].text), &error));
        if (strncmp(rows[i].error, "f.yaml", 6) == 0)
            assert_string_equal(error.text, rows[i].error);
        else
            assert_non_null(strstr(error.text, rows[i].error));
    }
}

/* Nine aliases of nine aliases … : a small file, a billion values. */
static void test_alias_bombs_are_refused(void **state)
{
    char text[1024] = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    struct oche_error error;
    size_t used = strlen(text);

    (void)state;
    for (int i = 1; i < 10; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "a%d: &a%d [", i, i);
        for (int j = 0; j < 9; j++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s*a%d", j == 0 ? "" : ", ",
                                     i - 1);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "]\n");
    }
    assert_null(oche_document_parse("f.yaml", text, strlen(text), &error));
    assert_non_null(strstr(error.text, "makes more than 100000 values; use fewer aliases"));
}

/* Fast: if the time grew with the square of the depth, this would take minutes. */
static void test_deep_nesting_is_refused(void **state)
{
    static char text[1000000];
    struct oche_error error;

    (void)state;
    memset(text, '[', sizeof(text));
    memcpy(text, "a: 1\nb: ", 8);
    assert_null(oche_document_parse("f.yaml", text, sizeof(text), &error));
    assert_string_equal(error.text, "f.yaml:2: is nested more than 32 deep; write it flat");
}

static void test_files_are_read(void **state)
{
    char path[] = "/tmp/oche-document-XXXXXX";
    char expected[OCHE_ERROR_BYTES];
    struct oche_error error;
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(write(fd, "seed: 3\n", 8), 8);
    close(fd);
    struct oche_document *document = oche_document_open(path, &error);

    assert_non_null(document);
    assert_string_equal(oche_document_name(document), path);
    assert_string_equal(at(document, "seed")->text, "3");
    oche_document_close(document);
    unlink(path);
    assert_null(oche_document_open(path, &error));
    snprintf(expected, sizeof(expected),
             "%s: cannot be read: No such file or directory; give the path of a scenario file",
             path);
    assert_string_equal(error.text, expected);
    assert_null(oche_document_open("/tmp", &error));
    assert_string_equal(error.text,
                        "/tmp: cannot be read: Is a directory; give the path of a scenario file");
}

/* A file of some length: a key and a comment. */
static void write_file(const char *path, size_t bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("seed: 3\n#", file);
    for (size_t at = 9; at < bytes; at++)
        fputc('x', file);
    assert_int_equal(fclose(file), 0);
}

static void test_files_of_any_length(void **state)
{
    const size_t bytes[] = {9, 4095, 4096, 8191, 8192, 8193, (1 << 20), (16 << 20) - 1, (16 << 20)};
    char path[] = "/tmp/oche-document-XXXXXX";
    struct oche_error error;

    (void)state;
    close(mkstemp(path));
    for (size_t i = 0; i < OCHE_COUNT_OF(bytes); i++) {
        write_file(path, bytes[i]);
        struct oche_document *document = oche_document_open(path, &error);

        assert_non_null(document);
        assert_int_equal(strlen(oche_document_text(document)), bytes[i]);
        oche_document_close(document);
    }
    write_file(path, (16 << 20) + 1);
    assert_null(oche_document_open(path, &error));
    assert_non_null(strstr(error.text, "cannot be read: larger than 16 MiB; "));
    unlink(path);
}

/* A scenario is opened for each point of a sweep, so its memory must be of the file's size. */
static void test_a_small_file_takes_little_memory(void **state)
{
    char path[] = "/tmp/oche-document-XXXXXX";
    struct rusage before, after;
    struct oche_error error;

    (void)state;
    close(mkstemp(path));
    write_file(path, 100);
    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* large memory comes fresh from the kernel */
    mallopt(M_PERTURB, 85);             /* all allocated memory is written to */
    getrusage(RUSAGE_SELF, &before);
    struct oche_document *document = oche_document_open(path, &error);

    getrusage(RUSAGE_SELF, &after);
    mallopt(M_PERTURB, 0);
    assert_non_null(document);
    assert_in_range(after.ru_minflt - before.ru_minflt, 0, 256);
    oche_document_close(document);
    unlink(path);
}

static void test_overrides(void **state)
{
    struct oche_document *document = parse("seed: 1\n"
                                           "cc: dcqcn\n"
                                           "topology: {type: star, hosts: 4}\n"
                                           "workload: [{type: incast, load: 50%}]\n"
                                           "list: [a, b]\n");
    struct oche_error error;
    static const char *const sets[] = {
        "seed=2",
        "cc.g=1/256",
        "topology.hosts=8",
        "topology=star",
        "switch.pfc=true",
        "workload.load=30%",
        "workload[1]={type: x, n: [1, 2]}",
        "workload.1.m=5",
        "list[1]=c",
        "list[2]=d",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(sets); i++)
        if (!oche_document_set(document, sets[i], &error))
            fail_msg("%s: %s", sets[i], error.text);
    assert_string_equal(at(document, "seed")->text, "2");
    assert_string_equal(at(document, "seed")->set, "seed=2");
    assert_string_equal(at(document, "cc")->shorthand->text, "dcqcn");
    assert_string_equal(oche_yaml_find(at(document, "cc"), "g")->text, "1/256");
    assert_string_equal(oche_yaml_find(at(document, "topology"), "hosts")->text, "8");
    assert_string_equal(oche_yaml_find(at(document, "switch"), "pfc")->text, "true");

    const struct oche_yaml *workload = at(document, "workload");

    assert_int_equal(workload->count, 2);
    assert_string_equal(oche_yaml_find(workload->child[0], "load")->text, "30%");
    assert_string_equal(oche_yaml_find(workload->child[0], "load")->set, "workload.load=30%");
    assert_string_equal(oche_yaml_find(workload->child[1], "n")->child[1]->text, "2");
    assert_string_equal(oche_yaml_find(workload->child[1], "m")->text, "5");
    assert_int_equal(at(document, "list")->count, 3);
    assert_string_equal(at(document, "list")->child[1]->text, "c");
    oche_document_close(document);
}

/*
 * A list of one, written as its entry, may get an index. A list without an index before gets a
 * second entry.
 */
static void test_an_index_into_an_only_entry(void **state)
{
    struct oche_document *document = parse("workload: {type: incast, load: 50%}\n"
                                           "short: incast\n");
    struct oche_error error;
    static const char *const sets[] = {"workload[0].load=30%", "short[0].load=10%",
                                       "short[1]=background"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(sets); i++)
        if (!oche_document_set(document, sets[i], &error))
            fail_msg("%s: %s", sets[i], error.text);
    const struct oche_yaml *workload = at(document, "workload"), *two = at(document, "short");

    assert_int_equal(workload->kind, OCHE_YAML_LIST);
    assert_int_equal(workload->count, 1);
    assert_string_equal(oche_yaml_find(workload->child[0], "type")->text, "incast");
    assert_string_equal(oche_yaml_find(workload->child[0], "load")->text, "30%");
    assert_int_equal(two->count, 2);
    assert_string_equal(two->child[0]->shorthand->text, "incast");
    assert_string_equal(two->child[1]->text, "background");
    assert_false(oche_document_set(document, "workload[2].load=1", &error));
    assert_string_equal(error.text,
                        "--set workload[2].load=1: workload: \"2\" is not an entry of this "
                        "list of 1; write workload[0] for the first");
    oche_document_close(document);
}

/* An index makes the missing list, which begins with its first entry. */
static void test_an_index_into_no_list(void **state)
{
    struct oche_document *document = parse("name: x\nwork:\n");
    struct oche_error error;
    static const char *const sets[] = {"failures[0].link=a:b", "failures[0].at=1ms",
                                       "failures[1].link=b:c", "work[0]=incast"};

    (void)state;
    assert_false(oche_document_set(document, "other[1].at=1", &error));
    assert_string_equal(error.text,
                        "--set other[1].at=1: other: \"1\" is not an entry of this list of "
                        "0; write other[0] for the first");
    for (size_t i = 0; i < OCHE_COUNT_OF(sets); i++)
        if (!oche_document_set(document, sets[i], &error))
            fail_msg("%s: %s", sets[i], error.text);
    const struct oche_yaml *failures = at(document, "failures"), *work = at(document, "work");

    assert_int_equal(failures->kind, OCHE_YAML_LIST);
    assert_int_equal(failures->count, 2);
    assert_string_equal(failures->child[0]->path, "failures[0]");
    assert_string_equal(oche_yaml_find(failures->child[0], "link")->text, "a:b");
    assert_string_equal(oche_yaml_find(failures->child[0], "at")->text, "1ms");
    assert_string_equal(oche_yaml_find(failures->child[1], "link")->path, "failures[1].link");
    assert_int_equal(work->kind, OCHE_YAML_LIST);
    assert_string_equal(work->child[0]->text, "incast");
    oche_document_close(document);
}

static void test_a_section_set_to_its_own_name_keeps_its_keys(void **state)
{
    struct oche_document *document = parse("cc: {name: dcqcn, g: 1/16}\n");
    struct oche_error error;

    (void)state;
    assert_true(oche_document_set(document, "cc=dcqcn", &error));
    assert_string_equal(oche_yaml_find(at(document, "cc"), "g")->text, "1/16");
    assert_true(oche_document_set(document, "cc=none", &error));
    assert_int_equal(at(document, "cc")->kind, OCHE_YAML_SCALAR);
    assert_string_equal(at(document, "cc")->text, "none");
    assert_true(oche_document_set(document, "cc.g=1/8", &error));
    assert_true(oche_document_set(document, "cc=none", &error));
    assert_string_equal(oche_yaml_find(at(document, "cc"), "g")->text, "1/8");
    oche_document_close(document);
}

static void test_bad_overrides_are_refused(void **state)
{
    static const struct {
        const char *set, *error;
    } rows[] = {
        {"seed", "--set seed: not KEY=VALUE; write it as switch.buffer=9MB"},
        {"=3", "--set =3: not KEY=VALUE; write it as switch.buffer=9MB"},
        {"a..b=3", "--set a..b=3: not a key; write parts with dots between, such as switch.buffer "
                   "or workload[0].load"},
        {"a.=3", "--set a.=3: not a key; write parts with dots between, such as switch.buffer or "
                 "workload[0].load"},
        {"a[0=3", "--set a[0=3: not a key; write parts with dots between, such as switch.buffer "
                  "or workload[0].load"},
        {"a]=3", "--set a]=3: not a key; write parts with dots between, such as switch.buffer or "
                 "workload[0].load"},
        {"a=[1", "--set a=[1: not YAML: did not find expected ',' or ']'; quote the value"},
        {"a=%1", "--set a=%1: not YAML: found unknown directive name; quote the value"},
        {"a={k: 1, k: 2}",
         "--set a={k: 1, k: 2}: a.k: given twice; it is on line 1 already, keep one of them"},
        {"list[5]=x", "--set list[5]=x: list: \"5\" is not an entry of this list of 2; write "
                      "list[0] for the first"},
        {"list.load=x", "--set list.load=x: list: \"load\" is not an entry of this list of 2; "
                        "write list[0] for the first"},
    };
    struct oche_document *document = parse("list: [a, b]\n");

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_error error = {"accepted"};

        assert_false(oche_document_set(document, rows[i].set, &error));
        assert_string_equal(error.text, rows[i].error);
    }
    oche_document_close(document);
}

static void test_errors_are_one_line(void **state)
{
    struct oche_document *document = parse("a: \"x\\ny\"\n");
    struct oche_error error;

    (void)state;
    assert_false(oche_document_fail(document, at(document, "a"), "b", &error, "%s is bad",
                                    at(document, "a")->text));
    assert_string_equal(error.text, "f.yaml:1: a.b: x\\ny is bad");
    oche_document_close(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first, while the heap is small */
        cmocka_unit_test(test_a_small_file_takes_little_memory),
        cmocka_unit_test(test_nodes_know_their_lines),
        cmocka_unit_test(test_aliases_are_copied),
        cmocka_unit_test(test_bad_files_are_refused),
        cmocka_unit_test(test_alias_bombs_are_refused),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_files_are_read),
        cmocka_unit_test(test_files_of_any_length),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_an_index_into_an_only_entry),
        cmocka_unit_test(test_an_index_into_no_list),
        cmocka_unit_test(test_a_section_set_to_its_own_name_keeps_its_keys),
        cmocka_unit_test(test_bad_overrides_are_refused),
        cmocka_unit_test(test_errors_are_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
