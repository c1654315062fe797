/* SPDX-License-Identifier: Apache-2.0 */
/* Flows from files, in both formats, and every error message about them. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/app.h"
#include "sim/topology/topology.h"
#include "tests/unit/app/temporary.h"

static struct oche_error error;
static struct oche_flow_list list;

/* Four of the 128 hosts have names. */
static struct oche_topology_node nodes[130];
static struct oche_topology topology = {.host_count = 128, .switch_count = 2, .nodes = nodes};

static void name_nodes(void)
{
    for (unsigned i = 0; i < OCHE_COUNT_OF(nodes); i++)
        snprintf(nodes[i].name, sizeof(nodes[i].name), i < 128 ? "host%u" : "tor%u", i);
    strcpy(nodes[3].name, "storage-a.rack1");
    strcpy(nodes[127].name, "Alpha");
    strcpy(nodes[0].name, "zulu");
    strcpy(nodes[64].name, "_");
}

static const struct oche_host_rate every_host = {.link_bps = 100 * OCHE_GBPS, .hosts = 128};

static bool read_text(const char *text, oche_time origin)
{
    const struct oche_workload_type *type = oche_workload_type_find("from_file");
    const struct oche_workload_facts facts = {.host_count = 128,
                                              .topology = &topology,
                                              .rates = {.kinds = &every_host, .count = 1},
                                              .mtu_bytes = 1000,
                                              .duration = 10 * OCHE_MS,
                                              .number = 4};
    const char *path = text != NULL ? temporary_file(text) : "/no/such/file";
    uint64_t params[8];

    assert_true(type->table->struct_bytes <= sizeof(params));
    oche_param_defaults(type->table, params);
    oche_param_set(oche_param_find(type->table, "file"), params, (union oche_value){.text = path});
    oche_param_set(oche_param_find(type->table, "origin"), params, (union oche_value){.u = origin});
    list.count = 0;
    list.remark[0] = '\0';
    return type->generate(params, &facts, &list, &error);
}

static void expect_flow(uint32_t i, uint32_t src, uint32_t dst, uint64_t bytes, oche_time start)
{
    assert_true(i < list.count);
    assert_int_equal(list.plan[i].src, src);
    assert_int_equal(list.plan[i].dst, dst);
    assert_int_equal(list.plan[i].bytes, bytes);
    assert_true(list.plan[i].start == start);
    assert_int_equal(list.plan[i].workload, 4);
}

static void reads_the_generators_format(void **state)
{
    (void)state;
    assert_true(read_text("4 \n127 5 3 100 60000 2.000000000\n"
                          "0 1 3 100 1 2.000012345\n"
                          "\n# the next one starts after the end of the run\n"
                          "3\t4 3 100 2000 2.01\n"
                          "3 4 3 100 1099511627776 2.0099999999994\n",
                          2 * OCHE_SEC));
    assert_int_equal(list.count, 3);
    expect_flow(0, 127, 5, 60000, 0);
    expect_flow(1, 0, 1, 1, 12345 * OCHE_NS);
    expect_flow(2, 3, 4, UINT64_C(1) << 40, 9999999999);
}

/* In a topology of ns-3 whose switches come first, a number is that of a host's name. */
static void finds_hosts_by_the_number_in_their_names(void **state)
{
    (void)state;
    strcpy(nodes[7].name, "host200");
    topology.numbered_by_name = true;
    assert_true(read_text("1\n200 5 3 100 1000 0\n", 0));
    expect_flow(0, 7, 5, 1000, 0);
    assert_false(read_text("1\n5 7 3 100 1000 0\n", 0));
    assert_non_null(strstr(error.text, ":2: dst: node 7 is no host of the topology's file"));
    topology.numbered_by_name = false;
    strcpy(nodes[7].name, "host7");
}

static void reads_csv(void **state)
{
    (void)state;
    assert_true(read_text("# mine\r\nstart, bytes,dst,src\r\n0.001,1000,2,1\r\n"
                          " 5us , 10 ,3,4 # comment\r\n1.5ns,1,0,1\n7ps,1,0,1\n2ms,1,0,1\n",
                          0));
    assert_int_equal(list.count, 5);
    expect_flow(0, 1, 2, 1000, OCHE_MS);
    expect_flow(1, 4, 3, 10, 5 * OCHE_US);
    expect_flow(2, 1, 0, 1, 1500);
    expect_flow(3, 1, 0, 1, 7);
    expect_flow(4, 1, 0, 1, 2 * OCHE_MS);
}

