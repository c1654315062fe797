/* SPDX-License-Identifier: Apache-2.0 */
/* The formats to which a scenario can be exported, a file each. */
#ifndef OCHE_CLI_EXPORT_FORMATS_H
#define OCHE_CLI_EXPORT_FORMATS_H

#include <stdio.h>

#include "cli/export/traffic.h"

#define OCHE_EXPORT_MOST_FILES 4

/* The files that are made, as text, and remarks. */
struct oche_export_files {
    struct oche_export_file {
        const char *name;
        char *text; /* malloc'd */
        size_t bytes;
    } file[OCHE_EXPORT_MOST_FILES];
    size_t count;
    FILE *remarks; /* lines: what cannot be said in the format, and how to run the other program */
};

/* A scenario to export. */
struct oche_export_source {
    const struct oche_world *world;
    const struct oche_world_config *config;
    const struct oche_export_traffic *traffic;
    const char *folder; /* where the files will be */
};

struct oche_export_format {
    const char *name;
    /* Returns false, with one line in `error`, if the format cannot have this network or traffic.
     */
    bool (*make)(struct oche_export_files *files, const struct oche_export_source *source,
                 struct oche_error *error);
};

extern const struct oche_export_format oche_export_htsim, oche_export_hpcc;

/* Begins a file. Its text ends when the stream is closed. */
FILE *oche_export_file(struct oche_export_files *files, const char *name);
/* Writes the path of a file of the folder: for a file, and for a terminal. */
void oche_export_path(const struct oche_export_source *source, const char *name, FILE *out);
void oche_export_show_path(const struct oche_export_source *source, const char *name, FILE *out);

#endif
