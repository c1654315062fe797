/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private interface between libibverbs and its drivers, as rdma-core 34 to 56 name it. Programs
 * such as perftest are linked with two drivers, libmlx5 and libefa, which would not even load
 * without these names. They find no device of theirs here, so they never call what refuses below.
 * ibv_query_gid_type is real, for ibv_devinfo: query.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/verbs/internal.h"

#define REFUSED(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        errno = EOPNOTSUPP;                                                                        \
        return EOPNOTSUPP;                                                                         \
    }

REFUSED(execute_ioctl)
REFUSED(ibv_cmd_advise_mr)
REFUSED(ibv_cmd_alloc_dm)
REFUSED(ibv_cmd_alloc_mw)
REFUSED(ibv_cmd_alloc_pd)
REFUSED(ibv_cmd_attach_mcast)
REFUSED(ibv_cmd_close_xrcd)
REFUSED(ibv_cmd_create_ah)
REFUSED(ibv_cmd_create_counters)
REFUSED(ibv_cmd_create_cq)
REFUSED(ibv_cmd_create_cq_ex)
REFUSED(ibv_cmd_create_flow)
REFUSED(ibv_cmd_create_flow_action_esp)
REFUSED(ibv_cmd_create_qp)
REFUSED(ibv_cmd_create_qp_ex)
REFUSED(ibv_cmd_create_qp_ex2)
REFUSED(ibv_cmd_create_rwq_ind_table)
REFUSED(ibv_cmd_create_srq)
REFUSED(ibv_cmd_create_srq_ex)
REFUSED(ibv_cmd_create_wq)
REFUSED(ibv_cmd_dealloc_mw)
REFUSED(ibv_cmd_dealloc_pd)
REFUSED(ibv_cmd_dereg_mr)
REFUSED(ibv_cmd_destroy_ah)
REFUSED(ibv_cmd_destroy_counters)
REFUSED(ibv_cmd_destroy_cq)
REFUSED(ibv_cmd_destroy_flow)
REFUSED(ibv_cmd_destroy_flow_action)
REFUSED(ibv_cmd_destroy_qp)
REFUSED(ibv_cmd_destroy_rwq_ind_table)
REFUSED(ibv_cmd_destroy_srq)
REFUSED(ibv_cmd_destroy_wq)
REFUSED(ibv_cmd_detach_mcast)
REFUSED(ibv_cmd_free_dm)
REFUSED(ibv_cmd_get_context)
REFUSED(ibv_cmd_modify_cq)
REFUSED(ibv_cmd_modify_flow_action_esp)
REFUSED(ibv_cmd_modify_qp)
REFUSED(ibv_cmd_modify_qp_ex)
REFUSED(ibv_cmd_modify_srq)
REFUSED(ibv_cmd_modify_wq)
REFUSED(ibv_cmd_open_qp)
REFUSED(ibv_cmd_open_xrcd)
REFUSED(ibv_cmd_poll_cq)
REFUSED(ibv_cmd_post_recv)
REFUSED(ibv_cmd_post_send)
REFUSED(ibv_cmd_post_srq_recv)
REFUSED(ibv_cmd_query_context)
REFUSED(ibv_cmd_query_device_any)
REFUSED(ibv_cmd_query_mr)
REFUSED(ibv_cmd_query_port)
REFUSED(ibv_cmd_query_qp)
REFUSED(ibv_cmd_query_srq)
REFUSED(ibv_cmd_read_counters)
REFUSED(ibv_cmd_reg_dm_mr)
REFUSED(ibv_cmd_reg_dmabuf_mr)
REFUSED(ibv_cmd_reg_mr)
REFUSED(ibv_cmd_req_notify_cq)
REFUSED(ibv_cmd_rereg_mr)
REFUSED(ibv_cmd_resize_cq)

#define NULL_POINTER(name)                                                                         \
    void *name(void);                                                                              \
    void *name(void)                                                                               \
    {                                                                                              \
        return ov_null(EOPNOTSUPP);                                                                \
    }

NULL_POINTER(_verbs_init_and_alloc_context)
NULL_POINTER(verbs_open_device)

/* Drivers say that they are there when they are loaded: there is nothing that they could drive. */
#define IGNORED(name)                                                                              \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
    }

IGNORED(__verbs_log)
IGNORED(ibv_register_driver)
IGNORED(verbs_init_cq)
IGNORED(verbs_register_driver_34)
IGNORED(verbs_set_ops)
IGNORED(verbs_uninit_context)

unsigned int __ioctl_final_num_attrs(void);
unsigned int __ioctl_final_num_attrs(void)
{
    return 0;
}

extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

/* ---- files of sysfs ---- */

/* The first line of a file, without its end. Returns its length, or -1. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
    char path[IBV_SYSFS_PATH_MAX + 128];
    FILE *from;
    size_t count;

    if (size == 0 || snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
        return -1;
    from = fopen(path, "re");
    if (from == NULL)
        return -1;
    count = fread(buf, 1, size, from);
    fclose(from);
    if (count == 0)
        return -1;
    if (buf[count - 1] == '\n')
        count--;
    else if (count == size)
        count = size - 1;
    buf[count] = '\0';
    return (int)count;
}

int ibv_read_ibdev_sysfs_file(char *buf, size_t size, void *sysfs_device, const char *format, ...);
int ibv_read_ibdev_sysfs_file(char *buf, size_t size, void *sysfs_device, const char *format, ...)
{
    (void)buf;
    (void)size;
    (void)sysfs_device;
    (void)format;
    return -1;
}
