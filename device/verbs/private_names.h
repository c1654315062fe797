/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private interface between libibverbs and its drivers, for C and for the assembler. Its
 * version is the number in IBVERBS_PRIVATE_34. That version lasted from rdma-core 34 to 56; later
 * ones came with 57, 59, 64 and 65. Only structs behind pointers changed, so here each version has
 * the names of all versions.
 */

/* The later versions, each with an argument. */
#define OV_PRIVATE_LATER(X, argument)                                                              \
    X(57, argument) X(59, argument) X(64, argument) X(65, argument)

/* Names that always lead to a function of ours: the name and the function. */
#define OV_PRIVATE_OWN(X)                                                                          \
    X(ibv_query_gid_type, ov_query_gid_type)                                                       \
    X(ibv_wr_opcode_str, ov_wr_opcode_str)

/*
 * Names whose calls are passed on to the system's library with unchanged arguments; and the
 * function that is called instead while that library is not loaded (private.c).
 */
#define OV_PRIVATE_NAMES(X)                                                                        \
    X(__ioctl_final_num_attrs, nothing)                                                            \
    X(__verbs_log, nothing)                                                                        \
    X(_verbs_init_and_alloc_context, no_pointer)                                                   \
    X(execute_ioctl, refuse)                                                                       \
    X(ibv_cmd_advise_mr, refuse)                                                                   \
    X(ibv_cmd_alloc_dm, refuse)                                                                    \
    X(ibv_cmd_alloc_dmah, refuse)                                                                  \
    X(ibv_cmd_alloc_mw, refuse)                                                                    \
    X(ibv_cmd_alloc_pd, refuse)                                                                    \
    X(ibv_cmd_attach_mcast, refuse)                                                                \
    X(ibv_cmd_close_xrcd, refuse)                                                                  \
    X(ibv_cmd_create_ah, refuse)                                                                   \
    X(ibv_cmd_create_comp_cntr, refuse)                                                            \
    X(ibv_cmd_create_counters, refuse)                                                             \
    X(ibv_cmd_create_cq, refuse)                                                                   \
    X(ibv_cmd_create_cq_ex, refuse)                                                                \
    X(ibv_cmd_create_cq_ex2, refuse)                                                               \
    X(ibv_cmd_create_flow, refuse)                                                                 \
    X(ibv_cmd_create_flow_action_esp, refuse)                                                      \
    X(ibv_cmd_create_qp, refuse)                                                                   \
    X(ibv_cmd_create_qp_ex, refuse)                                                                \
    X(ibv_cmd_create_qp_ex2, refuse)                                                               \
    X(ibv_cmd_create_rwq_ind_table, refuse)                                                        \
    X(ibv_cmd_create_srq, refuse)                                                                  \
    X(ibv_cmd_create_srq_ex, refuse)                                                               \
    X(ibv_cmd_create_wq, refuse)                                                                   \
    X(ibv_cmd_dealloc_mw, refuse)                                                                  \
    X(ibv_cmd_dealloc_pd, refuse)                                                                  \
    X(ibv_cmd_dereg_mr, refuse)                                                                    \
    X(ibv_cmd_destroy_ah, refuse)                                                                  \
    X(ibv_cmd_destroy_comp_cntr, refuse)                                                           \
    X(ibv_cmd_destroy_counters, refuse)                                                            \
    X(ibv_cmd_destroy_cq, refuse)                                                                  \
    X(ibv_cmd_destroy_flow, refuse)                                                                \
    X(ibv_cmd_destroy_flow_action, refuse)                                                         \
    X(ibv_cmd_destroy_qp, refuse)                                                                  \
    X(ibv_cmd_destroy_rwq_ind_table, refuse)                                                       \
    X(ibv_cmd_destroy_srq, refuse)                                                                 \
    X(ibv_cmd_destroy_wq, refuse)                                                                  \
    X(ibv_cmd_detach_mcast, refuse)                                                                \
    X(ibv_cmd_export_dmabuf_fd, refuse)                                                            \
    X(ibv_cmd_free_dm, refuse)                                                                     \
    X(ibv_cmd_free_dmah, refuse)                                                                   \
    X(ibv_cmd_get_context, refuse)                                                                 \
    X(ibv_cmd_inc_comp_cntr, refuse)                                                               \
    X(ibv_cmd_inc_err_comp_cntr, refuse)                                                           \
    X(ibv_cmd_modify_cq, refuse)                                                                   \
    X(ibv_cmd_modify_flow_action_esp, refuse)                                                      \
    X(ibv_cmd_modify_qp, refuse)                                                                   \
    X(ibv_cmd_modify_qp_ex, refuse)                                                                \
    X(ibv_cmd_modify_srq, refuse)                                                                  \
    X(ibv_cmd_modify_wq, refuse)                                                                   \
    X(ibv_cmd_open_qp, refuse)                                                                     \
    X(ibv_cmd_open_xrcd, refuse)                                                                   \
    X(ibv_cmd_poll_cq, refuse)                                                                     \
    X(ibv_cmd_post_recv, refuse)                                                                   \
    X(ibv_cmd_post_send, refuse)                                                                   \
    X(ibv_cmd_post_srq_recv, refuse)                                                               \
    X(ibv_cmd_qp_attach_comp_cntr, refuse)                                                         \
    X(ibv_cmd_query_comp_cntr_caps, refuse)                                                        \
    X(ibv_cmd_query_context, refuse)                                                               \
    X(ibv_cmd_query_device, refuse)                                                                \
    X(ibv_cmd_query_device_any, refuse)                                                            \
    X(ibv_cmd_query_device_ex, refuse)                                                             \
    X(ibv_cmd_query_mr, refuse)                                                                    \
    X(ibv_cmd_query_port, refuse)                                                                  \
    X(ibv_cmd_query_port_speed, refuse)                                                            \
    X(ibv_cmd_query_qp, refuse)                                                                    \
    X(ibv_cmd_query_srq, refuse)                                                                   \
    X(ibv_cmd_read_comp_cntr, refuse)                                                              \
    X(ibv_cmd_read_counters, refuse)                                                               \
    X(ibv_cmd_read_err_comp_cntr, refuse)                                                          \
    X(ibv_cmd_reg_dm_mr, refuse)                                                                   \
    X(ibv_cmd_reg_dmabuf_mr, refuse)                                                               \
    X(ibv_cmd_reg_mr, refuse)                                                                      \
    X(ibv_cmd_reg_mr_ex, refuse)                                                                   \
    X(ibv_cmd_req_notify_cq, refuse)                                                               \
    X(ibv_cmd_rereg_mr, refuse)                                                                    \
    X(ibv_cmd_resize_cq, refuse)                                                                   \
    X(ibv_cmd_set_comp_cntr, refuse)                                                               \
    X(ibv_cmd_set_err_comp_cntr, refuse)                                                           \
    X(ibv_dmabuf_heap_alloc, no_pointer)                                                           \
    X(ibv_dmabuf_heap_cc_shared_init, refuse)                                                      \
    X(ibv_dmabuf_heap_destroy, refuse)                                                             \
    X(ibv_dmabuf_heap_free, refuse)                                                                \
    X(ibv_get_fw_ver, nothing)                                                                     \
    X(ibv_read_ibdev_sysfs_file, minus_one)                                                        \
    X(verbs_init_cq, nothing)                                                                      \
    X(verbs_open_device, no_pointer)                                                               \
    X(verbs_set_ops, nothing)                                                                      \
    X(verbs_uninit_context, nothing)
