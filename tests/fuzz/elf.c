/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as a program's or a library's file, for the reader of `oche exec`.
 * The strings that the reader returns must be whole and within the file. tools/fuzz 60 elf runs it.
 */
#include <elf.h>

#include "cli/elf_file.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define MOST_STRINGS 64

static bool within(const struct elf_file *file, const char *text)
{
    const uint8_t *start = (const uint8_t *)text;

    return start >= file->bytes && start < file->bytes + file->count &&
           memchr(start, '\0', (size_t)(file->bytes + file->count - start)) != NULL;
}

static const char *check(const struct elf_file *file, size_t count)
{
    static const int64_t tags[] = {DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_NULL, DT_STRTAB};
    const char *text;

    if (file->count != count)
        return "the file has another length";
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        for (unsigned nth = 0; nth < MOST_STRINGS; nth++) {
            text = elf_string(file, tags[i], nth);
            if (text == NULL)
                break;
            if (file->kind == ELF_NONE || file->kind == ELF_FOREIGN)
                return "a file that is no ELF file has strings";
            if (!within(file, text))
                return "a string is not within the file";
        }
    return NULL;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct elf_file file;
    const char *wrong;

    if (!elf_open(&file, fuzz_file("elf", bytes, count)))
        return count > 0 ? "a file that is there cannot be opened" : NULL;
    wrong = check(&file, count);
    elf_mentions(&file, "ibv_");
    elf_close(&file);
    return wrong;
}
