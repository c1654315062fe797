/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oche report DIR|FILE: makes one page from a folder of results, or from one results file. The page
 * is the one in report/page/ with the data inserted, and needs no network. With --svg, also writes
 * one file for each chart.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/recorded_json.h"
#include "cli/refuse.h"
#include "cli/report_files.h"
#include "report/report.h"

struct options {
    const char *place, *out, *svg; /* `out` and `svg` are NULL if not given */
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'o':
        options->out = argument;
        return 0;
    case 's':
        options->svg = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->place != NULL)
            argp_failure(state, 2, 0, "%s: one folder or file at a time", argument);
        options->place = argument;
        return 0;
    case ARGP_KEY_END:
        if ((options->out != NULL && options->out[0] == '\0') ||
            (options->svg != NULL && options->svg[0] == '\0'))
            argp_failure(state, 2, 0, "an empty name; --out takes a file, --svg a folder");
        if (options->place == NULL || options->place[0] == '\0')
            argp_failure(state, 2, 0,
                         "which folder? give one that oche run, oche sweep or oche reproduce has "
                         "written, such as out/demo, or a .sqlite file of it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option known[] = {
    {"out", 'o', "FILE", 0,
     "write the page there; default DIR/report.html, or beside the file with its name", 0},
    {"svg", 's', "FOLDER", 0,
     "also write each chart into this folder as an SVG file, for a paper; needs node", 0},
    {0},
};

static const struct argp argp = {
    .options = known,
    .parser = parse,
    .args_doc = "DIR|FILE.sqlite",
    .doc = "Makes one HTML page, which needs no network, of the results in DIR and in the folders "
           "in it, three levels deep: runs (of one scenario side by side), sweeps, reproduced "
           "figures; or "
           "of one file alone. Beside several figures it has the recorded verdicts of all papers "
           "(oche reproduce)."
           "\vExit status: 0 the page is written; 2 bad arguments, no results, or results that "
           "cannot be read.",
};

/*
 * Returns the page's usual path (malloc'd): DIR/report.html, or DIR/fig6a.html for
 * DIR/fig6a.sqlite.
 */
static char *usual_page(const char *place)
{
    static const char ending[] = ".sqlite";
    size_t length = strlen(place);
    struct stat status;
    char *path = NULL;

    if (stat(place, &status) != 0 || !S_ISREG(status.st_mode)) {
        OCHE_GOT(asprintf(&path, "%s/report.html", place) >= 0);
        return path;
    }
    if (length > strlen(ending) && strcmp(place + length - strlen(ending), ending) == 0)
        length -= strlen(ending);
    OCHE_GOT(asprintf(&path, "%.*s.html", (int)length, place) >= 0);
    return path;
}

static bool work(const struct options *options, const char *command, struct oche_error *error)
{
    char *out = NULL, *page_path = NULL, *page = NULL, *script = NULL, *data = NULL;
    struct stat status;
    size_t bytes = 0;
    bool ok;

    if (options->svg != NULL && stat(options->svg, &status) == 0 && !S_ISDIR(status.st_mode))
        return oche_fail(error,
                         "--svg %s: is not a folder; give a folder, or the name of a new one",
                         options->svg);
    if (options->out != NULL)
        OCHE_GOT((out = strdup(options->out)) != NULL);
    else
        out = usual_page(options->place);
    ok = (page_path = oche_report_file(OCHE_REPORT_PAGE, error)) != NULL &&
         (page = oche_report_read(page_path, error)) != NULL &&
         (options->svg == NULL || (script = oche_report_file(OCHE_REPORT_SCRIPT, error)) != NULL) &&
         (data = oche_report_data(options->place, "oche " OCHE_VERSION, command, oche_recorded_json,
                                  &bytes, error)) != NULL &&
         oche_report_write(out, page, data, error);
    if (ok)
        printf("report: %s\n", out);
    if (ok && fflush(stdout) != 0) /* before the script prints */
        ok = oche_fail(error, "standard output: cannot be written");
    if (ok && options->svg != NULL)
        ok = oche_report_draw(script, options->svg, data, bytes, error);
    free(out);
    free(page_path);
    free(page);
    free(script);
    free(data);
    return ok;
}

int oche_cmd_report(int argc, char **argv)
{
    struct options options = {0};
    struct oche_error error = {""};
    char *command = oche_command_line(argc, argv);
    bool ok = oche_parse_arguments(&argp, argc, argv, 0, &options);

    if (ok) {
        ok = work(&options, command, &error);
        if (!ok && error.text[0] != '\0')
            oche_print_error("%s", error.text);
    }
    free(command);
    return ok ? 0 : 2;
}