/* Names beside numbers, in both formats. */
static void reads_names(void **state)
{
    (void)state;
    assert_true(read_text("src,dst,bytes,start\nhost1,host126,5,0\nAlpha,storage-a.rack1,6,0\n"
                          "\"zulu\", _ ,7,0\nzulu,127,8,0\n3,host10,9,0\n",
                          0));
    assert_int_equal(list.count, 5);
    expect_flow(0, 1, 126, 5, 0);
    expect_flow(1, 127, 3, 6, 0);
    expect_flow(2, 0, 64, 7, 0);
    expect_flow(3, 0, 127, 8, 0);
    expect_flow(4, 3, 10, 9, 0);
    assert_true(read_text("1\nhost2 Alpha 3 100 5 0\n", 0));
    expect_flow(0, 2, 127, 5, 0);
}

/* As written by pandas, Excel and LibreOffice. */
static void reads_spreadsheets(void **state)
{
    (void)state;
    assert_true(read_text("\xef\xbb\xbf\"src\";\"dst\";\"bytes\";\"start\"\r\n"
                          "1;2;\"1e6\";0\r\n\" 3 \";4;10KB;1E-05\r\n",
                          0));
    assert_int_equal(list.count, 2);
    expect_flow(0, 1, 2, 1000000, 0);
    expect_flow(1, 3, 4, 10000, 10 * OCHE_US);
    assert_true(read_text(",src,dst,bytes,start\n0,1.0,2.0,1000000.0,1e-05\n"
                          "1,3,4,4KiB,2.5E+3us\n",
                          0));
    assert_int_equal(list.count, 2);
    expect_flow(0, 1, 2, 1000000, 10 * OCHE_US);
    expect_flow(1, 3, 4, 4096, 2500 * OCHE_US);
    assert_true(read_text("Unnamed: 0\tsrc\tdst\tbytes\tstart\n0\t1\t2\t\"5 KB\"\t1 us\n", 0));
    expect_flow(0, 1, 2, 5000, OCHE_US);
    assert_true(read_text("Name,START,Src,Dst,Bytes,weight\nfirst,1us,1,2,5,\"0,5\"\n", 0));
    expect_flow(0, 1, 2, 5, OCHE_US);
    assert_true(read_text("\tsrc\tdst\tbytes\tstart\n0\t1\t2\t5\t1ms\n", 0));
    expect_flow(0, 1, 2, 5, OCHE_MS);
    assert_true(read_text("src dst bytes start\n1,2,3,4us\n", 0));
    expect_flow(0, 1, 2, 3, 4 * OCHE_US);
}

/*
 * The format of DCQCN's first simulator: packets, start and stop where HPCC has port, size and
 * start.
 */
static void reads_the_first_simulators_format(void **state)
{
    (void)state;
    assert_true(read_text("2\n2 1 3 1000 2.0 9.5\n3 1 3 7 2.001 9.5\n", 2 * OCHE_SEC));
    assert_int_equal(list.count, 2);
    expect_flow(0, 2, 1, 1000000, 0);
    expect_flow(1, 3, 1, 7000, OCHE_MS);
    assert_non_null(strstr(list.remark, ": columns src dst pg packets start stop (ns3-rdma): a "
                                        "packet has 1000 bytes, and a flow goes on behind its "
                                        "stop"));
    /* The first line fits both formats; the other line decides. */
    assert_true(read_text("2\n0 1 3 100 2 9\n2 1 3 70000 0 9\n", 0));
    expect_flow(0, 2, 1, 70000000, 0); /* the first starts after the run */
    assert_true(read_text("2\n0 1 3 100 2 9\n2 1 3 100 7 0\n", 0));
    expect_flow(0, 2, 1, 7, 0);
    assert_string_equal(list.remark, "");
}

static void reads_conweaves_format(void **state)
{
    (void)state;
    assert_true(read_text("2\n2 1 3 1000 2.0\n3,1,3,1e6,2.001,\n", 2 * OCHE_SEC));
    assert_int_equal(list.count, 2);
    expect_flow(0, 2, 1, 1000, 0);
    expect_flow(1, 3, 1, 1000000, OCHE_MS);
    assert_string_equal(list.remark, "");
}

/* As ns-3 programs do: the first line counts the flows, and lines after them are not read. */
static void the_count_rules(void **state)
{
    (void)state;
    assert_true(read_text("2\n0 3 3 100 1000 0\n1 3 3 100 1000 0\n2 3 3 100 1000 0\n\nnotes\n", 0));
    assert_int_equal(list.count, 2);
    assert_non_null(strstr(list.remark, ": 2 flows, as the first line says; line 4 and what "
                                        "follows are not read"));
    assert_true(read_text("1\n0 3 3 100 1000 0\n\n# the end\n", 0));
    assert_string_equal(list.remark, "");
}

