#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of Chakra, workloads of SimAI and JSON lines as schedules: they end when the same program
ends that is written in another way, and wrong files get one line.

Environment: OCHE, SOURCE.
"""
import json
import os
import sys
import tempfile

import chakra
import goal
from chakra import coll, node, recv, send
from checks import check, must, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
MICRO = 1000  # ns


def oche_import(path, *options):
    return run_program(OCHE, "import", path, *options, timeout=60)


def result_of(path, *options, status=0):
    done = oche_import(path, "--json", *options)
    must(done.returncode == status and not done.stderr, path, done.returncode, done.stderr)
    return json.loads(done.stdout)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def write_lines(folder, operations):
    return write(folder, "x.jsonl", "".join(json.dumps(op) + "\n" for op in operations))


def run_time(folder, workload, hosts=8):
    """Returns how long a workload takes in a star, in us."""
    path = write(folder, "s.yaml", f"topology: {{type: star, hosts: {hosts}}}\n"
                 f"congestion_control: none\nworkload: {workload}\n")
    done = run_program(OCHE, "run", path, "--json", "-o", folder + "/out", timeout=60)
    must(done.returncode == 0, workload, done.stderr)
    return json.loads(done.stdout)["runs"][0]["metrics"]["workload.0.time"] * 1e6


def run_hash(folder, path, hosts):
    """Returns the trace hash of a run, which tells all events and their times."""
    path = write(folder, "s.yaml", f"topology: {{type: star, hosts: {hosts}}}\n"
                 f"congestion_control: none\nworkload: {{type: schedule, file: {path}}}\n")
    done = run_program(OCHE, "run", path, "-o", folder + "/out", timeout=60)
    must(done.returncode == 0, path, done.stderr)
    return next(line for line in done.stdout.split("\n") if line.startswith("trace hash"))


def same(left, right, what):
    for key in ("end_ns", "sends", "receives", "bytes", "ranks", "operations_left"):
        check(left[key] == right[key], what, key, left[key], right[key])


# ---- JSON lines ----

def check_lines(folder):
    """Schedules of goal.py, as GOAL and as JSON lines."""
    for seed in range(20):
        ranks = goal.made(seed)
        lines = [{"ranks": len(ranks)}]
        for rank, (operations, dependencies) in enumerate(ranks):
            for number, (kind, size, peer, tag, cpu) in enumerate(operations):
                line = {"rank": rank, "op": kind, "cpu": cpu, "id": f"{rank}.{number}"}
                line |= {"ns": size} if kind == "calc" else \
                    {"bytes": size, "tag": tag, "to" if kind == "send" else "from": peer}
                for key, how in (("after", "requires"), ("after_start", "irequires")):
                    deps = [f"{rank}.{before}" for after, kind, before in dependencies
                            if after == number and kind == how]
                    line |= {key: deps} if deps else {}
                lines.append(line)
        with open(os.path.join(folder, "x.goal"), "w", encoding="utf-8") as file:
            file.write(goal.text_of(ranks))
        runs = [run_hash(folder, path, len(ranks))
                for path in (write_lines(folder, lines), folder + "/x.goal")]
        check(runs[0] == runs[1], seed, runs)
    any_one = [{"op": "send", "rank": 0, "to": 1, "bytes": 8.0, "tag": 3},
               {"op": "recv", "rank": 1, "from": "any", "bytes": 8, "tag": "any"}]
    result = result_of(write_lines(folder, any_one))
    check(result["ranks"] == 2 and result["operations_left"] == 0, result)
    text = "# a comment\n\n {\"ranks\": 2}\r\n" + json.dumps(any_one[0])
    result = result_of(write(folder, "x.jsonl", text), status=1)
    check(result["messages_without_receive"] == 1, result)


def check_line_collectives(folder):
    """A line for all ranks is what `type: collective` makes, by each algorithm that can do it."""
    for operation, algorithm in (("all_reduce", "ring"), ("all_reduce", "tree"),
                                 ("all_reduce", "halving_doubling"), ("all_gather", "ring"),
                                 ("reduce_scatter", "halving_doubling"), ("broadcast", "tree"),
                                 ("all_to_all", "direct")):
        path = write_lines(folder, [{"op": operation, "ranks": "all", "bytes": 800000},
                                    {"op": "calc", "rank": 7, "ns": 0}])
        mine = run_time(folder, f"{{type: schedule, file: {path}, algorithm: {algorithm}, "
                        "chunks: 3}")
        other = run_time(folder, f"{{type: collective, operation: {operation}, bytes: 800KB, "
                         f"algorithm: {algorithm}, chunks: 3}}")
        check(abs(mine - other) < 0.001, operation, algorithm, mine, other)
    # One behind the other, and of two groups beside each other.
    reduce = {"op": "all_reduce", "bytes": 480000}
    once = result_of(write_lines(folder, [reduce | {"ranks": [0, 1, 2]}]))
    twice = result_of(write_lines(folder, [
        {"ranks": 6}, reduce | {"ranks": [0, 1, 2], "id": "a"}, reduce | {"ranks": [5, 4, 3]},
        {"op": "calc", "rank": 1, "ns": 0, "id": 9},
        reduce | {"ranks": [2, 0, 1], "after": ["a", 9]}]))
    check(twice["end_ns"] == 2 * once["end_ns"], once, twice)
    check(twice["sends"] == 3 * once["sends"], once, twice)


LINES = '{"ranks": 3}\n{"op": "calc", "rank": 0, "ns": 5, "id": "a"}\n' \
        '{"op": "send", "rank": 0, "to": 1, "bytes": 8, "tag": 3, "after": "a"}\n' \
        '{"op": "recv", "rank": 1, "from": 0, "bytes": 8, "tag": 3, "id": "r"}\n' \
        '{"op": "all_reduce", "ranks": [1, 2], "bytes": 100, "after": ["r"]}\n'
WRONG_LINES = [
    ('{"ranks": 3}', '{"ranks": 0}', "x.jsonl:1: ranks: 0; at least 1"),
    ('{"ranks": 3}', '{"ranks": 2000000}', "x.jsonl:1: ranks: 2000000; 0 to 1048576"),
    ('{"ranks": 3}', '{"ranks": 2}', "x.jsonl:5: ranks: 2; 0 to 1"),
    ('{"ranks": 3}', '{}', "x.jsonl:1: the object is empty"),
    ('"ns": 5', '"ns": -5', "x.jsonl:2: ns: -5; 0 to"),
    ('"ns": 5', '"ns": 5.5', "x.jsonl:2: ns: no whole number"),
    ('"ns": 5', '"ns": "5"', "x.jsonl:2: ns: no whole number"),
    ('"ns": 5', '"ns": 99999999999999999999', "x.jsonl:2: ns: 18446744073709551615; 0 to"),
    ('"ns": 5', '"us": 5', 'x.jsonl:2: "us" is not known'),
    ('"ns": 5', '"ns": 5, "tag": 1', "x.jsonl:2: calc has no tag"),
    ('"ns": 5, ', '', "x.jsonl:2: calc needs ns"),
    ('"ns": 5, ', '"ns": 5, "cpu": 254, ', "x.jsonl:2: cpu: 254; 0 to 253"),
    ('"op": "calc"', '"op": "wait"', 'x.jsonl:2: op: "wait" is not known'),
    ('"op": "calc", ', '', 'x.jsonl:2: op: "" is not known'),
    ('"op": "calc"', '"op": 5', 'x.jsonl:2: op: "5" is not known'),
    ('"ns": 5, "id": "a"}', '"ns": 5, "id": "a"', "x.jsonl:2: the line ends within an object"),
    ('"ns": 5, "id": "a"}', '"ns": 5, "id": "a"} 7', "x.jsonl:2: column 47:"),
    ('"id": "a"}', 'id: 1}', "x.jsonl:2: column 36:"),
    ('{"op": "calc", "rank": 0, "ns": 5, "id": "a"}', "[1]", "x.jsonl:2: no object"),
    ('{"op": "calc", "rank": 0, "ns": 5, "id": "a"}', "[" * 99, "x.jsonl:2: column 9: nesting"),
    ('"id": "a"', '"id": null', "x.jsonl:2: id: no text and no whole number"),
    ('"id": "r"', '"id": "a"', 'x.jsonl:4: id: "a" is also in line 2'),
    ('"to": 1', '"to": 0', "x.jsonl:3: to: 0 is the rank itself"),
    ('"to": 1', '"to": 3', "x.jsonl:3: to: 3; 0 to 2"),
    ('"to": 1', '"to": "any"', "x.jsonl:3: to: no whole number"),
    ('"tag": 3, "after"', '"tag": "any", "after"', "x.jsonl:3: tag: no whole number"),
    ('"tag": 3, "after"', '"tag": 2147483648, "after"', "x.jsonl:3: tag: 2147483648; 0 to"),
    ('"after": "a"', '"after": "b"', 'x.jsonl:3: after: no operation above has the id "b"'),
    ('"after": "a"', '"after": "s", "id": "s"',
     'x.jsonl:3: after: no operation above has the id "s"'),
    ('"after": "a"', '"after_start": {}', "x.jsonl:3: after_start: no id"),
    ('"id": "r"', '"after": "a"', 'x.jsonl:4: after: "a" is of another rank'),
    ('"after": ["r"]', '"after": ["r", "a"]', 'x.jsonl:5: after: "a" is of another rank'),
    ('[1, 2]', '[1, 1]', "x.jsonl:5: ranks: 1 is there twice"),
    ('[1, 2]', '[]', "x.jsonl:5: ranks: no list of ranks"),
    ('[1, 2]', '1', "x.jsonl:5: ranks: no list of ranks"),
    ('"bytes": 100', '"bytes": 100000000000000', "x.jsonl:5: bytes: 100000000000000; 0 to"),
    ('{"ranks": 3}\n', '{"ranks": 1000000}\n{"op": "all_to_all", "ranks": "all", "bytes": 9}\n',
     "x.jsonl:2: up to here there are more than 268435456 operations"),
]


# ---- SimAI ----

SIMAI = {"ALLREDUCE": "all_reduce", "ALLGATHER": "all_gather", "REDUCESCATTER": "reduce_scatter",
         "ALLTOALL": "all_to_all"}
HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {} ep: {} pp: {} vpp: 1 ga: 1 " \
       "all_gpus: {} checkpoints: {} checkpoint_initiates: {} pp_comm: 5\n{}\n"


def made_simai(seed):
    """Draws a workload: layers, sizes of groups, checkpoints, and layers that initiate."""
    draws = goal.Draws(seed)
    tensor, expert, more, stages = (1 + draws.below(3) for _ in range(4))
    layers = []
    for _ in range(1 + draws.below(6)):
        parts = []
        for _ in range(3):
            name = ["NONE", *SIMAI][draws.below(5)]
            suffix = "" if name == "NONE" else ["", "_EP", "_DP_EP"][draws.below(3)]
            parts.append((draws.below(3) * 1000, name + suffix, (1 + draws.below(9)) * 1000))
        layers.append((parts, draws.below(2) * 77))
    checkpoints = sorted({draws.below(len(layers)) for _ in range(draws.below(3))})
    initiates = sorted({n for n in (draws.below(len(layers)) for _ in range(2))
                        if checkpoints and n >= checkpoints[0]})
    return layers, (tensor, expert, more, stages), checkpoints, initiates


def simai_text(layers, sizes, checkpoints, initiates):
    tensor, expert, more, stages = sizes
    count = lambda numbers: " ".join(map(str, [len(numbers), *numbers]))
    text = HEAD.format(tensor, expert, stages, tensor * expert * more * stages, count(checkpoints),
                       count(initiates), len(layers))
    for number, (parts, update) in enumerate(layers):
        text += f"layer{number}\t-1 " + " ".join(f"{ns} {name} {size}" for ns, name, size in parts)
        text += f" {update}\n"
    return text


def groups_of(sizes, which):
    """Lists of GPUs, which are numbered (stage, more, expert, tensor), the last one fastest."""
    tensor, expert, more, stages = sizes
    gpu = lambda s, m, e, t: ((s * more + m) * expert + e) * tensor + t
    t, e, m, s = (range(n) for n in (tensor, expert, more, stages))
    return {"tensor": [[gpu(a, b, c, d) for d in t] for a in s for b in m for c in e],
            "_EP": [[gpu(a, b, c, d) for c in e] for a in s for b in m for d in t],
            "_DP_EP": [[gpu(a, b, c, d) for b in m] for a in s for c in e for d in t],
            "data": [[gpu(a, b, c, d) for b in m for c in e] for a in s for d in t]}[which]


def simai_lines(layers, sizes, checkpoints, initiates):
    """The same program as JSON lines."""
    tensor, expert, more, stages = sizes
    gpus = tensor * expert * more * stages
    lines, last, ids = [{"ranks": gpus}], [None] * gpus, iter(range(1 << 30))

    def add(operation, ranks, waits):
        number = next(ids)
        after = sorted({last[rank] for rank in ranks if last[rank] is not None})
        lines.append(operation | {"id": number} | ({"after": after} if after else {}))
        for rank in ranks if waits else []:
            last[rank] = number
        return number

    def part(layer, which):
        (ns, name, size), update = layers[layer][0][which], layers[layer][1]
        for rank in range(gpus if ns else 0):
            add({"op": "calc", "rank": rank, "ns": ns}, [rank], True)
        name, _, suffix = name.partition("_")
        if name == "NONE":
            return
        if which == 0 and size < 4096:
            size = 4096
        group = "_" + suffix if suffix else "data" if which == 2 else "tensor"
        for ranks in groups_of(sizes, group):
            if len(ranks) < 2:
                continue
            number = add({"op": SIMAI[name], "ranks": ranks, "bytes": size}, ranks, which < 2)
            for rank in ranks if update else []:
                lines.append({"op": "calc", "rank": rank, "ns": update, "cpu": 2, "after": number,
                              "id": next(ids)})
                if which < 2:
                    last[rank] = lines[-1]["id"]

    for layer in range(len(layers)):
        part(layer, 0)
    for layer in reversed(range(len(layers))):
        if layer in initiates:
            again = max(n for n in checkpoints if n <= layer)
            while True:
                part(again, 0)
                again += 1
                if again > layer or again in initiates:
                    break
        part(layer, 1)
        part(layer, 2)
    return lines


def check_simai(folder):
    seen = set()
    for seed in range(60):
        drawn = made_simai(seed)
        path = write(folder, "x.txt", simai_text(*drawn))
        same(result_of(path, "-s", "chunks=2"),
             result_of(write_lines(folder, simai_lines(*drawn)), "-s", "chunks=2"), seed)
        seen |= {name for parts, _ in drawn[0] for _, name, _ in parts} | {f"{len(drawn[3])}"}
    must(len(seen) > 13, seen)
    # One stage of the pipeline, and the words of layers in other lines.
    text = simai_text([([(5000, "ALLREDUCE", 9000), (1, "NONE", 0), (1, "NONE", 0)], 3)],
                      (2, 1, 2, 3), [], [])
    all_of = result_of(write(folder, "x.txt", text))
    one = result_of(write(folder, "x.txt", text.replace("-1 ", "-1\n")), "-s", "gpus=4")
    check((all_of["ranks"], one["ranks"]) == (12, 4) and all_of["end_ns"] == one["end_ns"], all_of)
    check("pp: 3 stages side by side" in all_of["remark"] and "pp:" not in one["remark"], one)
    line, reduce = ("{type: schedule, file: " + folder + "/x.txt, gpus: 4}",
                    "{type: collective, bytes: 9000B, ranks: 2}")
    check(abs(run_time(folder, line) - run_time(folder, reduce) - 5.005) < 0.001, "5.005 us more")
    path = os.path.join(SOURCE, "scenarios", "graphs", "three_layers.txt")
    check(result_of(path)["operations_left"] == 0, path)


WORKLOAD = HEAD.format(2, 1, 1, 4, 0, 0, 2) + "a -1 10 ALLREDUCE 8000 1 NONE 0 1 NONE 0 5\n" \
    "b -1 10 ALLGATHER_EP 8000 1 NONE 0 1 ALLREDUCE 9000 5\n"
WRONG_WORKLOAD = [
    ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_DLRM", "x.txt:1: the policy HYBRID_DLRM is not"),
    ("NPU_group: 2", "NPU_group: 0", "x.txt:1: model_parallel_NPU_group: 0; at least 1"),
    ("NPU_group: 2", "NPU_group: two", 'x.txt:1: model_parallel_NPU_group:: "two" is no number'),
    ("NPU_group: 2", "NPU_group: 3", "x.txt:1: all_gpus: 4; a multiple of"),
    ("model_parallel_NPU_group: 2 ", "", "x.txt:1: model_parallel_NPU_group: is missing"),
    ("all_gpus: 4 ", "", "x.txt:1: all_gpus: is missing"),
    ("all_gpus: 4", "all_gpus: 9999999", "x.txt:1: all_gpus:: 9999999 is too large"),
    ("checkpoints: 0", "checkpoints: 99999", "x.txt:1: checkpoints:: 99999 is too large"),
    ("checkpoints: 0", "checkpoints: 1 2", "x.txt:1: checkpoints: 2: there are only 2 layers"),
    ("checkpoint_initiates: 0", "checkpoint_initiates: 1 1",
     "x.txt:1: checkpoint_initiates: 1: no layer up to it is in checkpoints"),
    ("\n2\n", "\ntwo\n", 'x.txt:2: the second line: "two" is no number'),
    ("\n2\n", "\n0\n", "x.txt:2: the second line: 0 layers"),
    ("\n2\n", "\n3\n", "the file ends after 2 layers; the second line says more"),
    ("\n2\n", "\n1\n", "x.txt:4: there is more behind the 1 layers"),
    ("10 ALLREDUCE", "10 REDUCE", 'x.txt:3: "REDUCE" is not known; NONE, ALLREDUCE'),
    ("10 ALLREDUCE", "10 ALLREDUCEALLTOALL", 'x.txt:3: "ALLREDUCEALLTOALL" is not known'),
    ("10 ALLREDUCE", "10 ALLREDUCE_PP", 'x.txt:3: "ALLREDUCE_PP": the suffix is not known'),
    ("10 ALLREDUCE", "-10 ALLREDUCE", 'x.txt:3: a time in ns: "-10" is no number'),
    ("ALLREDUCE 8000", "ALLREDUCE 8e3", 'x.txt:3: bytes of the operation: "8e3" is no whole'),
    ("ALLREDUCE 9000 5\n", "ALLREDUCE 9000", "the file ends within layer 1"),
]


# ---- Chakra ----

def check_operations(folder):
    """A node on each rank is what `type: collective` makes."""
    for operation, ranks, algorithm in (("all_reduce", 4, "ring"), ("all_reduce", 8, "tree"),
                                        ("all_gather", 3, "ring"), ("reduce_scatter", 8, "ring"),
                                        ("all_to_all", 4, "direct"), ("broadcast", 4, "tree")):
        path = chakra.write(folder, operation, [[coll(5, operation, 96000)]] * ranks,
                            compress=ranks == 8)
        size = 96000 * (ranks if operation == "all_gather" else 1)
        other = run_time(folder, f"{{type: collective, operation: {operation}, bytes: {size}B, "
                         f"ranks: {ranks}, algorithm: {algorithm}}}")
        for file in (path, path[:-len(".0.et")]):  # a file, or the beginning of their names
            mine = run_time(folder, f"{{type: schedule, file: {file}, algorithm: {algorithm}}}")
            check(abs(mine - other) < 0.001, operation, ranks, file, mine, other)
    for kind in chakra.INTEGERS:
        path = chakra.write(folder, "kinds", [[coll(0, "all_reduce", 96000, integers=kind)]] * 4)
        check(result_of(path)["bytes"] == 96000 * 6, kind)
    path = chakra.write(folder, "barrier", [[node(0, chakra.COLL, comm_type=9)]] * 5)
    check(result_of(path)["bytes"] == 5 * 8, "a barrier: 8 messages of a byte of each rank")


def check_nodes(folder):
    """Computation on the GPU and the CPU, memory, messages, and dependencies."""
    size = 1000
    ranks = [[node(1, chakra.COMP, micros=10), node(2, chakra.COMP, micros=10, is_cpu_op=True),
              node(3, chakra.LOAD, micros=30), node(4, chakra.COMP, micros=5, data=[1]),
              send(0, 1, size, data=[2], comm_tag=7), node(9, chakra.METADATA, inputs="[]")],
             [node(6, chakra.COMP, micros=100, data=[5]), recv(5, 0, size, comm_tag=7)]]
    path = chakra.write(folder, "nodes", ranks)
    result = result_of(path, "--loggops", "L=0,o=0,g=0,G=0")
    check(result["end_ns"] == 110 * MICRO and result["calculations"] == 6, result)
    check("a send ends when it is acknowledged; 1 memory nodes" in result["remark"], result)
    check(result_of(path, "--loggops", "L=0,o=0,g=0,G=1")["end_ns"] == 111 * MICRO - 1, "G")
    # ctrl_deps count only if control_deps says so.
    ranks = [[node(1, chakra.COMP, micros=10, is_cpu_op=True),
              node(2, chakra.COMP, micros=10, ctrl=[1])]]
    path = chakra.write(folder, "control", ranks)
    check(result_of(path)["end_ns"] == 10 * MICRO, "beside each other")
    check(result_of(path, "-s", "control_deps=true")["end_ns"] == 20 * MICRO, "one by one")
    ranks = [[node(1, chakra.COLL, micros=10, is_cpu_op=True), node(2, chakra.COMP, num_ops=9)]]
    result = result_of(chakra.write(folder, "launch", ranks))
    check(result["end_ns"] == 10 * MICRO and "1 communication nodes of CPUs" in result["remark"] and
          "1 compute nodes have no duration" in result["remark"], result)


def check_groups(folder):
    """Groups of a file, and of the traces themselves, as JSON lines have them."""
    reduce = lambda ranks, size: {"op": "all_reduce", "ranks": ranks, "bytes": size}
    right = result_of(write_lines(folder, [
        reduce([0, 1], 1000), reduce([3, 2], 2000), reduce([0, 1, 2, 3], 4000)]))
    groups = write(folder, "groups.json", '{"0": [0, 1], "7": [3, 2]}')
    nodes = [[coll(1, "all_reduce", 1000 + 1000 * (rank > 1), pg_name="7" if rank > 1 else "0"),
              coll(2, "all_reduce", 4000)] for rank in range(4)]
    path = chakra.write(folder, "groups", nodes)
    same(result_of(path, "-s", f"groups_file={groups}"), right, "a file of groups")
    # Each trace names its own groups; one name may mean others elsewhere; [] are all ranks.
    text = "['[{{\"pg_name\": \"5\", \"ranks\": {}}}, {{\"pg_name\": \"6\", \"ranks\": []}}]']"
    nodes = [[node(0, chakra.METADATA, inputs=text.format([0, 1] if rank < 2 else [3, 2])),
              coll(1, "all_reduce", 1000 + 1000 * (rank > 1), pg_name="5"),
              coll(2, "all_reduce", 4000, pg_name="6")] for rank in range(4)]
    same(result_of(chakra.write(folder, "own", nodes)), right, "groups of the traces")
    # Operations are in the order in which dependencies allow them, not that of the file.
    nodes = [[coll(1, "all_reduce", 1000), coll(2, "all_gather", 500, data=[1])],
             [coll(1, "all_gather", 500, data=[2]), coll(2, "all_reduce", 1000)]]
    check(result_of(chakra.write(folder, "order", nodes))["operations_left"] == 0, "the order")


REDUCE = coll(1, "all_reduce", 1000)
# Traces of the ranks, and words that the line must contain.
WRONG_TRACES = [
    ([b""], "x.0.et: is empty"),
    ([chakra.trace([REDUCE], "0.0.3")], "x.0.et: byte 0: schema 0.0.3 is not read"),
    ([chakra.trace([REDUCE])[:-1]], "x.0.et: byte 8: the file ends within a message"),
    ([chakra.trace([REDUCE]) + b"\x80"], "the file ends within the length of a message"),
    ([b"\xff" * 11], "x.0.et: byte 0: a length has more than 10 bytes"),
    ([b"\xff" * 5 + b"\1"], "x.0.et: byte 0: a message has more than 64 MiB"),
    ([b"\3abc"], "x.0.et: byte 0: the first message is no GlobalMetadata"),
    ([b"\x1f\x8b\x08\x00\x00"], "x.0.et: byte 0: "),
    ([[b"abc"]], "x.0.et: byte 8: a message is no Node"),
    ([[REDUCE + chakra.field(11, b"x")]], "x.0.et: byte 8: node 1 has field 11"),
    ([[node(1, 8)]], "node 1: type 8; 0 to 7"),
    ([[REDUCE, REDUCE]], "x.0.et: node 1 is there twice"),
    ([[node(1, 4, data=[2])]], "x.0.et: node 1 waits for node 2, which is not in the file"),
    ([[node(1, 4, data=[2]), node(2, 4, data=[1])]], "2 nodes wait for each other in a circle"),
    ([[node(1, 4, data=[1])]], "1 nodes wait for each other in a circle, or for one of those; "
     "the first is node 1"),
    ([[node(1, 4, micros=1 << 50)]], "node 1: duration: 1125899906842624 us; at most"),
    ([[node(1, 7, comm_size=5)]], "node 1: comm_type: -1; 0 (all_reduce)"),
    ([[node(1, 7, comm_type=1, comm_size=5)]], "node 1: comm_type: 1; 0 (all_reduce)"),
    ([[node(1, 7, comm_type=0)]], "node 1: comm_size is missing"),
    ([[node(1, 7, comm_type=0, comm_size=-5)]], "node 1: comm_size: -5; 0 to"),
    ([[node(1, 7, comm_type=0, comm_size="5")]], "node 1: comm_size is no integer"),
    ([[coll(1, "all_reduce", 5, pg_name="3")]], 'node 1: group "3" (pg_name) is not known'),
    ([[coll(1, "all_reduce", 5, pg_name=3)]], "node 1: pg_name is no text"),
    ([[send(1, 0, 5)]], "x.0.et: node 1: comm_dst: 0; another rank, 0 to 0"),
    ([[send(1, 2, 5)], []], "x.0.et: node 1: comm_dst: 2; another rank, 0 to 1"),
    ([[send(1, 1, 5, comm_src=1)], []], "node 1: comm_src: 1; it is a node of rank 0"),
    ([[node(1, chakra.SEND, comm_size=5)]], "node 1: comm_dst is missing; the rank that it sends"),
    ([[recv(1, 1, 5, comm_tag=-1)]], "node 1: comm_tag: -1; 0 to"),
    ([[REDUCE], []], "x: rank 1 does 0 operations in the group of all ranks, and rank 0 does 1"),
    ([[REDUCE], [REDUCE, coll(2, "all_reduce", 1000)]],
     "x.1.et: node 2: rank 1 does more operations in the group of all ranks than rank 0"),
    ([[REDUCE], [coll(4, "all_reduce", 1001)]],
     "x.1.et: node 4: operation 0 of the group of all ranks is all_reduce of 1001 bytes here, "
     "and all_reduce of 1000 at rank 0, node 1"),
    ([[REDUCE], [coll(4, "reduce_scatter", 1000)]], "is reduce_scatter of 1000 bytes here"),
    ([[node(0, 1, inputs="['[{\"pg_name\": \"1\", \"ranks\": [1]}]']")]],
     'x.0.et: byte 8: node 0: group "1": its rank 0 is none; 0 to 0'),
    ([[node(0, 1, inputs="['[{\"pg_name\": 1, \"ranks\": [0]}]']")]],
     "node 0: its group 0 lacks pg_name, a text, or ranks"),
    ([[node(0, 1, inputs="\"pg_name\"")]], "node 0: its groups are no list"),
    ([[], [node(0, 1, inputs="['[{\"pg_name\": \"1\", \"ranks\": [0]}]']"),
           coll(1, "all_reduce", 5, pg_name="1")]], 'node 1: rank 1 is not in group "1"'),
]
WRONG_GROUPS = [
    ("[]", "groups.json: byte"),
    ('{"0": 5}', 'groups.json: group "0": no list of ranks'),
    ('{"0": []}', 'groups.json: group "0": 0 ranks; 1 to 2'),
    ('{"0": [0, 0]}', 'groups.json: group "0" has a rank twice'),
    ('{"0": [0, "1"]}', 'groups.json: group "0": its rank 1 is none; 0 to 1'),
    ('{"0": [0, 2]}', 'groups.json: group "0": its rank 1 is none; 0 to 1'),
]


def check_sweep(folder):
    """A sweep does not go on when the trace of any rank has changed."""
    path = chakra.write(folder, "sweep", [[coll(0, "all_reduce", 1000)]] * 2)
    scenario = write(folder, "s.yaml", "topology: {type: star, hosts: 2}\n"
                     f"workload: {{type: schedule, file: {path}}}\n")
    sweep = lambda: run_program(OCHE, "sweep", scenario, "--vary", "workload.chunks=1,2", "-o",
                                folder + "/sweep", timeout=60)
    for _ in range(2):
        done = sweep()
        must(done.returncode == 0, done.stderr)
    with open(folder + "/sweep.1.et", "ab") as file:
        file.write(b"\0")  # a length of 0: the end of a trace
    done = sweep()
    check(done.returncode == 2 and "another content of the files" in done.stderr, done.stderr)


# ---- wrong files ----

def check_refused(folder, name, words, *options):
    done = run_program(OCHE, "import", name, *options, timeout=60, cwd=folder)
    check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and
          words in done.stderr, name, options, repr(words), "gets", done.stderr)


def check_wrong(folder):
    for name, text, rows in (("x.jsonl", LINES, WRONG_LINES),
                             ("x.txt", WORKLOAD, WRONG_WORKLOAD)):
        check(result_of(write(folder, name, text))["operations_left"] == 0, name)
        for old, new, words in rows:
            must(old in text, old)
            write(folder, name, text.replace(old, new, 1))
            check_refused(folder, name, words)
    for ranks, words in WRONG_TRACES:
        for old in os.listdir(folder):
            if old.startswith("x.") and old.endswith(".et"):
                os.remove(os.path.join(folder, old))
        chakra.write(folder, "x", ranks)
        check_refused(folder, "x.0.et", words)
    chakra.write(folder, "y", [[REDUCE]] * 2)
    for text, words in WRONG_GROUPS:
        write(folder, "groups.json", text)
        check_refused(folder, "y.0.et", words, "-s", "groups_file=groups.json")
    check_refused(folder, "y.0.et", "groups_file: none.json: No such file", "-s",
                  "groups_file=none.json")
    check_refused(folder, "y.3.et", "y.3.et: is missing; there are files of ranks up to 1")
    os.rename(folder + "/y.1.et", folder + "/y.2.et")
    check_refused(folder, "y", "y.1.et: is missing; there are files of ranks up to 2")


def check_options(folder):
    """Keys that have no meaning for a format are refused."""
    write(folder, "x.goal", "num_ranks 1\nrank 0 {\ncalc 5\n}\n")
    write(folder, "x.jsonl", LINES)
    write(folder, "x.txt", WORKLOAD)
    chakra.write(folder, "z", [[REDUCE]] * 2)
    for name, key, value in (("x.goal", "algorithm", "tree"), ("x.goal", "chunks", "1"),
                             ("x.jsonl", "gpus", "4"), ("x.jsonl", "control_deps", "true"),
                             ("x.txt", "groups_file", "a"), ("z.0.et", "gpus", "2")):
        check_refused(folder, name, f"{key}: has no meaning for", "--set", f"{key}={value}")
    for words, option in (("has no value", "chunks"), ("is no key", "pods=2"),
                          ("out of range", "chunks=0"), ("is not known", "algorithm=star")):
        check_refused(folder, "x.jsonl", words, "--set", option)
    check_refused(folder, "x.txt", "gpus: 3; a multiple of", "-s", "workload.gpus=3")
    check_refused(folder, "x.txt", "gpus: 8; a multiple of", "-s", "gpus=8")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_lines(folder)
        check_line_collectives(folder)
        check_simai(folder)
        check_operations(folder)
        check_nodes(folder)
        check_groups(folder)
        check_sweep(folder)
        check_wrong(folder)
        check_options(folder)
    path = os.path.join(SOURCE, "scenarios", "graphs", "pipeline.jsonl")
    check(result_of(path)["operations_left"] == 0, path)
    return report()


sys.exit(main())
