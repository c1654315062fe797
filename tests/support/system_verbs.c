/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for the system's libibverbs.so.1 on machines without an RDMA device and perhaps without
 * such a library. Like rdma-core's it has that soname, loads its drivers (the file that
 * SYSTEM_VERBS_DRIVER names), and has a device for each driver that registers. Each verb notes its
 * name in `system_verbs_called` and returns what the test expects, SYSTEM_VERBS_INT or
 * system_verbs_object, so that the test can tell which library a call has reached.
 */
#include "tests/support/system_verbs.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define MOST 4

/* As in real drivers: the device, then its driver's table. */
struct device {
    struct ibv_device device;
    const struct system_verbs_driver *driver;
};

const char *system_verbs_called = "";
char system_verbs_said[SYSTEM_VERBS_TEXT];
unsigned system_verbs_lists; /* lists given out and not yet returned */
union system_verbs_object system_verbs_object;
const void *system_verbs_cq_context; /* the last completion queue's */

static struct device devices[MOST];
static unsigned count;

#define VERB(type, value, name, ...)                                                               \
    type name(__VA_ARGS__);                                                                        \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        system_verbs_called = #name;                                                               \
        return value;                                                                              \
    }

#define NUMBER(name, ...) VERB(int, SYSTEM_VERBS_INT, name, __VA_ARGS__)
#define OBJECT(type, name, ...)                                                                    \
    VERB(struct type *, (struct type *)(void *)&system_verbs_object, name, __VA_ARGS__)
#define NOTHING(name, ...) VERB(void, (void)0, name, __VA_ARGS__)

/* ---- devices ---- */

void verbs_register_driver(const struct system_verbs_driver *driver)
{
    if (count == MOST)
        abort();
    devices[count].driver = driver;
    snprintf(devices[count].device.name, sizeof(devices[count].device.name), "%s", driver->name);
    count++;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
    const char *driver = getenv("SYSTEM_VERBS_DRIVER");
    struct ibv_device **list = calloc(MOST + 1, sizeof(*list));

    system_verbs_called = "ibv_get_device_list";
    if (driver != NULL && dlopen(driver, RTLD_NOW) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    for (unsigned i = 0; list != NULL && i < count; i++)
        list[i] = &devices[i].device;
    if (num_devices != NULL)
        *num_devices = (int)count;
    system_verbs_lists++;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    system_verbs_called = "ibv_free_device_list";
    system_verbs_lists--;
    free(list);
}

/* Looks for the device in the library's own list, as rdma-core does. */
struct ibv_context *ibv_import_device(int cmd_fd)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = NULL;

    if (list == NULL || list[0] != &devices[0].device)
        errno = EXDEV;
    else
        context = devices[0].driver->open(&devices[0].device, cmd_fd);
    ibv_free_device_list(list);
    system_verbs_called = "ibv_import_device";
    return context;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    system_verbs_called = "ibv_open_device";
    return ((struct device *)(void *)device)->driver->open(device, -1);
}

VERB(const char *, "a name of the system's", ibv_get_device_name, struct ibv_device *device)
VERB(__be64, htobe64(SYSTEM_VERBS_INT), ibv_get_device_guid, struct ibv_device *device)
NUMBER(ibv_get_device_index, struct ibv_device *device)
NUMBER(ibv_close_device, struct ibv_context *context)

/* ---- the private interface, for the driver ---- */

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    errno = E2BIG; /* must fail through a pointer to errno, as drivers do */
    return NULL;
}

/* Makes a context, which the driver then completes, as in rdma-core. */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t bytes,
                                    struct verbs_context *offset, uint32_t driver_id)
{
    struct verbs_context *verbs = calloc(1, sizeof(*verbs));

    if (verbs == NULL || bytes != SYSTEM_VERBS_INT || offset != NULL || driver_id != UINT32_MAX)
        abort();
    verbs->sz = sizeof(*verbs);
    verbs->create_cq_ex = create_cq_ex;
    verbs->context.device = device;
    verbs->context.cmd_fd = cmd_fd;
    verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    return verbs;
}

void __verbs_log(struct verbs_context *context, uint32_t level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(system_verbs_said, sizeof(system_verbs_said), format, arguments);
    va_end(arguments);
}

NUMBER(execute_ioctl, struct ibv_context *context, void *command)
VERB(struct verbs_context *, NULL, verbs_open_device, struct ibv_device *device, void *private)

extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = true;

/* ---- verbs ---- */

NUMBER(ibv_query_device, struct ibv_context *context, struct ibv_device_attr *attr)
NUMBER(ibv_query_port, struct ibv_context *context, uint8_t port,
       struct _compat_ibv_port_attr *attr)
