/* SPDX-License-Identifier: Apache-2.0 */
/* Notes which ports are down; see state.h. */
#include "device/files/state.h"

#include <pthread.h>
#include <string.h>

#include "device/files/next.h"
#include "device/files/tree.h"
#include "device/verbs/facts.h"
#include "device/verbs/identity.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct oche_address down[OCHE_MOST_DEVICES];
static unsigned count;

/* Returns the place of the address in the list; `count`: it is not there. */
static unsigned place_of(const struct oche_address *address)
{
    unsigned i = 0;

    while (i < count && memcmp(&down[i], address, sizeof(*address)) != 0)
        i++;
    return i;
}

bool oche_files_port_is_up(const struct oche_address *address)
{
    bool is_up;

    pthread_mutex_lock(&mutex);
    is_up = place_of(address) == count;
    pthread_mutex_unlock(&mutex);
    return is_up;
}

void oche_files_states_in_child(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

SHOWN void oche_files_port_changed(const uint8_t ip[16], bool is_up)
{
    struct oche_address address;
    unsigned place;

    memcpy(address.ip, ip, sizeof(address.ip));
    pthread_mutex_lock(&mutex);
    place = place_of(&address);
    if (is_up && place < count)
        down[place] = down[--count];
    else if (!is_up && place == count && count < OCHE_MOST_DEVICES)
        down[count++] = address;
    pthread_mutex_unlock(&mutex);
    oche_tree_show_state(&address);
}
