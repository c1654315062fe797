/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: their file, what of it is refused, and the verdicts that claims give them. */
#include "lab/reproduce/statements.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static const char paper_text[] =
    "title: T\nauthors: A\npublished: P\nfigures: [f, g]\nquantities: {}\n";
static const char figure_text[] =
    "title: T\nplace: P\nscenario: s.yaml\n"
    "grids: [{vary: {recovery: [a, b], loss.probability: [0]}}]\n"
    "quantities: {speed: {metric: goodput}}\n"
    "at: {recovery: a}\n"
    "also: [{label: by b, at: {recovery: b}}]\n"
    "claims:\n"
    "  - {name: one, text: t, kind: value, quantity: speed, place: p, source: text, confidence: "
    "high,\n"
    "     published: 1Gbps, tolerance: {relative: 0.1, in_shape: 0.2}}\n";
static struct oche_error error;

static struct oche_paper *paper_open(void)
{
    struct oche_paper *paper = oche_paper_parse("papers/p/paper.yaml", paper_text, &error);

    if (paper == NULL)
        fail_msg("%s", error.text);
    return paper;
}

static void parse(struct oche_paper_statements *statements, const struct oche_paper *paper,
                  const char *text)
{
    if (!oche_paper_statements_parse(statements, paper, "p/statements.yaml", text, &error))
        fail_msg("%s", error.text);
}

#define STATEMENT(name, claims)                                                                    \
    "  - {name: " name ", text: t, place: sec 1, published: 3, source: text, decided_by: " claims  \
    "}\n"

/* ---- the file ---- */

static void test_bad_statements_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"declared: []\n", "p/statements.yaml:1: has no list of statements; write statements: and "
                           "below it - {…}"},
        {"statements: []\n", "p/statements.yaml:1: statements: has no list of statements; write "
                             "statements: and below it - {…}"},
        {"statements:\n  - {name: a}\n",
         "p/statements.yaml:2: statements[0]: has no \"text\"; add text: TEXT"},
        {"statements:\n" STATEMENT("a", "[f]"),
         "p/statements.yaml:2: statements[0].decided_by[0]: \"f\" is not FIGURE/CLAIM; write "
         "fig2/gbn_1e-3"},
        {"statements:\n" STATEMENT("a", "[h/one]"),
         "p/statements.yaml:2: statements[0].decided_by[0]: \"h\" is not a figure of the paper; "
         "did you mean \"f\"? (f, g)"},
        {"statements:\n" STATEMENT("a", "[f/one]") STATEMENT("a", "[g/one]"),
         "p/statements.yaml:3: statements[1].name: \"a\" is there twice; give another name"},
        {"statements:\n  - {name: a, text: t, place: p, published: 3, decided_by: [f/one]}\n",
         "p/statements.yaml:2: statements[0]: has no \"source\"; add source: text, plot or memory"},
        {"statements:\n  - {name: a, text: t, place: p, published: 3, source: own, decided_by: "
         "[f/one]}\n",
         "p/statements.yaml:2: statements[0].source: \"own\" is not known; one of text, plot, "
         "memory"},
        {"statements:\n  - {name: a, text: t, place: p, published: 3, source: text}\n",
         "p/statements.yaml:2: statements[0]: has no \"decided_by\"; add decided_by: "
         "[FIGURE/CLAIM]"},
        {"statements:\n" STATEMENT("a", "[f/one, g/one, f/one]"),
         "p/statements.yaml:2: statements[0].decided_by[2]: \"f/one\" is there twice; write it "
         "once"},
        {"statements:\n" STATEMENT("\"a\\e[31m\"", "[f/one]"),
         "p/statements.yaml:2: statements[0].name: has control characters; leave out what a "
         "terminal does not print"},
        {"statements:\n" STATEMENT("a", "[f/one]") "declared:\n  - {reading: x, because: y}\n"
                                                   "  - {reading: x, because: z}\n",
         "p/statements.yaml:5: declared[1].reading: \"x\" is there twice; declare it once"},
        {"statements:\n" STATEMENT("a", "[f/one]") "declared: [{reading: x}]\n",
         "p/statements.yaml:3: declared[0]: has no \"because\"; add because: TEXT"},
    };
    struct oche_paper *paper = paper_open();

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_paper_statements statements;

        assert_false(oche_paper_statements_parse(&statements, paper, "p/statements.yaml",
                                                 rows[i].text, &error));
        assert_string_equal(error.text, rows[i].error);
    }
    oche_paper_close(paper);
}

