/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oche stat: shows the running programs that have an oche device open, from their own files
 * (device/view): as tables, as JSON, or for Prometheus.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/stat/options.h"
#include "cli/stat/screen.h"
#include "cli/stat/serve.h"
#include "cli/stat/span.h"
#include "core/base.h"
#include "params/text_stream.h"

static void print_once(const struct stat_options *options, const struct oche_views *views,
                       const struct oche_views *earlier, struct stat_screen *screen)
{
    char *text = NULL;
    size_t bytes;
    FILE *out;

    if (options->json) {
        stat_print_json(stdout, views, earlier, options->qps);
        fflush(stdout);
        return;
    }
    stat_screen_measure(screen);
    const struct stat_look look = {.width = screen->columns,
                                   .colours = screen->terminal && getenv("NO_COLOR") == NULL,
                                   .watch = options->watch_s > 0,
                                   .qps = options->qps};

    out = oche_text_stream_open(&text, &bytes);
    stat_print_tables(out, views, earlier, &look);
    oche_text_stream_close(out);
    if (options->watch_s > 0)
        stat_screen_draw(screen, text);
    else
        fputs(text, stdout);
    free(text);
}

/* Shows it again and again. */
static void watch(const struct stat_options *options)
{
    struct oche_views views, earlier = {0};
    struct stat_screen screen = {0};

    stat_signals_catch();
    for (uint64_t shown = 1;; shown++) {
        OCHE_GOT(oche_views_read(&views, options->view));
        print_once(options, &views, shown > 1 ? &earlier : NULL, &screen);
        oche_views_free(&earlier);
        earlier = views;
        if (shown == options->count || !stat_wait(NULL, 0, options->watch_s))
            break;
        if (!options->json && !screen.terminal)
            fputc('\n', stdout);
    }
    oche_views_free(&earlier);
    if (!options->json)
        stat_screen_end(&screen);
}

int oche_cmd_stat(int argc, char **argv)
{
    struct stat_screen screen = {0};
    struct stat_options options;
    struct oche_views views;

    if (!stat_options_read(&options, argc, argv))
        return 2;
    if (options.listens)
        return stat_serve(&options.address, options.address_bytes, options.view);
    if (options.watch_s > 0) {
        watch(&options);
        return 0;
    }
    OCHE_GOT(oche_views_read(&views, options.view));
    print_once(&options, &views, NULL, &screen);
    oche_views_free(&views);
    return 0;
}
