/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oche fault: makes faults in running programs (docs/faults.md#fault). It finds them by their
 * views, as `oche stat` does, and asks each by its socket (device/view/control.h). Only a program's
 * owner, and root, can reach it. What the words mean is the program's to say
 * (device/verbs/fault.c).
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/json_line.h"
#include "cli/refuse.h"
#include "core/base.h"
#include "device/path/address.h"
#include "device/view/control.h"
#include "device/view/reader.h"
#include "params/printable.h"

#define MOST_WORDS  32
#define PATIENCE_MS 10000 /* a busy process may take so long to answer */

struct options {
    const char *view; /* NULL: where programs are by default */
    bool json;
    char *words[MOST_WORDS]; /* the target and the fault */
    int count;
};

enum { KEY_JSON = 0x100, KEY_VIEW };

static const struct argp_option option_table[] = {
    {"json", KEY_JSON, NULL, 0, "Print what was done, and when, as JSON", 0},
    {"view", KEY_VIEW, "FOLDER", 0,
     "Look into this folder alone, which programs were given by `oche exec --view`", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_VIEW:
        if (argument[0] != '/')
            oche_refuse(state, "--view: %s: must be an absolute path", argument);
        options->view = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (argument[0] == '\0')
            oche_refuse(state, "a word is empty; leave it out");
        if (options->count == MOST_WORDS)
            oche_refuse(state, "%s: more than %d words", argument, MOST_WORDS);
        options->words[options->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->view != NULL && oche_view_folder_fault(options->view) != NULL)
            oche_refuse(state, "--view: %s: %s; must be the folder of oche exec --view",
                        options->view, oche_view_folder_fault(options->view));
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .args_doc = "[PROGRAM]\nPROGRAM FAULT [for TIME]\npartition ADDRESS ADDRESS [for TIME]",
    .doc = "Makes a fault in running programs of `oche exec`. PROGRAM is a process's number, a "
           "command's name, a device's address, or all. Without a FAULT it shows those in force. "
           "FAULT is one of\v"
           "  [in|out] [PEER:]KEY=VALUE[,…]  links, as of `oche exec --link`\n"
           "  port-down, port-up             with the events of verbs\n"
           "  kill-qp QPN|all [STATUS]       its oldest work fails\n"
           "  path-migrated QPN, path-migration-failed QPN\n"
           "  fail CALL=N[,CALL=N…]          calls that fail; reg_mr=1: the next one\n"
           "  device-fatal                   the device vanishes, until it is closed\n"
           "  list                           shows which faults are in force\n"
           "  restore                        ends what `oche fault` has changed\n"
           "\n`partition A B` cuts devices with the address A from peers with the address B, and B "
           "from A.\n\nExit status: 0 done; 1 no such program, or it could not be done; 2 bad "
           "arguments.",
};

/* ---- what to ask whom ---- */

/* Appends a word to the request. Refuses what does not fit. */
static void append(char *text, const char *word)
{
    const size_t length = strlen(text);

    if (length + strlen(word) + 2 >= OCHE_CONTROL_BYTES) {
        oche_print_error("oche fault: the fault has more than %d characters", OCHE_CONTROL_BYTES);
        exit(2);
    }
    sprintf(text + length, "%s%s", length > 0 ? " " : "", word);
}

/* True if the word says a link, with or without the word "link". */
static bool is_link(const char *word)
{
    return strcmp(word, "in") == 0 || strcmp(word, "out") == 0 || strchr(word, '=') != NULL;
}

static void make_request(char *text, char *const *words, int count)
{
    text[0] = '\0';
    if (is_link(words[0]))
        append(text, "link");
    for (int i = 0; i < count; i++)
        append(text, words[i]);
}

/* Views have only the beginning of a long command. */
static bool is_command(const struct oche_view_entry *entry, const char *target)
{
    const size_t most = sizeof(entry->view.command) - 1;

    return strcmp(target, entry->view.command) == 0 ||
           (strlen(entry->view.command) == most && strncmp(target, entry->view.command, most) == 0);
}

static bool is_target(const struct oche_view_entry *entry, const char *target)
{
    struct oche_address address;
    char number[32];

    snprintf(number, sizeof(number), "%d", (int)entry->pid);
    return strcmp(target, "all") == 0 || strcmp(target, number) == 0 || is_command(entry, target) ||
           (oche_address_parse(target, &address) &&
            memcmp(address.ip, entry->view.address, sizeof(address.ip)) == 0);
}

/* ---- asking ---- */

struct asking {
    const struct oche_view_entry *entry;
    const char *text;
    char answer[OCHE_CONTROL_BYTES];
    bool answered;
    int error;
};

/* Asks the process if its view is in this folder. */
static void visit(void *context, int folder, uid_t owner)
{
    struct asking *asking = context;

    if (asking->answered || owner != asking->entry->user)
        return;
    asking->answered = oche_control_ask(folder, asking->entry->name, asking->text, asking->answer,
                                        sizeof(asking->answer), PATIENCE_MS);
    if (!asking->answered && asking->error != ETIMEDOUT)
        asking->error = errno;
}

/* The answers to all requests. */
struct outcome {
    struct json_object *list;
    bool json;
    unsigned asked, failed, none; /* none: without what the fault is for, such as a queue pair */
    bool bad;                     /* the words were wrong */
};

static void ask(const struct options *options, const struct oche_view_entry *entry,
                const char *text, struct outcome *outcome)
{
    struct asking asking = {.entry = entry, .text = text};
    char address[OCHE_ADDRESS_TEXT], said[OCHE_CONTROL_BYTES];
    struct oche_address own;
    struct timespec now;
    const char *word;

    oche_view_each_folder(options->view, visit, &asking);
    clock_gettime(CLOCK_REALTIME, &now);
    memcpy(own.ip, entry->view.address, sizeof(own.ip));
    oche_address_print(&own, address);
    if (!asking.answered)
        snprintf(asking.answer, sizeof(asking.answer), "no %s",
                 asking.error == ENOENT || asking.error == ECONNREFUSED
                     ? "it cannot be reached: another version of oche, or it has just ended"
                     : strerror(asking.error));
    word = strchr(asking.answer, ' ');
    oche_printable(word != NULL ? word + 1 : asking.answer, said, sizeof(said));
    outcome->asked++;
    outcome->none += strncmp(asking.answer, "none", 4) == 0;
    outcome->failed +=
        strncmp(asking.answer, "ok", 2) != 0 && strncmp(asking.answer, "none", 4) != 0;
    outcome->bad |= strncmp(asking.answer, "bad", 3) == 0;
    if (!outcome->json && strncmp(asking.answer, "ok", 2) == 0)
        printf("%d %s %s: %s\n", (int)entry->pid, entry->view.command, address, said);
    else if (!outcome->json)
        oche_print_error("oche fault: %d %s %s: %s", (int)entry->pid, entry->view.command, address,
                         said);
    if (!outcome->json)
        return;
    struct json_object *one = oche_json_object();

    oche_json_add_int(one, "pid", (uint64_t)entry->pid);
    oche_json_add_text(one, "command", entry->view.command);
    oche_json_add_text(one, "device", address);
    oche_json_add(one, "done", oche_json_truth(strncmp(asking.answer, "ok", 2) == 0));
    oche_json_add_text(one, "says", said);
    oche_json_add_int(one, "at_ns", (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    oche_json_push(outcome->list, one);
}

/* Asks all devices of the target. */
static void ask_target(const struct options *options, const struct oche_views *views,
                       const char *target, const char *text, struct outcome *outcome)
{
    for (size_t i = 0; i < views->count; i++)
        if (is_target(views->entries[i], target))
            ask(options, views->entries[i], text, outcome);
}

/* "partition A B": each side loses the packets to and from the other one. */
static void partition(const struct options *options, const struct oche_views *views,
                      struct outcome *outcome)
{
    struct oche_address addresses[2];
    char text[OCHE_CONTROL_BYTES], link[2 * OCHE_ADDRESS_TEXT];
    int sides;

    for (int side = 0; side < 2; side++)
        if (!oche_address_parse(options->words[1 + side], &addresses[side])) {
            oche_print_error("oche fault: partition: %s: not an IP address",
                             options->words[1 + side]);
            exit(2);
        }
    sides = memcmp(&addresses[0], &addresses[1], sizeof(addresses[0])) == 0 ? 1 : 2;
    for (int side = 0; side < sides; side++) {
        const char *own = options->words[1 + side], *peer = options->words[2 - side];

        text[0] = '\0';
        snprintf(link, sizeof(link), strchr(peer, ':') != NULL ? "[%s]:loss=1" : "%s:loss=1", peer);
        append(text, "link");
        append(text, link);
        for (int i = 3; i < options->count; i++)
            append(text, options->words[i]);
        ask_target(options, views, own, text, outcome);
    }
}

static void print_json(struct json_object *list)
{
    struct json_object *whole = oche_json_object();

    oche_json_add(whole, "processes", list);
    oche_json_print(whole, stdout);
    printf("\n");
}

int oche_cmd_fault(int argc, char **argv)
{
    struct outcome outcome = {.asked = 0};
    char text[OCHE_CONTROL_BYTES], all[] = "all", list[] = "list";
    struct options options = {0};
    struct oche_views views;

    if (!oche_parse_arguments(&arguments, argc, argv, 0, &options))
        return 2;
    if (options.count == 0)
        options.words[options.count++] = all;
    if (options.count == 1 && strcmp(options.words[0], "partition") != 0)
        options.words[options.count++] = list;
    outcome.json = options.json;
    outcome.list = oche_json_array(1);
    OCHE_GOT(oche_views_read(&views, options.view));
    if (strcmp(options.words[0], "partition") == 0) {
        if (options.count < 3) {
            oche_print_error("oche fault: partition: two addresses are meant");
            return 2;
        }
        partition(&options, &views, &outcome);
    } else {
        make_request(text, options.words + 1, options.count - 1);
        ask_target(&options, &views, options.words[0], text, &outcome);
    }
    oche_views_free(&views);
    if (outcome.asked == 0)
        oche_print_error("oche fault: no running program is %s; `oche stat` lists them",
                         strcmp(options.words[0], "partition") == 0 ? "at these addresses"
                         : strcmp(options.words[0], all) == 0       ? "on a device of oche"
                                                                    : options.words[0]);
    if (outcome.json)
        print_json(outcome.list);
    if (outcome.bad)
        return 2;
    return outcome.none == outcome.asked || outcome.failed > 0 ? 1 : 0;
}
