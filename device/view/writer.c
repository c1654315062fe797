/* SPDX-License-Identifier: Apache-2.0 */
#include "device/view/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/view/place.h"

struct oche_view_writer {
    int file;
    dev_t device; /* the file's identity: programs close unknown descriptors */
    ino_t inode;
    bool named; /* the user has named the folder */
    char given[PATH_MAX], folder[PATH_MAX], name[OCHE_VIEW_NAME_BYTES];
    struct oche_control control;
    struct oche_view view;
};

/* Notes the file's identity. */
static bool note_file(struct oche_view_writer *writer)
{
    struct stat about;

    if (fstat(writer->file, &about) != 0)
        return false;
    writer->device = about.st_dev;
    writer->inode = about.st_ino;
    return true;
}

/*
 * True if the descriptor is still our file's. If the program has reused it, it must be left alone.
 */
static bool is_ours(const struct oche_view_writer *writer, struct stat *about)
{
    return writer->file >= 0 && fstat(writer->file, about) == 0 &&
           about->st_dev == writer->device && about->st_ino == writer->inode;
}

/* Makes a file with a lock, in `writer->folder`. Returns false if that cannot be. */
static bool make_file(struct oche_view_writer *writer)
{
    const struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int folder = oche_view_own_folder(writer->named ? writer->given : NULL, writer->folder,
                                            sizeof(writer->folder));
    uint64_t nonce;

    writer->file = -1;
    if (folder < 0)
        return false;
    oche_view_sweep(folder, geteuid());
    if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) == (ssize_t)sizeof(nonce)) {
        oche_view_name(writer->name, getpid(), nonce);
        writer->file =
            openat(folder, writer->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    if (writer->file >= 0 && fcntl(writer->file, F_SETLK, &lock) != 0) {
        unlinkat(folder, writer->name, 0);
        close(writer->file);
        writer->file = -1;
    }
    close(folder);
    return writer->file >= 0 && note_file(writer);
}

struct oche_view_writer *oche_view_writer_open(const char *given)
{
    struct oche_view_writer *writer = calloc(1, sizeof(*writer));

    if (writer == NULL)
        return NULL;
    writer->named = given != NULL;
    if (given != NULL && strlen(given) < sizeof(writer->given))
        memcpy(writer->given, given, strlen(given) + 1);
    if (make_file(writer)) {
        oche_control_open(&writer->control, writer->folder, writer->name);
        return writer;
    }
    free(writer);
    return NULL;
}

struct oche_control *oche_view_writer_control(struct oche_view_writer *writer)
{
    return &writer->control;
}

struct oche_view *oche_view_writer_view(struct oche_view_writer *writer)
{
    return &writer->view;
}

const char *oche_view_writer_name(const struct oche_view_writer *writer)
{
    return writer->name;
}

/*
 * The file may have been removed. The end of a session removes /run/user/UID. Another process may
 * also remove the file as a left-over, if it sees it before the file is locked.
 */
static bool is_removed(const struct oche_view_writer *writer)
{
    struct stat about;

    return !is_ours(writer, &about) || about.st_nlink == 0;
}

void oche_view_writer_write(struct oche_view_writer *writer)
{
    struct stat about;

    if (is_removed(writer)) {
        if (is_ours(writer, &about))
            close(writer->file);
        oche_control_close(&writer->control, writer->folder, writer->name);
        if (make_file(writer))
            oche_control_open(&writer->control, writer->folder, writer->name);
    }
    if (!is_ours(writer, &about))
        return;
    oche_view_seal(&writer->view);
    /* a partial write has a wrong sum */
    if (pwrite(writer->file, &writer->view, writer->view.bytes, 0) < 0)
        return;
}

void oche_view_writer_close(struct oche_view_writer *writer)
{
    char path[sizeof(writer->folder) + sizeof(writer->name)];

    snprintf(path, sizeof(path), "%s/%s", writer->folder, writer->name);
    struct stat about;

    oche_control_close(&writer->control, writer->folder, writer->name);
    if (!is_removed(writer))
        unlink(path);
    if (is_ours(writer, &about))
        close(writer->file);
    free(writer);
}

void oche_view_writer_leave(struct oche_view_writer *writer)
{
    struct stat about;

    oche_control_leave(&writer->control);
    if (is_ours(writer, &about))
        close(writer->file);
}