/* Claims and readings that no figure has are found once the figures are open. */
static void test_statements_are_checked_against_figures(void **state)
{
    struct oche_paper *paper = paper_open();
    const struct oche_study *studies[2];
    struct oche_paper_statements statements;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        studies[i] = oche_study_parse(paper, i == 0 ? "p/figures/f.yaml" : "p/figures/g.yaml",
                                      figure_text, false, &error);
        if (studies[i] == NULL)
            fail_msg("%s", error.text);
    }
    parse(&statements, paper, "statements:\n" STATEMENT("a", "[f/one, g/two]"));
    assert_true(oche_paper_statements_check(&statements, studies, 1, paper, &error));
    assert_false(oche_paper_statements_check(&statements, studies, 2, paper, &error));
    assert_string_equal(error.text,
                        "p/statements.yaml:2: statements[0].decided_by[1]: \"two\" is not a claim "
                        "of the figure; one of one");
    oche_paper_statements_close(&statements);
    parse(&statements, paper,
          "statements:\n" STATEMENT(
              "a",
              "[f/one]") "declared: [{reading: by b, because: x}, {reading: by c, because: x}]\n");
    assert_true(oche_paper_statements_check(&statements, studies, 1, paper, &error));
    assert_false(oche_paper_statements_check(&statements, studies, 2, paper, &error));
    assert_string_equal(error.text, "p/statements.yaml:3: declared[1].reading: \"by c\" is not the "
                                    "label of a reading in a figure; take one of \"also\"");
    oche_paper_statements_close(&statements);
    for (size_t i = 0; i < 2; i++)
        oche_study_close((struct oche_study *)(uintptr_t)studies[i]);
    oche_paper_close(paper);
}

/* Figure f with the claims "ours" and "remembered", which no statement of the text may rest on. */
static const char other_claims[] =
    "  - {name: ours, text: t, kind: value, quantity: speed, place: p, source: own, confidence: "
    "high,\n"
    "     published: 1Gbps, tolerance: {relative: 0.1, in_shape: 0.2}}\n"
    "  - {name: remembered, text: t, kind: value, quantity: speed, place: p, source: memory,\n"
    "     confidence: high, published: 1Gbps, tolerance: {relative: 0.1, in_shape: 0.2}}\n"
    "  - {name: drawn, text: t, kind: value, quantity: speed, place: p, source: plot, confidence: "
    "high,\n"
    "     published: 1Gbps, tolerance: {relative: 0.1, in_shape: 0.2}}\n";

/* A statement is the paper's, so that its claims are; memory decides only what is from memory. */
static void test_only_claims_of_the_paper_decide(void **state)
{
    static const struct {
        const char *source, *claims, *error; /* error: NULL: none */
    } rows[] = {
        {"text", "[f/one, f/ours]",
         "p/statements.yaml:2: statements[0].decided_by[1]: f/ours is this project's own claim; a "
         "statement is decided by the paper's"},
        {"memory", "f/ours",
         "p/statements.yaml:2: statements[0].decided_by: f/ours is this project's own claim; a "
         "statement is decided by the paper's"},
        {"text", "[f/remembered]",
         "p/statements.yaml:2: statements[0].decided_by[0]: f/remembered is a claim from memory; a "
         "statement with source: text is decided by claims of the paper's text or plots"},
        {"plot", "[f/remembered]",
         "p/statements.yaml:2: statements[0].decided_by[0]: f/remembered is a claim from memory; a "
         "statement with source: plot is decided by claims of the paper's text or plots"},
        {"memory", "[f/one, f/remembered]", NULL},
        {"text", "[f/one, f/drawn]", NULL},
    };
    struct oche_paper *paper = paper_open();
    char *text = NULL;

    (void)state;
    assert_true(asprintf(&text, "%s%s", figure_text, other_claims) > 0);
    struct oche_study *study = oche_study_parse(paper, "p/figures/f.yaml", text, false, &error);

    if (study == NULL)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_paper_statements statements;
        char file[200];

        snprintf(file, sizeof(file),
                 "statements:\n  - {name: a, text: t, place: p, published: 3, source: %s, "
                 "decided_by: %s}\n",
                 rows[i].source, rows[i].claims);
        parse(&statements, paper, file);
        assert_int_equal(oche_paper_statements_check(
                             &statements, (const struct oche_study *[]){study}, 1, paper, &error),
                         rows[i].error == NULL);
        if (rows[i].error != NULL)
            assert_string_equal(error.text, rows[i].error);
        oche_paper_statements_close(&statements);
    }
    oche_study_close(study);
    free(text);
    oche_paper_close(paper);
}

/* ---- verdicts ---- */

#define LINE(figure_, claim_, reading_, finding_, unsure_)                                         \
    {                                                                                              \
        .figure = figure_, .claim = claim_, .reading = reading_, .finding = finding_,              \
        .unsure = unsure_                                                                          \
    }
#define YES   OCHE_FINDING_REPRODUCED
#define SHAPE OCHE_FINDING_IN_SHAPE
#define NO    OCHE_FINDING_NOT_REPRODUCED

