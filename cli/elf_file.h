/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from a program's or a library's file what the dynamic linker will do with it. The file may
 * have any content, so every value is checked against the file's length before use.
 */
#ifndef OCHE_CLI_ELF_FILE_H
#define OCHE_CLI_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum elf_kind {
    ELF_NONE,    /* no ELF file, or a damaged one */
    ELF_FOREIGN, /* a program of another machine or word size than this one */
    ELF_STATIC,  /* the program uses no dynamic linker */
    ELF_DYNAMIC,
};

struct elf_file {
    const uint8_t *bytes;
    size_t count;
    enum elf_kind kind;
    uint64_t dynamic, dynamic_count; /* offset and number of the entries of the dynamic section */
    uint64_t names, names_count;     /* offset and bytes of its strings */
};

/* Returns false if there is no such regular file, or it cannot be read. */
bool elf_open(struct elf_file *file, const char *path);
void elf_close(struct elf_file *file);

/*
 * Returns the nth string of the dynamic section with this tag (DT_NEEDED, DT_RPATH, DT_RUNPATH), or
 * NULL.
 */
const char *elf_string(const struct elf_file *file, int64_t tag, unsigned nth);
/* True if the text is anywhere in the file. */
bool elf_mentions(const struct elf_file *file, const char *text);

#endif
