/* SPDX-License-Identifier: Apache-2.0 */
/* Reads captures in tests. */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/capture.h"
#include "tests/support/test.h"

const struct golden_file golden_files[] = {
    {"rxe-atomic-cas.pcap", 10},
    {"rxe-atomic-fadd.pcap", 10},
    {"rxe-rc.pcap", 200},
    {"rxe-read.pcap", 45},
    {"rxe-rping.pcap", 41},
    {"rxe-send-mtu4096.pcap", 46},
    {"rxe-uc-write.pcap", 40},
    {"rxe-ud.pcap", 5},
    {"rxe-write64k.pcap", 325},
    {"oche-rxe-atomic-again.pcap", 8},
    {"oche-rxe-nak.pcap", 14},
    {"oche-rxe-read-again.pcap", 22},
    {"oche-rxe-rnr.pcap", 11},
    {"oche-rxe-timeout.pcap", 7},
    {"rxe-oche-atomic-again.pcap", 7},
    {"rxe-oche-nak.pcap", 21},
    {"rxe-oche-read-again.pcap", 21},
    {"rxe-oche-rnr.pcap", 48},
    {"rxe-oche-timeout.pcap", 9},
};
const size_t golden_file_count = sizeof golden_files / sizeof golden_files[0];

unsigned capture_each(const char *directory, const char *name,
                      void (*each)(void *context, unsigned number, uint8_t *bytes, size_t count),
                      void *context)
{
    char path[1024], error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *data;
    unsigned count = 0;
    pcap_t *pcap;
    int status;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    pcap = pcap_open_offline(path, error);
    if (pcap == NULL)
        fail_msg("%s", error);
    assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
    while ((status = pcap_next_ex(pcap, &header, &data)) == 1) {
        uint8_t *copy = malloc(header->caplen);

        assert_non_null(copy);
        memcpy(copy, data, header->caplen);
        each(context, count++, copy, header->caplen);
        free(copy);
    }
    assert_int_equal(status, PCAP_ERROR_BREAK);
    pcap_close(pcap);
    return count;
}
