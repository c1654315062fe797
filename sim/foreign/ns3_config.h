/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations of HPCC's ns-3 simulator and its children (ConWeave, ns3-datacenter, SimAI):
 *
 *     CC_MODE 1
 *     KMAX_MAP 2 25000000000 400 100000000000 1600
 *     LINK_DOWN 0 0 0 {a remark}
 *
 * Words between blanks, over all lines: a key and its values. As there, a key that comes twice has
 * its last value, a map collects the entries of all its lines, and words that are no key and follow
 * no key are skipped: they are kept here, to be named. Texts in braces are remarks, and so are
 * lines from # on.
 */
#ifndef OCHE_SIM_FOREIGN_NS3_CONFIG_H
#define OCHE_SIM_FOREIGN_NS3_CONFIG_H

#include "core/base.h"
#include "params/error.h"

/* The keys: name, kind of its value, what it is for. */
#define OCHE_NS3_KEYS(X)                                                                           \
    X(ENABLE_QCN, COUNT, MEANT)                                                                    \
    X(USE_DYNAMIC_PFC_THRESHOLD, COUNT, IGNORED)                                                   \
    X(PACKET_PAYLOAD_SIZE, COUNT, MEANT)                                                           \
    X(TOPOLOGY_FILE, WORD, MEANT)                                                                  \
    X(FLOW_FILE, WORD, MEANT)                                                                      \
    X(SIMULATOR_STOP_TIME, REAL, MEANT)                                                            \
    X(CC_MODE, COUNT, MEANT)                                                                       \
    X(ALPHA_RESUME_INTERVAL, REAL, MEANT)                                                          \
    X(RATE_DECREASE_INTERVAL, REAL, MEANT)                                                         \
    X(CLAMP_TARGET_RATE, COUNT, MEANT)                                                             \
    X(RP_TIMER, REAL, MEANT)                                                                       \
    X(EWMA_GAIN, REAL, MEANT)                                                                      \
    X(FAST_RECOVERY_TIMES, COUNT, MEANT)                                                           \
    X(RATE_AI, RATE, MEANT)                                                                        \
    X(RATE_HAI, RATE, MEANT)                                                                       \
    X(MIN_RATE, RATE, MEANT)                                                                       \
    X(DCTCP_RATE_AI, RATE, MEANT)                                                                  \
    X(ERROR_RATE_PER_LINK, REAL, MEANT)                                                            \
    X(L2_CHUNK_SIZE, COUNT, MEANT)                                                                 \
    X(L2_ACK_INTERVAL, COUNT, MEANT)                                                               \
    X(L2_BACK_TO_ZERO, COUNT, MEANT)                                                               \
    X(HAS_WIN, COUNT, MEANT)                                                                       \
    X(GLOBAL_T, COUNT, MEANT)                                                                      \
    X(VAR_WIN, COUNT, MEANT)                                                                       \
    X(FAST_REACT, COUNT, MEANT)                                                                    \
    X(U_TARGET, REAL, MEANT)                                                                       \
    X(MI_THRESH, COUNT, MEANT)                                                                     \
    X(INT_MULTI, COUNT, MEANT)                                                                     \
    X(MULTI_RATE, COUNT, MEANT)                                                                    \
    X(SAMPLE_FEEDBACK, COUNT, MEANT)                                                               \
    X(PINT_LOG_BASE, REAL, MEANT)                                                                  \
    X(PINT_PROB, REAL, MEANT)                                                                      \
    X(RATE_BOUND, COUNT, MEANT)                                                                    \
    X(ACK_HIGH_PRIO, COUNT, MEANT)                                                                 \
    X(LINK_DOWN, THREE, MEANT)                                                                     \
    X(KMAX_MAP, MAP, MEANT)                                                                        \
    X(KMIN_MAP, MAP, MEANT)                                                                        \
    X(PMAX_MAP, MAP, MEANT)                                                                        \
    X(BUFFER_SIZE, COUNT, MEANT)                                                                   \
    X(ENABLE_PFC, COUNT, MEANT)                                                                    \
    X(ENABLE_IRN, COUNT, MEANT)                                                                    \
    X(LB_MODE, COUNT, MEANT)                                                                       \
    X(RANDOM_SEED, COUNT, MEANT)                                                                   \
    X(FLOWGEN_START_TIME, REAL, MEANT)                                                             \
    X(FLOWGEN_STOP_TIME, REAL, MEANT)                                                              \
    X(PAUSE_TIME, REAL, MEANT)                                                                     \
    X(CONWEAVE_TX_EXPIRY_TIME, REAL, MEANT)                                                        \
    X(CONWEAVE_REPLY_TIMEOUT_EXTRA, REAL, MEANT)                                                   \
    X(CONWEAVE_PATH_PAUSE_TIME, REAL, MEANT)                                                       \
    X(CONWEAVE_EXTRA_VOQ_FLUSH_TIME, REAL, MEANT)                                                  \
    X(CONWEAVE_DEFAULT_VOQ_WAITING_TIME, REAL, MEANT)                                              \
    X(LOAD, REAL, IGNORED)                                                                         \
    X(DATA_RATE, WORD, IGNORED)                                                                    \
    X(LINK_DELAY, WORD, IGNORED)                                                                   \
    X(FLOW_INPUT_FILE, WORD, OUTPUT)                                                               \
    X(TRACE_FILE, WORD, OUTPUT)                                                                    \
    X(TRACE_OUTPUT_FILE, WORD, OUTPUT)                                                             \
    X(ENABLE_TRACE, COUNT, OUTPUT)                                                                 \
    X(FCT_OUTPUT_FILE, WORD, OUTPUT)                                                               \
    X(PFC_OUTPUT_FILE, WORD, OUTPUT)                                                               \
    X(CNP_OUTPUT_FILE, WORD, OUTPUT)                                                               \
    X(QLEN_MON_FILE, WORD, OUTPUT)                                                                 \
    X(QLEN_MON_START, REAL, OUTPUT)                                                                \
    X(QLEN_MON_END, REAL, OUTPUT)                                                                  \
    X(QLEN_MON_INTERVAL, REAL, OUTPUT)                                                             \
    X(BW_MON_FILE, WORD, OUTPUT)                                                                   \
    X(BW_MON_INTERVAL, REAL, OUTPUT)                                                               \
    X(RATE_MON_FILE, WORD, OUTPUT)                                                                 \
    X(CNP_MON_FILE, WORD, OUTPUT)                                                                  \
    X(QP_MON_INTERVAL, REAL, OUTPUT)                                                               \
    X(MON_START, REAL, OUTPUT)                                                                     \
    X(MON_END, REAL, OUTPUT)                                                                       \
    X(SW_MONITORING_INTERVAL, REAL, OUTPUT)                                                        \
    X(VOQ_MON_FILE, WORD, OUTPUT)                                                                  \
    X(VOQ_MON_DETAIL_FILE, WORD, OUTPUT)                                                           \
    X(UPLINK_MON_FILE, WORD, OUTPUT)                                                               \
    X(CONN_MON_FILE, WORD, OUTPUT)                                                                 \
    X(EST_ERROR_MON_FILE, WORD, OUTPUT)

