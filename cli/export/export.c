/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche export`: writes a scenario's network and the flows that are known before its run as files
 * of another simulator.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/export/formats.h"
#include "cli/installed.h"
#include "cli/refuse.h"
#include "cli/whole_file.h"
#include "params/figures.h"
#include "params/printable.h"
#include "params/text_stream.h"
#include "sim/scenario/scenario.h"
#include "store/store.h"

static const struct oche_export_format *const formats[] = {&oche_export_htsim, &oche_export_hpcc};

enum { KEY_TO = 256 };

struct options {
    char *scenario; /* path; NULL: not given */
    const struct oche_export_format *format;
    const char *folder;
    const char **sets;
    size_t set_count;
};

static const struct argp_option option_table[] = {
    {"to", KEY_TO, "FORMAT", 0,
     "htsim: flows.cm and network.topo; hpcc: topology.txt, flow.txt, trace.txt, config.txt", 0},
    {"out", 'o', "FOLDER", 0, "Where the files are written", 0},
    {"set", 's', "KEY=VALUE", 0, "Override a value of the scenario", 0},
    {0},
};

static void take_format(struct options *options, const char *name, struct argp_state *state)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(formats); i++)
        if (strcmp(name, formats[i]->name) == 0) {
            options->format = formats[i];
            return;
        }
    oche_refuse(state, "--to %s: is not known; htsim or hpcc", name);
}

static void check_options(const struct options *options, struct argp_state *state)
{
    if (options->scenario == NULL)
        oche_refuse(state, "which scenario? give its file, or a name that oche run --list shows");
    if (options->format == NULL)
        oche_refuse(state, "to which program? write --to htsim or --to hpcc");
    if (options->folder == NULL || *options->folder == '\0')
        oche_refuse(state, "where to? write -o FOLDER; --out . is this one");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_TO:
        take_format(options, argument, state);
        return 0;
    case 'o':
        options->folder = argument;
        return 0;
    case 's':
        options->sets = realloc(options->sets, (options->set_count + 1) * sizeof(*options->sets));
        OCHE_GOT(options->sets != NULL);
        options->sets[options->set_count++] = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->scenario != NULL)
            oche_refuse(state, "%s: a second scenario; one at a time", argument);
        options->scenario = oche_scenario_argument(argument, state);
        return 0;
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .args_doc = "SCENARIO",
    .doc = "Writes a scenario's network, and the flows that are known before its run, as files of "
           "another simulator: uet-htsim, or HPCC's fork of ns-3. Says what these files cannot "
           "say, and how the other program is run with them.\vExit status: 0 the files are "
           "written; 2 bad arguments, a bad scenario, or one that the other program's files cannot "
           "have: one line on standard error says why, and nothing is written.",
};

/* ---- the files ---- */

FILE *oche_export_file(struct oche_export_files *files, const char *name)
{
    struct oche_export_file *file = &files->file[files->count++];

    OCHE_MUST(files->count <= OCHE_EXPORT_MOST_FILES);
    file->name = name;
    return oche_text_stream_open(&file->text, &file->bytes);
}

/* Writes FOLDER/NAME, or NAME if the folder is this one. */
static void print_path(const char *folder, const char *name, FILE *out)
{
    const size_t length = strlen(folder);

    if (strcmp(folder, ".") != 0)
        fprintf(out, "%s%s", folder, folder[length - 1] == '/' ? "" : "/");
    fputs(name, out);
}

void oche_export_path(const struct oche_export_source *source, const char *name, FILE *out)
{
    print_path(source->folder, name, out);
}

void oche_export_show_path(const struct oche_export_source *source, const char *name, FILE *out)
{
    char folder[256];

    oche_printable(source->folder, folder, sizeof(folder));
    print_path(folder, name, out);
}

static bool write_file(const char *folder, const struct oche_export_file *file,
                       struct oche_error *error)
{
    struct oche_whole_file whole;
    char *path = NULL;
    bool good;

    OCHE_GOT(asprintf(&path, "%s/%s", folder, file->name) >= 0);
    good = oche_whole_file_begin(&whole, path, error);
    if (good) {
        fwrite(file->text, 1, file->bytes, whole.out);
        good = oche_whole_file_end(&whole, error);
    }
    free(path);
    return good;
}

static bool write_files(const struct oche_export_files *files, const char *folder,
                        struct oche_error *error)
{
    bool good = oche_results_folder(folder, error);

    for (size_t i = 0; good && i < files->count; i++)
        good = write_file(folder, &files->file[i], error);
    return good;
}

/* ---- remarks ---- */

/* Names the settings that no format has, in a line. */
static void remark_settings(const struct oche_world_config *config, FILE *out)
{
    const struct {
        bool given;
        const char *name;
    } settings[] = {
        {!config->switches.pfc, "switch.pfc: false"},
        {config->recovery != NULL && strcmp(config->recovery->name, "go_back_n") != 0,
         "recovery.name"},
        {config->mechanism_count > 0, "switch.mechanisms"},
        {config->hosts.entropy != 0, "host.entropy"},
        {config->receiver_count > 0, "slow_receivers"},
        {config->storm_count > 0, "pause_storms"},
        {config->nic_count > 0, "nics"},
    };
    bool any = false;

    for (size_t i = 0; i < OCHE_COUNT_OF(settings); i++) {
        if (!settings[i].given)
            continue;
        fprintf(out, "%s%s", any ? ", " : "not written: ", settings[i].name);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

/* Says what no format has. */
static void remark(const struct oche_export_source *source, FILE *out)
{
    const struct oche_world_config *config = source->config;
    const struct oche_export_traffic *traffic = source->traffic;

    if (traffic->reads + traffic->sends > 0)
        fprintf(out, "verb: %llu READs and %llu SENDs are flows as any others there\n",
                (unsigned long long)traffic->reads, (unsigned long long)traffic->sends);
    if (traffic->first_rates > 0)
        fprintf(out, "initial_rate: %llu flows begin at line rate there\n",
                (unsigned long long)traffic->first_rates);
    if (config->hosts.priority_bytes > 0)
        fputs("host.priority_upto: all flows have the same priority there\n", out);
    if (oche_world_failure_count(source->world) > 0)
        fputs("failures: are not written; all links are up there\n", out);
    if (config->loss.probability > 0 || config->loss.pattern != NULL || config->loss.late > 0 ||
        config->scripted.file != NULL)
        fputs("loss, events: are not written; no packet is lost or late there\n", out);
    if (config->routes.file != NULL)
        fputs("routes.file: is not written; paths are by the other program's hash\n", out);
    remark_settings(config, out);
}

static void print_result(const struct oche_export_files *files,
                         const struct oche_export_source *source, const char *remarks)
{
    const struct oche_topology *topology = oche_world_topology(source->world);
    char folder[256];

    oche_printable(source->folder, folder, sizeof(folder));
    printf("%s:", folder);
    for (size_t i = 0; i < files->count; i++)
        printf(" %s", files->file[i].name);
    printf("\n%s flows, %s triggers; %u hosts, %u switches, %u links\n",
           oche_figure_count(source->traffic->flow_count).text,
           oche_figure_count(source->traffic->trigger_count).text, topology->host_count,
           topology->switch_count, topology->link_count);
    fputs(remarks, stdout);
}

/* ---- work ---- */

static int export_world(const struct options *options, const struct oche_scenario *scenario,
                        const struct oche_world *world)
{
    struct oche_export_traffic traffic;
    struct oche_export_files files = {.count = 0};
    const struct oche_export_source source = {.world = world,
                                              .config = &scenario->config,
                                              .traffic = &traffic,
                                              .folder = options->folder};
    struct oche_error message, error;
    char *remarks = NULL;
    size_t bytes;
    bool good;

    if (!oche_export_traffic_take(&traffic, world, &message)) {
        oche_scenario_place(scenario, message.text, &error);
        oche_print_error("%s", error.text);
        return 2;
    }
    files.remarks = oche_text_stream_open(&remarks, &bytes);
    remark(&source, files.remarks);
    good = options->format->make(&files, &source, &message);
    oche_text_stream_close(files.remarks);
    if (!good) {
        oche_scenario_place(scenario, message.text, &error);
        oche_print_error("%s", error.text);
    } else {
        good = write_files(&files, options->folder, &error);
        if (good)
            print_result(&files, &source, remarks);
        else
            oche_print_error("oche export: %s", error.text);
    }
    for (size_t i = 0; i < files.count; i++)
        free(files.file[i].text);
    free(remarks);
    oche_export_traffic_free(&traffic);
    return good ? 0 : 2;
}

static int export_scenario(const struct options *options)
{
    const struct oche_scenario_input input = {
        .name = options->scenario, .sets = options->sets, .set_count = options->set_count};
    struct oche_mistakes mistakes;
    struct oche_scenario *scenario = oche_scenario_read(&input, &mistakes);
    struct oche_error message, error;
    struct oche_world *world;
    int status = 2;

    if (scenario == NULL) {
        oche_print_mistakes(&mistakes, NULL);
        return 2;
    }
    world = oche_world_create(&scenario->config, &message);
    if (world == NULL) {
        oche_scenario_place(scenario, message.text, &error);
        oche_print_error("%s", error.text);
    } else {
        status = export_world(options, scenario, world);
    }
    oche_world_free(world);
    oche_scenario_close(scenario);
    return status;
}

int oche_cmd_export(int argc, char **argv)
{
    struct options options = {.scenario = NULL};
    int status = 2;

    if (oche_parse_arguments(&arguments, argc, argv, 0, &options))
        status = export_scenario(&options);
    free(options.sets);
    free(options.scenario);
    return status;
}
