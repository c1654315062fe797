/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads which libraries a program is linked with. The file may be anything, so nothing in it is
 * believed before it was compared with the file's length.
 */
#include "cli/umad.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"

#define CLASS "/sys/class/infiniband_mad"

struct file {
    const uint8_t *bytes;
    size_t count;
};

/* Returns `bytes` bytes at this offset; NULL: the file is not that long. */
static const void *part(const struct file *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->count && bytes <= file->count - offset ? file->bytes + offset : NULL;
}

/* Returns the nth program header of this type, or NULL. */
static const Elf64_Phdr *segment(const struct file *file, uint32_t type, unsigned nth)
{
    const Elf64_Ehdr *header = part(file, 0, sizeof(*header));

    for (unsigned i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *one =
            part(file, header->e_phoff + (uint64_t)i * sizeof(*one), sizeof(*one));

        if (one == NULL)
            return NULL;
        if (one->p_type == type && nth-- == 0)
            return one;
    }
    return NULL;
}

/* Returns where in the file the byte is that is at this address in memory; SIZE_MAX: nowhere. */
static uint64_t offset_of(const struct file *file, uint64_t address)
{
    const Elf64_Phdr *load;

    for (unsigned i = 0; (load = segment(file, PT_LOAD, i)) != NULL; i++)
        if (address >= load->p_vaddr && address - load->p_vaddr < load->p_filesz)
            return load->p_offset + (address - load->p_vaddr);
    return SIZE_MAX;
}

static bool begins_with(const struct file *file, uint64_t offset, const char *name)
{
    const char *text = part(file, offset, strlen(name));

    return text != NULL && memcmp(text, name, strlen(name)) == 0;
}

static bool reads_so(const struct file *file)
{
    const Elf64_Ehdr *header = part(file, 0, sizeof(*header));
    const Elf64_Phdr *dynamic;
    const Elf64_Dyn *entry;
    uint64_t names = SIZE_MAX;
    bool umad = false;

    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phoff % sizeof(uint64_t) != 0 ||
        header->e_phentsize != sizeof(Elf64_Phdr) ||
        (dynamic = segment(file, PT_DYNAMIC, 0)) == NULL ||
        dynamic->p_offset % sizeof(uint64_t) != 0)
        return false;
    entry = part(file, dynamic->p_offset, dynamic->p_filesz);
    for (uint64_t i = 0; entry != NULL && i < dynamic->p_filesz / sizeof(*entry); i++)
        if (entry[i].d_tag == DT_STRTAB)
            names = offset_of(file, entry[i].d_un.d_ptr);
    if (names == SIZE_MAX)
        return false;
    for (uint64_t i = 0; i < dynamic->p_filesz / sizeof(*entry); i++) {
        if (entry[i].d_tag != DT_NEEDED || entry[i].d_un.d_val > file->count)
            continue;
        if (begins_with(file, names + entry[i].d_un.d_val, "libibverbs.so."))
            return false;
        umad |= begins_with(file, names + entry[i].d_un.d_val, "libibumad.so.");
    }
    return umad;
}

static bool file_reads_so(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct file file;
    struct stat status;
    bool result = false;
    void *bytes;

    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            file = (struct file){.bytes = bytes, .count = (size_t)status.st_size};
            result = reads_so(&file);
            munmap(bytes, (size_t)status.st_size);
        }
    }
    close(fd);
    return result;
}

bool oche_is_for_umad(const char *command)
{
    const char *at = getenv("PATH");
    char path[PATH_MAX];

    if (strchr(command, '/') != NULL)
        return file_reads_so(command);
    for (; at != NULL && *at != '\0'; at += strcspn(at, ":"), at += *at == ':')
        if (snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(at, ":"), at, command) <
                (int)sizeof(path) &&
            access(path, X_OK) == 0)
            return file_reads_so(path);
    return false;
}

bool oche_has_umad(void)
{
    DIR *folder = opendir(CLASS);
    const struct dirent *entry;
    bool found = false;

    while (folder != NULL && !found && (entry = readdir(folder)) != NULL)
        found = strncmp(entry->d_name, "umad", strlen("umad")) == 0;
    if (folder != NULL)
        closedir(folder);
    return found;
}
