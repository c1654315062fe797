/* SPDX-License-Identifier: Apache-2.0 */
/* The paths and texts; see contents.h. Values come from where verbs take them, too. */
#include "device/files/contents.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/files/counts.h"
#include "device/files/kernel.h"
#include "device/files/state.h"
#include "device/path/link_rate.h"
#include "device/verbs/facts.h"
#include "device/verbs/identity.h"
#include "params/units.h"

#define LONGEST     256 /* bytes of a path or a text */
#define CPU_GROUPS  128 /* of 32 processors each */
#define CPU_ONLINE  "/sys/devices/system/cpu/online"
#define ABI_VERSION "6\n" /* of the kernel's uverbs */

/* A device whose files are being given away. `folder` is the part that they are below. */
struct giving {
    const struct oche_files_sink *sink;
    const struct oche_identity *device;
    char folder[2 * LONGEST];
};

/* Starts a part of the device's files. Its path is OCHE_DEVICES_FOLDER/NAME and `rest`. */
static void begin(struct giving *giving, const char *rest)
{
    snprintf(giving->folder, sizeof(giving->folder), "%s/%s%s", OCHE_DEVICES_FOLDER,
             giving->device->name, rest);
}

static bool file(const struct giving *giving, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives a file; the text gets its newline here. */
static bool file(const struct giving *giving, const char *name, const char *format, ...)
{
    char path[4 * LONGEST], text[8 * LONGEST];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text) - 1, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof(text) - 1)
        length = (int)sizeof(text) - 2;
    snprintf(text + length, sizeof(text) - (size_t)length, "\n");
    snprintf(path, sizeof(path), "%s/%s", giving->folder, name);
    return giving->sink->file(giving->sink->context, path, text);
}

static bool put_link(const struct giving *giving, const char *name, const char *target)
{
    char path[4 * LONGEST];

    snprintf(path, sizeof(path), "%s/%s", giving->folder, name);
    return giving->sink->link(giving->sink->context, path, target);
}

/* ---- the parent ---- */