enum oche_ns3_key {
#define X(name, kind, role) OCHE_NS3_##name,
    OCHE_NS3_KEYS(X)
#undef X
        OCHE_NS3_KEY_COUNT
};

enum oche_ns3_role {
    OCHE_NS3_MEANT,   /* it changes what is simulated */
    OCHE_NS3_OUTPUT,  /* it names, or bounds, what those programs write */
    OCHE_NS3_IGNORED, /* those programs read it and do not use it */
};

/* A value. `line` 0: the key is not there. */
struct oche_ns3_value {
    unsigned line;
    uint64_t count;    /* of kind COUNT; of kind RATE in bit/s */
    double real;       /* of kinds COUNT and REAL */
    uint64_t three[3]; /* of LINK_DOWN: microseconds, node, node */
    char *word;        /* of kind WORD; malloc'd */
};

/* An entry of a map, by the rate of a port. */
struct oche_ns3_entry {
    enum oche_ns3_key key; /* KMAX_MAP, KMIN_MAP or PMAX_MAP */
    uint64_t rate_bps;
    double value; /* KB, or a probability */
};

/* A word that is no key, as it begins a row of such words. */
struct oche_ns3_stranger {
    char *word; /* malloc'd */
    unsigned line;
};

struct oche_ns3_config {
    struct oche_ns3_value value[OCHE_NS3_KEY_COUNT];
    struct oche_ns3_entry *entries;
    struct oche_ns3_stranger *strangers;
    size_t entry_count, entry_room, stranger_count, stranger_room;
    unsigned keys;   /* number of keys in the file that are known */
    unsigned twice;  /* keys that came again */
    char again[100]; /* the first of them */
};

const char *oche_ns3_key_name(enum oche_ns3_key key);
enum oche_ns3_role oche_ns3_key_role(enum oche_ns3_key key);

/*
 * True if the text begins as a configuration does: its first word, or a word at the beginning of
 * each of two lines, is a key.
 */
bool oche_ns3_is_config(const char *text, size_t bytes);

/*
 * Reads a configuration. Returns false, with "NAME:LINE: …" and nothing to free, if a value is
 * wrong or missing.
 */
bool oche_ns3_config_read(struct oche_ns3_config *config, const char *name, const char *text,
                          size_t bytes, struct oche_error *error);
void oche_ns3_config_free(struct oche_ns3_config *config);

/*
 * Finds the entry of a map for a rate; the last one counts. Returns false if there is none.
 */
bool oche_ns3_config_entry(const struct oche_ns3_config *config, enum oche_ns3_key key,
                           uint64_t rate_bps, double *value);

#endif