static struct oche_result_line lines[] = {
    LINE("f", "yes", "", YES, false),
    LINE("f", "maybe", "", YES, true),
    LINE("f", "shape", "", SHAPE, false),
    LINE("f", "no", "", NO, false),
    LINE("f", "no", "by b", YES, false),
    LINE("f", "rather_not", "", NO, true),
    LINE("f", "rather_not", "by a, b", SHAPE, false),
    LINE("f", "outside", "", OCHE_FINDING_NOT_JUDGED, false),
    LINE("g", "yes", "", NO, false),
    LINE("g", "yes", "by b", NO, false),
};
static const struct oche_results results = {lines, OCHE_COUNT_OF(lines)};

static void test_claims_decide(void **state)
{
    static const struct {
        const char *claims, *reading;
        enum oche_statement_finding finding;
        bool unsure, reads;
    } rows[] = {
        {"[f/yes]", NULL, OCHE_STATEMENT_HOLDS, false, false},
        {"[f/yes, f/maybe]", NULL, OCHE_STATEMENT_HOLDS, true, false},
        {"[f/yes, f/shape]", NULL, OCHE_STATEMENT_IN_SHAPE, false, false},
        {"[f/shape, f/maybe]", NULL, OCHE_STATEMENT_IN_SHAPE, true, false},
        {"[f/yes, f/no]", NULL, OCHE_STATEMENT_NOT, false, false},
        {"[f/no, f/rather_not]", NULL, OCHE_STATEMENT_NOT, false, false},
        {"[f/yes, f/rather_not]", NULL, OCHE_STATEMENT_NOT, true, false},
        {"[f/outside, f/shape]", NULL, OCHE_STATEMENT_NOT_JUDGED, false, false},
        {"[f/outside, f/missing]", NULL, OCHE_STATEMENT_NOT_MEASURED, false, false},
        {"[f/outside, f/missing, f/no]", NULL, OCHE_STATEMENT_NOT, false, false},
        {"[f/no]", "by b", OCHE_STATEMENT_HOLDS, false, true},
        {"[f/no, f/rather_not]", "by b", OCHE_STATEMENT_NOT, true, true},
        {"[f/rather_not]", "by b", OCHE_STATEMENT_NOT, true, false},
        {"[f/rather_not]", "by a, b", OCHE_STATEMENT_IN_SHAPE, false, true},
        {"[g/yes]", NULL, OCHE_STATEMENT_NOT, false, false},
    };
    struct oche_paper *paper = paper_open();

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_paper_statements statements;
        char text[200];

        snprintf(text, sizeof(text), "statements:\n" STATEMENT("a", "%s"), rows[i].claims);
        parse(&statements, paper, text);
        const struct oche_statement_verdict verdict =
            oche_statement_judge(&statements.all[0], &results, rows[i].reading);

        assert_int_equal(verdict.finding, rows[i].finding);
        assert_int_equal(verdict.unsure, rows[i].unsure);
        if (rows[i].reading != NULL)
            assert_int_equal(oche_statement_reads(&statements.all[0], &results, rows[i].reading),
                             rows[i].reads);
        oche_paper_statements_close(&statements);
    }
    oche_paper_close(paper);
}

/* Statements from memory do not count; the reading that helps most is the best one. */
static void test_statements_are_counted(void **state)
{
    struct oche_paper *paper = paper_open();
    struct oche_paper_statements statements;

    (void)state;
    parse(&statements, paper,
          "statements:\n" STATEMENT("a", "[f/yes]") STATEMENT("b", "[f/no]")
              STATEMENT("c", "[f/rather_not]")
                  STATEMENT("d", "[f/outside]") "  - {name: e, text: t, place: p, published: 3, "
                                                "source: memory, decided_by: [f/yes]}\n");
    struct oche_statement_tally tally = oche_paper_statements_count(&statements, &results, NULL);

    assert_int_equal(oche_paper_statements_good(&tally), 1);
    assert_int_equal(oche_paper_statements_judged(&tally), 3);
    assert_int_equal(tally.count[OCHE_STATEMENT_NOT_JUDGED], 1);
    assert_int_equal(tally.from_memory[OCHE_STATEMENT_HOLDS], 1);
    tally = oche_paper_statements_count(&statements, &results, "by a, b");
    assert_int_equal(oche_paper_statements_good(&tally), 2);
    /* as many are good by b, and more of them hold */
    assert_string_equal(oche_paper_statements_best(&statements, &results), "by b");
    oche_paper_statements_close(&statements);
    parse(&statements, paper, "statements:\n" STATEMENT("a", "[f/yes]"));
    assert_null(oche_paper_statements_best(&statements, &results));
    oche_paper_statements_close(&statements);
    oche_paper_close(paper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_statements_are_refused_with_their_line),
        cmocka_unit_test(test_statements_are_checked_against_figures),
        cmocka_unit_test(test_only_claims_of_the_paper_decide),
        cmocka_unit_test(test_claims_decide),
        cmocka_unit_test(test_statements_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