/* Reads the list of processors, such as "0-3,8". */
static void read_online(char *list, size_t bytes)
{
    const int fd = kernel_openat(AT_FDCWD, CPU_ONLINE, O_RDONLY, 0);
    const ssize_t count = fd >= 0 ? read(fd, list, bytes - 1) : 0;

    if (fd >= 0)
        close(fd);
    list[count > 0 ? count : 0] = '\0';
    list[strcspn(list, "\n")] = '\0';
    if (list[0] == '\0')
        snprintf(list, bytes, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
}

/* Writes a list of processors as a mask in hexadecimal, in groups of 32 bits. */
static void mask_of(const char *list, char *mask, size_t bytes)
{
    uint32_t groups[CPU_GROUPS] = {0};
    size_t at = 0, highest = 0;
    char *end;

    while (*list >= '0' && *list <= '9') {
        const unsigned long first = strtoul(list, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        for (unsigned long cpu = first; cpu <= last && cpu < 32ul * CPU_GROUPS; cpu++) {
            groups[cpu / 32] |= UINT32_C(1) << cpu % 32;
            highest = cpu / 32 > highest ? cpu / 32 : highest;
        }
        list = *end == ',' ? end + 1 : end;
    }
    at += (size_t)snprintf(mask, bytes, "%" PRIx32, groups[highest]);
    while (highest-- > 0 && at < bytes)
        at += (size_t)snprintf(mask + at, bytes - at, ",%08" PRIx32, groups[highest]);
}

/* There is no hardware, so no node of memory is nearer than others, and all processors are near. */
static bool give_parent(struct giving *giving)
{
    const char *interface = giving->device->interface;
    char online[LONGEST], mask[9 * CPU_GROUPS], at[LONGEST], net[LONGEST];

    read_online(online, sizeof(online));
    mask_of(online, mask, sizeof(mask));
    snprintf(at, sizeof(at), "net/%s", interface);
    snprintf(net, sizeof(net), "/sys/class/net/%s", interface);
    begin(giving, "");
    return file(giving, "numa_node", "-1") && file(giving, "local_cpus", "%s", mask) &&
           file(giving, "local_cpulist", "%s", online) &&
           file(giving, "vendor", "0x%x", OV_VENDOR) && file(giving, "device", "0x0") &&
           file(giving, "class", "0x020000") && file(giving, "uevent", "DRIVER=oche") &&
           put_link(giving, "subsystem", "../../../../class/infiniband") &&
           put_link(giving, at, net);
}

/* ---- the device ---- */

/* Returns the rate of the link, as a port has it (port.c); 0: unknown. */
static uint64_t rate_of(const struct oche_identity *device)
{
    const char *text = secure_getenv("OCHE_LINE_RATE");
    struct oche_error unused;
    uint64_t bps;

    if (text != NULL && text[0] != '\0' && oche_rate_parse(text, &bps, &unused))
        return bps;
    return device->loopback ? 0 : oche_link_rate(if_nametoindex(device->interface));
}

/* Writes groups of two bytes, with colons between them: GUIDs and GIDs. */
static const char *groups(const uint8_t *bytes, size_t count, char text[40])
{
    size_t at = 0;

    for (size_t i = 0; i < count; i += 2)
        at += (size_t)snprintf(text + at, 40 - at, "%s%02x%02x", i > 0 ? ":" : "", bytes[i],
                               bytes[i + 1]);
    return text;
}

static bool give_device(struct giving *giving)
{
    const char *name = giving->device->name;
    char below[LONGEST], parent[LONGEST], text[40];
    uint8_t guid[8];

    oche_identity_guid(&giving->device->address, guid);
    groups(guid, sizeof(guid), text);
    snprintf(below, sizeof(below), "/infiniband/%s", name);
    snprintf(parent, sizeof(parent), "../../../%s", name);
    begin(giving, below);
    return file(giving, "node_type", "1: CA") && file(giving, "node_guid", "%s", text) &&
           file(giving, "sys_image_guid", "%s", text) && file(giving, "node_desc", "%s", name) &&
           file(giving, "fw_ver", "%s", OCHE_VERSION) && file(giving, "hca_type", "oche") &&
           file(giving, "board_id", "oche") && file(giving, "hw_rev", "0") &&
           file(giving, "parent", "%s", giving->device->interface) &&
           file(giving, "uevent", "NAME=%s", name) && put_link(giving, "device", parent) &&
           put_link(giving, "subsystem", "../../../../../../class/infiniband");
}

/* Values come when a file is looked at (counts.h). */
static bool give_counters(const struct giving *giving)
{
    char name[LONGEST];

    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++) {
        const struct oche_adapter_counter counter = oche_adapter_counter(i);

        snprintf(name, sizeof(name), "%s/%s", oche_files_counter_folder(counter.group),
                 counter.name);
        if (!file(giving, name, "0"))
            return false;
    }
    return true;
}

static void begin_port(struct giving *giving)
{
    char below[LONGEST];

    snprintf(below, sizeof(below), "/infiniband/%s/ports/%d", giving->device->name, OV_PORT_NUM);
    begin(giving, below);
}

static bool give_state(const struct giving *giving)
{
    const bool is_up = oche_files_port_is_up(&giving->device->address);

    return file(giving, "state", "%d: %s", is_up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
                is_up ? "ACTIVE" : "DOWN") &&
           file(giving, "phys_state", "%d: %s", is_up ? OV_PHYSICAL_LINK_UP : OV_PHYSICAL_DISABLED,
                is_up ? "LinkUp" : "Disabled");
}

static bool give_port(struct giving *giving)
{
    char text[40], rate[40];

    begin_port(giving);
    oche_link_speed_print(oche_link_speed(rate_of(giving->device)), rate, sizeof(rate));
    groups(giving->device->address.ip, sizeof(giving->device->address.ip), text);
    return give_state(giving) && file(giving, "rate", "%s", rate) &&
           file(giving, "link_layer", "Ethernet") && file(giving, "lid", "0x0") &&
           file(giving, "lid_mask_count", "0") && file(giving, "sm_lid", "0x0") &&
           file(giving, "sm_sl", "0") &&
           file(giving, "cap_mask", "0x%08x", (unsigned)OV_PORT_CAPABILITIES) &&
           file(giving, "gids/0", "%s", text) && file(giving, "gid_attrs/types/0", "RoCE v2") &&
           file(giving, "gid_attrs/ndevs/0", "%s", giving->device->interface) &&
           file(giving, "pkeys/0", "0x%04x", OV_PKEY) && give_counters(giving);
}

/* ---- what verbs name in dev_name and dev_path ---- */

static bool give_verbs(struct giving *giving)
{
    char below[LONGEST], parent[LONGEST];

    snprintf(below, sizeof(below), "/infiniband_verbs/u%s", giving->device->name);
    snprintf(parent, sizeof(parent), "../../../%s", giving->device->name);
    begin(giving, below);
    return file(giving, "ibdev", "%s", giving->device->name) && file(giving, "abi_version", "1") &&
           file(giving, "dev", "1:3") && put_link(giving, "device", parent) &&
           put_link(giving, "subsystem", "../../../../../../class/infiniband_verbs");
}

static bool give_links(const struct giving *giving)
{
    const struct oche_files_sink *sink = giving->sink;
    const char *name = giving->device->name;
    char path[LONGEST], target[LONGEST];

    snprintf(path, sizeof(path), OCHE_CLASS_FOLDER "/%s", name);
    snprintf(target, sizeof(target), "../../devices/virtual/oche/%s/infiniband/%s", name, name);
    if (!sink->link(sink->context, path, target))
        return false;
    snprintf(path, sizeof(path), OCHE_VERBS_FOLDER "/u%s", name);
    snprintf(target, sizeof(target), "../../devices/virtual/oche/%s/infiniband_verbs/u%s", name,
             name);
    if (!sink->link(sink->context, path, target))
        return false;
    snprintf(path, sizeof(path), OCHE_DEV_FOLDER "/u%s", name);
    return sink->link(sink->context, path, "/dev/null");
}

/* ---- all ---- */

static bool give_all(const struct oche_files_sink *sink, const struct oche_identity *all, int count)
{
    static const char *const folders[] = {OCHE_CLASS_FOLDER, OCHE_VERBS_FOLDER, OCHE_DEVICES_FOLDER,
                                          OCHE_DEV_FOLDER};

    for (size_t i = 0; i < OCHE_COUNT_OF(folders); i++)
        if (!sink->folder(sink->context, folders[i]))
            return false;
    for (int i = 0; i < count; i++) {
        struct giving giving = {.sink = sink, .device = &all[i]};

        if (!give_parent(&giving) || !give_device(&giving) || !give_port(&giving) ||
            !give_verbs(&giving) || !give_links(&giving))
            return false;
    }
    return sink->file(sink->context, OCHE_VERBS_FOLDER "/abi_version", ABI_VERSION);
}

/* Lists the devices that verbs list; they print why there are none. Returns their number. */
static int list(struct oche_identity **all)
{
    const char *only = secure_getenv("OCHE_DEVICE");
    struct oche_error unused;

    return oche_identities(only != NULL && only[0] != '\0' ? only : NULL, all, &unused);
}

void oche_files_states(const struct oche_files_sink *sink, const struct oche_address *address)
{
    struct oche_identity *all;
    const int count = list(&all);

    for (int i = 0; i < count; i++) {
        struct giving giving = {.sink = sink, .device = &all[i]};

        begin_port(&giving);
        if (memcmp(&all[i].address, address, sizeof(*address)) == 0 && !give_state(&giving))
            break;
    }
    free(all);
}

bool oche_files_contents(const struct oche_files_sink *sink)
{
    struct oche_identity *all;
    const int count = list(&all);
    const bool given = give_all(sink, all, count);

    free(all);
    return given;
}
