/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the devices: their paths and texts, in the kernel's form. As with the kernel, a
 * device is below /sys/devices, and the folders below /sys/class have links:
 *
 *   /sys/devices/virtual/oche/NAME                         the parent, where others have PCI
 *   /sys/devices/virtual/oche/NAME/infiniband/NAME         the device
 *   /sys/devices/virtual/oche/NAME/infiniband_verbs/uNAME
 *   /sys/class/infiniband/NAME                             a link to the device
 *   /sys/class/infiniband_verbs/uNAME                      a link
 *   /dev/infiniband/uNAME                                  a link to /dev/null
 *
 * Counters are 0 at first; they get their values when a program looks at them (counts.h).
 */
#ifndef OCHE_DEVICE_FILES_CONTENTS_H
#define OCHE_DEVICE_FILES_CONTENTS_H

#include <stdbool.h>

#include "device/path/address.h"

/* Folders of which all that is below is ours, or of the kernel's RDMA devices. */
#define OCHE_CLASS_FOLDER   "/sys/class/infiniband"
#define OCHE_VERBS_FOLDER   "/sys/class/infiniband_verbs"
#define OCHE_DEVICES_FOLDER "/sys/devices/virtual/oche"
#define OCHE_DEV_FOLDER     "/dev/infiniband"

/* Receives the files. Each function returns false, with errno, if it could not store one. */
struct oche_files_sink {
    bool (*folder)(void *context, const char *path);
    bool (*file)(void *context, const char *path, const char *text);
    bool (*link)(void *context, const char *path, const char *target);
    void *context;
};

/*
 * Gives the folders above, and then the files of all devices that this host has now, to the sink.
 * Returns false, with errno, if the sink did.
 */
bool oche_files_contents(const struct oche_files_sink *sink);

/* Gives the files again that say whether the port of the device with this address is up. */
void oche_files_states(const struct oche_files_sink *sink, const struct oche_address *address);

#endif