/* Line ends and marks that editors and other systems leave in a file. */
static void reads_dialects(void **state)
{
    static const char *const texts[] = {
        "src,dst,bytes,start\r1,2,3000,0\r",
        "src,dst,bytes,start,\n1,2,3000,0,\n",
        "src,dst,bytes,start\n1,2,3000,0,,\n",
        "src,dst,bytes,start,note\n1,2,3000,0\n",
        "; note\n% note\n// note\nsrc,dst,bytes,start // c\n1,2,3_000,+0 # c\n",
        "src,dst,bytes,start\n1,\xc2\xa0"
        "2,3e3\xc2\xa0,0\n",
        ";src;dst;bytes;start\n0;1;2;3000;0\n",
        "src,dst,bytes,start,\"a # b\"\n1,2,3000,0,\"# c\"\n",
        "\xef\xbb\xbf"
        "1\r\n1 2 3 100 3000 0",
        "1\n1;2;3;100;3KB;0us\n",
        "1,,,,,\n1,2,3,100,3000,0\n",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        if (!read_text(texts[i], 0))
            fail_msg("%zu: %s", i, error.text);
        assert_int_equal(list.count, 1);
        expect_flow(0, 1, 2, 3000, 0);
    }
}

#define FIRST_LINE                                                                                 \
    "the first line is a number of flows, or names of columns, with src,dst,bytes,start"
#define CSV "src,dst,bytes,start\n"
#define FORMATS                                                                                    \
    "\"src dst pg dport size start\" (HPCC), \"src dst pg size start\" (ConWeave) or "             \
    "\"src dst pg packets start stop\" (ns3-rdma)"