NUMBER(ibv_query_gid, struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
NUMBER(_ibv_query_gid_ex, struct ibv_context *context, uint32_t port, uint32_t index,
       struct ibv_gid_entry *entry, uint32_t flags, size_t bytes)
VERB(ssize_t, SYSTEM_VERBS_INT, _ibv_query_gid_table, struct ibv_context *context,
     struct ibv_gid_entry *entries, size_t max, uint32_t flags, size_t bytes)
NUMBER(ibv_query_gid_type, struct ibv_context *context, uint8_t port, unsigned int index,
       unsigned int *type)
NUMBER(ibv_query_pkey, struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
NUMBER(ibv_get_pkey_index, struct ibv_context *context, uint8_t port, __be16 pkey)
NUMBER(ibv_resolve_eth_l2_from_gid, struct ibv_context *context, struct ibv_ah_attr *attr,
       uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)

OBJECT(ibv_pd, ibv_alloc_pd, struct ibv_context *context)
NUMBER(ibv_dealloc_pd, struct ibv_pd *pd)
OBJECT(ibv_pd, ibv_import_pd, struct ibv_context *context, uint32_t handle)
NOTHING(ibv_unimport_pd, struct ibv_pd *pd)

OBJECT(ibv_mr, ibv_reg_mr, struct ibv_pd *pd, void *addr, size_t length, int access)
OBJECT(ibv_mr, ibv_reg_mr_iova, struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
       int access)
OBJECT(ibv_mr, ibv_reg_mr_iova2, struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
       unsigned int access)
OBJECT(ibv_mr, ibv_reg_dmabuf_mr, struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
       int fd, int access)
NUMBER(ibv_rereg_mr, struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
       int access)
NUMBER(ibv_dereg_mr, struct ibv_mr *mr)
OBJECT(ibv_mr, ibv_import_mr, struct ibv_pd *pd, uint32_t handle)
NOTHING(ibv_unimport_mr, struct ibv_mr *mr)
OBJECT(ibv_dm, ibv_import_dm, struct ibv_context *context, uint32_t handle)
NOTHING(ibv_unimport_dm, struct ibv_dm *dm)

OBJECT(ibv_comp_channel, ibv_create_comp_channel, struct ibv_context *context)
NUMBER(ibv_destroy_comp_channel, struct ibv_comp_channel *channel)
NUMBER(ibv_get_cq_event, struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
NOTHING(ibv_ack_cq_events, struct ibv_cq *cq, unsigned int events)
VERB(struct ibv_cq *, (system_verbs_cq_context = cq_context, &system_verbs_object.cq),
     ibv_create_cq, struct ibv_context *context, int cqe, void *cq_context,
     struct ibv_comp_channel *channel, int vector)
NUMBER(ibv_resize_cq, struct ibv_cq *cq, int cqe)
NUMBER(ibv_destroy_cq, struct ibv_cq *cq)
NUMBER(ibv_get_async_event, struct ibv_context *context, struct ibv_async_event *event)
NOTHING(ibv_ack_async_event, struct ibv_async_event *event)

OBJECT(ibv_qp, ibv_create_qp, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
OBJECT(ibv_qp_ex, ibv_qp_to_qp_ex, struct ibv_qp *qp)
NUMBER(ibv_modify_qp, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
NUMBER(ibv_query_qp, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
       struct ibv_qp_init_attr *init)
NUMBER(ibv_query_qp_data_in_order, struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
NUMBER(ibv_set_ece, struct ibv_qp *qp, struct ibv_ece *ece)
NUMBER(ibv_query_ece, struct ibv_qp *qp, struct ibv_ece *ece)
NUMBER(ibv_attach_mcast, struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
NUMBER(ibv_detach_mcast, struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
NUMBER(ibv_destroy_qp, struct ibv_qp *qp)

OBJECT(ibv_srq, ibv_create_srq, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
NUMBER(ibv_modify_srq, struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
NUMBER(ibv_query_srq, struct ibv_srq *srq, struct ibv_srq_attr *attr)
NUMBER(ibv_destroy_srq, struct ibv_srq *srq)

OBJECT(ibv_ah, ibv_create_ah, struct ibv_pd *pd, struct ibv_ah_attr *attr)
NUMBER(ibv_init_ah_from_wc, struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
       struct ibv_grh *grh, struct ibv_ah_attr *attr)
OBJECT(ibv_ah, ibv_create_ah_from_wc, struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
       uint8_t port)
NUMBER(ibv_destroy_ah, struct ibv_ah *ah)

NUMBER(ibv_fork_init, void)
VERB(enum ibv_fork_status, IBV_FORK_ENABLED, ibv_is_fork_initialized, void)
NUMBER(ibv_dontfork_range, void *base, size_t bytes)
NUMBER(ibv_dofork_range, void *base, size_t bytes)
