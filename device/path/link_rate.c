/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the interface's driver for the link rate, as ethtool does. */
#include "device/path/link_rate.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base.h"

static bool ask(int fd, struct ifreq *request, void *what)
{
    request->ifr_data = what;
    return ioctl(fd, SIOCETHTOOL, request) == 0;
}

/* True if the interface is a device on a bus. */
static bool is_hardware(int fd, struct ifreq *request)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};

    return ask(fd, request, &info) && info.bus_info[0] != '\0' &&
           strncmp(info.bus_info, "N/A", sizeof(info.bus_info)) != 0;
}

/* Returns the link's rate in Mbit/s, or 0. */
static uint64_t megabits(int fd, struct ifreq *request)
{
    union {
        struct ethtool_link_settings settings;
        uint32_t words[64 + 3 * INT8_MAX]; /* with the longest masks that a kernel can want */
    } link = {.settings = {.cmd = ETHTOOL_GLINKSETTINGS}};

    /* The first question is how long the masks are; the answer is that, negated. */
    if (!ask(fd, request, &link) || link.settings.link_mode_masks_nwords >= 0)
        return 0;
    link.settings.cmd = ETHTOOL_GLINKSETTINGS;
    link.settings.link_mode_masks_nwords = (int8_t)-link.settings.link_mode_masks_nwords;
    if (!ask(fd, request, &link) || link.settings.speed > INT32_MAX)
        return 0;
    return link.settings.speed;
}

uint64_t oche_link_rate(unsigned interface_index)
{
    struct ifreq request = {0};
    uint64_t rate = 0;
    int fd;

    if (if_indextoname(interface_index, request.ifr_name) == NULL)
        return 0;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    if (is_hardware(fd, &request))
        rate = megabits(fd, &request) * OCHE_MBPS;
    close(fd);
    return rate;
}