static const struct {
    const char *text, *error;
} wrong[] = {
    {"", ": no flows; at least one"},
    {"0\n", ": no flows; at least one"},
    {CSV, ": no flows; at least one"},
    {"2\n0 1 3 100 5 0\n", ": 1 flows, but the first line says 2"},
    {"1\n0 1 3 100 5 0 0 0\n", ":2: 8 values; " FORMATS},
    {"1\n0 1 100 5\n", ":2: 4 values; " FORMATS},
    {"2\n0 1 3 100 5 0\n0 1 3 5 0\n",
     ":3: 5 values; 6 would be right, as in the first line of a flow: " FORMATS},
    {"1\n0 1 3 70000 5 0\n",
     ":2: dport: \"70000\" is no port; 0 to 65535, in lines of 6 values: " FORMATS},
    {"1\n0 1 8 100 5 0\n",
     ":2: pg: \"8\" is no priority group; 0 to 7, in lines of 6 values: " FORMATS},
    {"1\n0 1 100 5 0\n",
     ":2: pg: \"100\" is no priority group; 0 to 7, in lines of 5 values: " FORMATS},
    {"2\n0 1 3 9 2.5 9.5\n0 1 3 9 2.5 2.5\n", ":3: stop: 2.5 is not after start, 2.5; a later one"},
    {"1\n0 1 3 3000000000 0.001 9.5\n",
     ":2: packets: 3000000000 of 1000 bytes (ns3-rdma's columns: src dst pg packets start stop); "
     "at most 1099511627, as a flow has at most 1099511627776 bytes"},
    {"src,dst,bytes,start,verb\n5,6,1,0,reads\n",
     ":2: verb: \"reads\" is none; write, send or read"},
    {"src,dst,bytes,start,verb\n5,6,1,0,\n", ":2: verb: \"\" is none; write, send or read"},
    {"src,dst,bytes,start,verb\n5,6,1,0\n",
     ":2: 4 values; 5 would be right: one for each column of the first line"},
    {"src,verb,dst,bytes,start,VERB\n",
     ":1: \"VERB\" is there twice; src,dst,bytes,start are needed"},
    {"1\n0 1 3 100 2 9\n",
     ":2: a size and a start, as HPCC writes, or a start and a stop after a number of packets, "
     "as ns3-rdma does? write CSV, below src,dst,bytes,start"},
    {"Nodes 16\nTiers 2\nPodsize 16\n",
     ":1: is a topology of htsim; a number of flows and lines of them, or CSV with "
     "src,dst,bytes,start"},
    {CSV "5,6,0x10,0\n", ":2: bytes: \"0x10\" is hexadecimal; 1 to 1099511627776 bytes"},
    {"src;dst;bytes;start\n5;6;1,000;0\n",
     ":2: bytes: \"1,000\" has a comma, which may be a decimal point or may part thousands; 1 "
     "to 1099511627776 bytes"},
    {"src;dst;bytes;start\n5;6;1000;0,5\n",
     ":2: start: \"0,5\" has a comma, which may be a decimal point or may part thousands; "
     "seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1,0,7\n", ":2: 5 values; 4 would be right: one for each column of the first line"},
    {"1\n0 128 3 100 5 0\n", ":2: dst: there is no host 128; 0 to 127"},
    {"1\n-1 5 3 100 5 0\n", ":2: src: \"-1\" is no host; a number, or a name as in tables"},
    {CSV "5,5,100,0\n", ":2: dst: host 5 sends to itself; another host"},
    {CSV "5,6,0,0\n", ":2: bytes: \"0\" is no size; 1 to 1099511627776 bytes"},
    {CSV "5,6,1099511627777,0\n",
     ":2: bytes: \"1099511627777\" is no size; 1 to 1099511627776 bytes"},
    {CSV "5,6,1.5,0\n", ":2: bytes: \"1.5\" is no size; 1 to 1099511627776 bytes"},
    {CSV "5,6,1,0\n\n5,6,1,x\n", ":4: start: \"x\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1,-1\n", ":2: start: \"-1\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1,1min\n", ":2: start: \"1min\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1,99999999\n", ":2: start: \"99999999\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1,.\n", ":2: start: \".\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1\n", ":2: 3 values; 4 would be right: one for each column of the first line"},
    {CSV "5,tor128,6,1\n", ":2: dst: \"tor128\" is no host; a number, or a name as in tables"},
    {CSV "5,host3,6,1\n", ":2: dst: \"host3\" is no host; a number, or a name as in tables"},
    {CSV "5,HOST4,6,1\n", ":2: dst: \"HOST4\" is no host; a number, or a name as in tables"},
    {CSV "127,Alpha,6,1\n", ":2: dst: host Alpha sends to itself; another host"},
    {CSV "5,6,1,\"1us\n", ":2: start: \"\"1us\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,\"1,0\n", ":2: 3 values; 4 would be right: one for each column of the first line"},
    {CSV "5,,6,1\n", ":2: dst: \"\" is no host; a number, or a name as in tables"},
    {CSV "5,6,1,1\n5,6,1,2\n",
     ": all flows start after the end of the run; a longer run, or another origin"},
    {"src,dst,bytes\n", ":1: no column \"start\"; " FIRST_LINE},
    {"src,dst,size,start\n", ":1: no column \"bytes\"; " FIRST_LINE},
    {"0 1 3 100 1000 0.1\n", ":1: no column \"src\"; " FIRST_LINE},
    {"\xff\xfes", ":1: is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)"},
    {"src,Dst,dst,start\n", ":1: \"dst\" is there twice; src,dst,bytes,start are needed"},
    {"src,dst,dst,start\n", ":1: \"dst\" is there twice; src,dst,bytes,start are needed"},
    {"src,dst,bytes,start,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n",
     ":1: more than 64 columns; src,dst,bytes,start"},
    {CSV "5,6,1e400,0\n", ":2: bytes: \"1e400\" is no size; 1 to 1099511627776 bytes"},
    {CSV "5,6,10XB,0\n", ":2: bytes: \"10XB\" is no size; 1 to 1099511627776 bytes"},
    {CSV "5,6,15e-1,0\n", ":2: bytes: \"15e-1\" is no size; 1 to 1099511627776 bytes"},
    {CSV "5,6,1,1e-\n", ":2: start: \"1e-\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1,1e99999999999\n",
     ":2: start: \"1e99999999999\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,6,1,1e-60\n", ":2: start: \"1e-60\" is no time; seconds, as 2.00001, or as 10us"},
    {CSV "5,\"6\"x,1,1\n", ":2: dst: \"6x\" is no host; a number, or a name as in tables"},
    {CSV "5,6.5,1,1\n", ":2: dst: \"6.5\" is no host; a number, or a name as in tables"},
    {CSV "\"5,6,1,1\n", ":2: 1 values; 4 would be right: one for each column of the first line"},
};

static void says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(wrong); i++) {
        assert_false(read_text(wrong[i].text, 0));
        temporary_expect_error(error.text, wrong[i].error);
    }
    assert_false(read_text(CSV "5,6,1,1.5\n", 2 * OCHE_SEC));
    temporary_expect_error(error.text, ":2: start: 1.5 is before origin; a smaller origin");
    assert_false(read_text(NULL, 0));
    assert_string_equal(error.text, "/no/such/file: No such file or directory; a readable file of "
                                    "flows");
}

static int clean_up(void **state)
{
    (void)state;
    temporary_remove();
    oche_flow_list_free(&list);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_generators_format),
        cmocka_unit_test(reads_the_first_simulators_format),
        cmocka_unit_test(reads_conweaves_format),
        cmocka_unit_test(the_count_rules),
        cmocka_unit_test(reads_dialects),
        cmocka_unit_test(finds_hosts_by_the_number_in_their_names),
        cmocka_unit_test(reads_csv),
        cmocka_unit_test(reads_names),
        cmocka_unit_test(reads_spreadsheets),
        cmocka_unit_test(says_what_is_wrong),
    };

    name_nodes();
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
