/* SPDX-License-Identifier: Apache-2.0 */
/* Reads programs and libraries; see elf_file.h. */
#include "cli/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE /* any */
#endif

/* Returns `bytes` bytes at this offset; NULL: the file is not that long. */
static const void *part(const struct elf_file *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->count && bytes <= file->count - offset ? file->bytes + offset : NULL;
}

/* Returns the nth program header of this type, or NULL. */
static const Elf64_Phdr *segment(const struct elf_file *file, uint32_t type, unsigned nth)
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

/* Returns the file offset of the byte at this address in memory; SIZE_MAX: there is none. */
static uint64_t offset_of(const struct elf_file *file, uint64_t address)
{
    const Elf64_Phdr *load;

    for (unsigned i = 0; (load = segment(file, PT_LOAD, i)) != NULL; i++)
        if (address >= load->p_vaddr && address - load->p_vaddr < load->p_filesz)
            return load->p_offset + (address - load->p_vaddr);
    return SIZE_MAX;
}

static const Elf64_Dyn *entry_at(const struct elf_file *file, uint64_t index)
{
    return part(file, file->dynamic + index * sizeof(Elf64_Dyn), sizeof(Elf64_Dyn));
}

/* Finds the dynamic section and its strings. Returns false if there is none, or it is damaged. */
static bool find_dynamic(struct elf_file *file)
{
    const Elf64_Phdr *dynamic = segment(file, PT_DYNAMIC, 0);

    if (dynamic == NULL || dynamic->p_offset % sizeof(uint64_t) != 0 ||
        part(file, dynamic->p_offset, dynamic->p_filesz) == NULL)
        return false;
    file->dynamic = dynamic->p_offset;
    file->dynamic_count = dynamic->p_filesz / sizeof(Elf64_Dyn);
    file->names = SIZE_MAX;
    for (uint64_t i = 0; i < file->dynamic_count; i++) {
        const Elf64_Dyn *entry = entry_at(file, i);

        if (entry->d_tag == DT_STRTAB)
            file->names = offset_of(file, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRSZ)
            file->names_count = entry->d_un.d_val;
    }
    return file->names != SIZE_MAX && part(file, file->names, file->names_count) != NULL;
}

static enum elf_kind kind_of(struct elf_file *file)
{
    const Elf64_Ehdr *header = part(file, 0, sizeof(*header));
    bool dynamic;

    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return ELF_NONE;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] !=
            (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) ||
        (OWN_MACHINE != EM_NONE && header->e_machine != OWN_MACHINE))
        return ELF_FOREIGN;
    if (header->e_phoff % sizeof(uint64_t) != 0 || header->e_phentsize != sizeof(Elf64_Phdr))
        return ELF_NONE;
    dynamic = find_dynamic(file);
    if (!dynamic)
        file->dynamic_count = 0;
    if (segment(file, PT_INTERP, 0) != NULL || header->e_type == ET_REL)
        return dynamic ? ELF_DYNAMIC : ELF_NONE;
    return segment(file, PT_LOAD, 0) != NULL ? ELF_STATIC : ELF_NONE;
}

bool elf_open(struct elf_file *file, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    void *bytes = MAP_FAILED;

    *file = (struct elf_file){0};
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    file->bytes = bytes;
    file->count = (size_t)status.st_size;
    file->kind = kind_of(file);
    return true;
}

void elf_close(struct elf_file *file)
{
    if (file->bytes != NULL)
        munmap((void *)(uintptr_t)file->bytes, file->count);
    *file = (struct elf_file){0};
}

const char *elf_string(const struct elf_file *file, int64_t tag, unsigned nth)
{
    for (uint64_t i = 0; i < file->dynamic_count; i++) {
        const Elf64_Dyn *entry = entry_at(file, i);
        const uint64_t at = entry->d_un.d_val;

        if (entry->d_tag == DT_NULL)
            return NULL;
        if (entry->d_tag != tag || nth-- > 0)
            continue;
        if (at >= file->names_count ||
            memchr(file->bytes + file->names + at, '\0', file->names_count - at) == NULL)
            return NULL;
        return (const char *)file->bytes + file->names + at;
    }
    return NULL;
}

bool elf_mentions(const struct elf_file *file, const char *text)
{
    return memmem(file->bytes, file->count, text, strlen(text)) != NULL;
}
