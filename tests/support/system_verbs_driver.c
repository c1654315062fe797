/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver like those of rdma-core, for the stand-in system_verbs.c. It is linked with
 * libibverbs.so.1, which is ours in the process, and registers when it is loaded. DRIVER is its
 * device's name.
 */
#include "tests/support/system_verbs.h"

/* It is linked with the symbols of that version. */
#define TEXT(version) #version
#define IN_VERSION(name, version)                                                                  \
    __asm__(".symver " #name "," #name "@IBVERBS_PRIVATE_" TEXT(version))
IN_VERSION(_verbs_init_and_alloc_context, VERSION);
IN_VERSION(__verbs_log, VERSION);

static struct ibv_context *open_device(struct ibv_device *device, int cmd_fd)
{
    struct verbs_context *verbs =
        _verbs_init_and_alloc_context(device, cmd_fd, SYSTEM_VERBS_INT, NULL, UINT32_MAX);

    if (verbs == NULL)
        return NULL;
    __verbs_log(verbs, 3, "%d %d %d %d %d %d %.2f %s", 1, 2, 3, 4, 5, 6, 0.25, DRIVER);
    return &verbs->context;
}

static const struct system_verbs_driver driver = {.name = DRIVER, .open = open_device};

__attribute__((constructor)) static void say_that_it_is_here(void)
{
    verbs_register_driver(&driver);
}
