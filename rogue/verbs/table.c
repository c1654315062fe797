/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps an object of the library below to ours. Every post and poll uses this map, so reading takes
 * no lock. An object is removed before it is destroyed, as for the application itself.
 */
#include "rogue/verbs/internal.h"

#define SLOTS 65536 /* the memory of unused slots is never touched */
#define GONE  ((uintptr_t)1)
/*
 * Slots of removed objects are reused, or become as new (clear_slots). So even if objects come and
 * go at new addresses, the number of slots stays near that of objects, and searches stay short.
 */
#define MOST_OBJECTS (SLOTS / 8 * 3)
#define MOST_USED    (SLOTS / 8 * 7)

struct slot {
    _Atomic uintptr_t key; /* 0: never used */
    void *_Atomic value;
};

static struct slot tables[RV_KINDS][SLOTS];
static uint32_t used[RV_KINDS], objects[RV_KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t first_slot(uintptr_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 48);
}

static struct slot *slot_of(enum rv_kind kind, const void *object)
{
    uintptr_t key = (uintptr_t)object;

    for (uint32_t at = first_slot(key);; at = (at + 1) % SLOTS) {
        struct slot *slot = &tables[kind][at];
        uintptr_t found = atomic_load_explicit(&slot->key, memory_order_acquire);
        if (found == key)
            return slot;
        if (found == 0)
            return NULL;
    }
}

void *rv_find(enum rv_kind kind, const void *object)
{
    struct slot *slot = slot_of(kind, object);

    return slot == NULL ? NULL : atomic_load_explicit(&slot->value, memory_order_relaxed);
}

bool rv_put(enum rv_kind kind, const void *object, void *value)
{
    uintptr_t key = (uintptr_t)object;
    bool room;

    pthread_mutex_lock(&lock);
    room = objects[kind] < MOST_OBJECTS && used[kind] < MOST_USED;
    for (uint32_t at = first_slot(key); room; at = (at + 1) % SLOTS) {
        struct slot *slot = &tables[kind][at];
        if (slot->key > GONE)
            continue;
        used[kind] += slot->key == 0;
        objects[kind]++;
        atomic_store_explicit(&slot->value, value, memory_order_relaxed);
        atomic_store_explicit(&slot->key, key, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&lock);
    return room;
}

/*
 * Marks a slot whose object is gone, and such slots before it, as never used, if the slot after it
 * was never used: a lookup ends there in any case.
 */
static void clear_slots(enum rv_kind kind, uint32_t at)
{
    while (tables[kind][at].key == GONE && tables[kind][(at + 1) % SLOTS].key == 0) {
        atomic_store_explicit(&tables[kind][at].key, 0, memory_order_release);
        used[kind]--;
        at = (at + SLOTS - 1) % SLOTS;
    }
}

void rv_remove(enum rv_kind kind, const void *object)
{
    struct slot *slot;

    pthread_mutex_lock(&lock);
    slot = slot_of(kind, object);
    if (slot != NULL) {
        atomic_store_explicit(&slot->key, GONE, memory_order_release);
        objects[kind]--;
        clear_slots(kind, (uint32_t)(slot - tables[kind]));
    }
    pthread_mutex_unlock(&lock);
}

void rv_tables_hold(void)
{
    pthread_mutex_lock(&lock);
}

void rv_tables_release(void)
{
    pthread_mutex_unlock(&lock);
}
