#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche buffers: the numbers of DCQCN sec 4 come out (dcqcn.md#buffers); a scenario's check says
yes, no, and advice that works; presets; bad input gets one line and status 2.

Environment: OCHE, SOURCE.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import claim, report, run_program

OCHE = os.environ["OCHE"]
SCENARIOS = os.path.join(os.environ["SOURCE"], "scenarios")


def run(*arguments):
    """The formulas are the paper's, and so are the scenarios' defaults here."""
    if "--check" in arguments:
        arguments = [*arguments, "--set", "defaults=paper"]
    return raw(*arguments)


def paper(*arguments):
    """The paper's switch. If options give the links' lengths, without the paper's headroom."""
    return raw("--preset", "paper", *arguments)


def raw(*arguments):
    return run_program(OCHE, "buffers", *arguments)


def test_paper():
    """The paper's switch, with its 22.4 KB as an input: 24.47 KB and 21.75 KB; where it prints
    0.85 KB, its own formula gives 0.765 KB."""
    done = paper()
    claim("status", done.returncode == 0 and done.stderr == "", done)
    for line in ("t_flight = 22,400 B, given",
                 "H = p n t_flight = 8 x 32 x 22,400 B = 5,734,400 B",
                 "S = B - H = 12,000,000 B - 5,734,400 B = 6,265,600 B",
                 "t_PFC <= S / (p n) = 6,265,600 B / (8 x 32) = 24,475 B",
                 "t_ECN < t_PFC / n = 24,475 B / 32 = 764.8 B: less than a frame, cannot be",
                 "t_PFC = beta (S - s) / p = 8 x (6,265,600 B - s) / 8; 6,265,600 B when all is "
                 "free",
                 "t_ECN < beta S / (p n (beta + 1)) = 8 x 6,265,600 B / (8 x 32 x 9) = 21,755.5 B"):
        claim(f"says {line!r}", "  " + line + "\n" in done.stdout, done)
    trident = run("--preset", "trident2", "--priorities", "8", "--beta", "8", "--mtu", "1500B",
                  "--headroom", "22.4KB")
    claim("its chip", trident.stdout == done.stdout, trident)
    for alpha in (["--alpha", "1"], ["--alpha", "1", "--beta", "8"]):
        claim(f"{alpha}", " 21,755.5 B" in paper(*alpha).stdout)
    claim("alpha 1/8 is beta 1", "beta = alpha p = 0.125 x 8 = 1\n" in
          paper("--alpha", "1/8").stdout)
    little = paper("--headroom", "10KB", "--cable", "100m")
    claim("less than the formula", little.returncode == 1 and
          "t_flight = 10,000 B, given: TOO LITTLE for a link that needs 10,620 B; packets may be "
          "lost\n" in little.stdout, little)
    claim("24,475 B are not enough", paper("--kmin", "22KB").returncode == 1)
    claim("21.7 KB are", paper("--kmin", "21.7KB").returncode == 0)


def test_formula():
    """Headroom from the link: 40 Gbps, 100 m, 500 ns: 7500 + 2 x 1518 + 84 bytes."""
    done = paper("--cable", "100m")
    claim("headroom", "= 7,500 B + 3,036 B + 84 B = 10,620 B" in done.stdout, done)
    claim("cable and delay", paper("--delay", "500ns").stdout.split("\n")[3:] ==
          done.stdout.split("\n")[3:])
    claim("the formula, if asked for", "2 x 1us + 500ns) + 2 x 1,518 B + 84 B" in
          paper("--headroom", "auto").stdout)
    claim("other numbers", "= 100,000 B + 18,468 B + 84 B = 118,552 B" in
          run("--rate", "400Gbps", "--cable", "0.15km", "--mtu", "9216B", "--buffer", "64MB",
              "--ports", "32", "--priorities", "2").stdout)
    full = run("--preset", "tomahawk", "--cable", "1km", "--mtu", "9216B", "--priorities", "8")
    claim("no memory for that", full.returncode == 1 and
          "It would do for 3 priorities, or with shorter cables." in full.stdout, full)
    full = run("--preset", "tomahawk", "--cable", "100km")
    claim("no memory at all", full.returncode == 1 and "Not even one priority" in full.stdout, full)
    three = run("--preset", "tomahawk", "--cable", "1km", "--mtu", "9216B", "--priorities", "3")
    claim("three fit", three.returncode == 0 and
          re.search(r"^3 +14.4MB +1.62MB ", three.stdout, re.M), three)


def test_kinds_of_ports():
    """Ports that differ: each its own headroom; H is the sum. By hand: 400 Gbps x (2 x 1.5 us + 500
    ns) + 3,120 B; 100 Gbps x (2 x 15 ns + 500 ns) + 3,120 B."""
    done = run("--preset", "tomahawk3", "--ports", "16x400Gbps@300m,64x100Gbps@3m", "-p", "2",
               "--beta", "8", "--mtu", "1500B")
    for line in ("B = 64,000,000 B, n = 80 ports, p = 2 PFC priorities\n",
                 "link: 16 x 400Gbps, 1.50us one way (300 m of 5 ns)\n"
                 "      64 x 100Gbps, 15ns one way (3 m of 5 ns)\n",
                 "= 178,120 B for each of 16 ports\n", "= 9,745 B for each of 64 ports\n",
                 "H = p (sum of t_flight over ports) = 2 x (16 x 178,120 B + 64 x 9,745 B) = "
                 "6,947,200 B\n",
                 "t_PFC <= S / (p n) = 57,052,800 B / (2 x 80) = 356,580 B\n",
                 "= 8 x 57,052,800 B / (2 x 80 x 9) = 316,960.0 B\n"):
        claim(f"says {line!r}", done.returncode == 0 and line in done.stdout, done)
    # Equal kinds of ports are merged; values that are not given for a kind are those for all kinds.
    one = paper("--ports", "24,8@100m", "--rate", "40Gbps", "--cable", "100m").stdout
    same = paper("--ports", "32", "--cable", "100m").stdout
    claim("the same ports", one[one.index("  S = B"):] == same[same.index("  S = B"):] and
          "8 x (24 x 10,620 B + 8 x 10,620 B)" in one)
    full = run("--preset", "tomahawk3", "--ports", "8x400Gbps@5km,64x100Gbps@3m", "-p", "8",
               "--mtu", "1500B")
    claim("does not fit", full.returncode == 1 and "It would do for 3 priorities" in full.stdout,
          full)
    last = paper("--kmin", "5KB", "--cable", "100m").stdout
    claim("the verdict comes last", last.endswith(
        "static threshold: ECN may come after PFC; kmin may be at most 1,132 B, less than a "
        "frame\n"))


def test_defaults():
    """Without options: the switch that `oche run` gives to hosts of 100 Gbit/s, and that --check
    shows; the paper's only if asked for."""
    place = tempfile.TemporaryDirectory()

    def agree(options, scenario_text, what):
        path = os.path.join(place.name, "star.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(scenario_text + "workload: {type: incast, degree: 2, bytes: 1KB}\n"
                       "congestion_control: dcqcn\n")
        mine = json.loads(raw(*options, "--json").stdout)
        kind = json.loads(raw("--check", path, "--json").stdout)["switches"][0]
        row = mine["by_priorities"][-1]
        for name, value in (("ports", mine["ports"]), ("priorities", mine["priorities"]),
                            ("beta", mine["beta"]), ("buffer_bytes", mine["buffer_bytes"]),
                            ("headroom_most_bytes", mine["links"][0]["headroom_bytes"]),
                            ("headroom_total_bytes", row["headroom_total_bytes"]),
                            ("shared_bytes", row["shared_bytes"])):
            claim(f"{what}: {name} is {value} and {kind[name]}", value == kind[name])
        shown = subprocess.run([OCHE, "run", path, "--show-defaults"], capture_output=True,
                               text=True, check=True).stdout
        for key, value in (("switch.beta", f"{mine['beta']:g}"),
                           ("switch.pfc_priorities", f"{mine['priorities']}")):
            claim(f"{what}: {key}", re.search(rf"^{key} +(auto \()?{value}\b", shown, re.M))

    agree([], "topology: {type: star, hosts: 32}\n", "defaults")
    agree(["--ports", "64x400Gbps"], "topology: {type: star, hosts: 64, host_rate: 400Gbps}\n",
          "another chip")
    agree(["-p", "4"], "topology: {type: star, hosts: 32}\nswitch: {pfc_priorities: 4}\n",
          "four priorities")
    agree(["--alpha", "1/4"], "topology: {type: star, hosts: 32}\nswitch: {beta: 0.5}\n", "alpha")
    agree(["--preset", "paper", "--headroom", "auto", "--mtu", "1084B"],
          "topology: {type: star, hosts: 32}\ndefaults: paper\n", "the paper")
    claim("which chip", raw().stdout.startswith(
        "switch: Broadcom Trident 3 X7 (BCM56870): B = 32,000,000 B, n = 32 ports, C = 100Gbps, "
        "p = 2 PFC priorities\nchip: the smallest chip that has these ports\n"))
    claim("no chip", "chip: the largest chip; none has these ports\n" in
          raw("--ports", "65x800Gbps").stdout)
    claim("given memory has no chip", raw("--buffer", "20MB").stdout.startswith(
        "switch: B = 20,000,000 B") and "\nchip: " not in raw("--buffer", "20MB").stdout)
    place.cleanup()


def test_presets():
    done = run("--list-presets")
    claim("presets", done.returncode == 0 and "DCQCN sec 4" in done.stdout, done)
    done_list = done.stdout
    names = re.findall(r"^(\w+) +[\d.]+MB +(?:[\d.]+GB +)?\d+ x ", done.stdout, re.M)
    claim("all presets work", len(names) >= 15 and "paper" in names and all(
        run("--preset", name, "--priorities", "1").returncode == 0 for name in names))
    done = run("--preset", "tomahawk3", "--ports", "16")
    claim("unknown is said", re.search(r"^tomahawk6 +unknown +64 x 1.60Tbps ", done_list, re.M) and
          re.search(r"^jericho3 +48MB +32GB +unknown ", done_list, re.M))
    for name, options in (("tomahawk6", ["--buffer", "200MB"]), ("jericho3", ["--ports", "8"])):
        claim(f"{name} with what is unknown", raw("--preset", name, *options).returncode == 0)
    claim("deep memory", "chip: the memory on the chip; HBM, and that packets wait at the ingress, "
          "are left out\n" in raw("--preset", "jericho2").stdout)
    claim("what is given goes before", "B = 64,000,000 B, n = 16 ports, C = 400Gbps" in done.stdout,
          done)


def test_json():
    """The numbers of --json are those of the text, and so is the status."""
    def both(*arguments):
        text, json_text = run(*arguments), run(*arguments, "--json")
        claim(f"{arguments}: statuses", text.returncode == json_text.returncode, json_text)
        document = json.loads(json_text.stdout)
        claim(f"{arguments}: yes", document.get("yes", True) == (text.returncode == 0), json_text)
        return text.stdout, document

    for options in ([], ["--headroom", "10KB"], ["--kmin", "22KB"], ["--kmin", "400KB"],
                    ["--preset", "paper"],
                    ["--cable", "10000m"], ["--ports", "16x400Gbps@300m,64x100Gbps@3m", "--buffer",
                                            "64MB", "--priorities", "2"]):
        text, document = both(*options)
        row = document["by_priorities"][-1]
        claim(f"{options}: H", f" = {row['headroom_total_bytes']:,} B\n" in text, None)
        claim(f"{options}: fits", document["headroom_fits"] == ("S = B - H" in text))
        claim(f"{options}: enough", document["headroom_enough"] == ("TOO LITTLE" not in text))
        if document["headroom_fits"]:
            claim(f"{options}: bounds", all(f" = {int(row[name] * 10) / 10:,.1f} B" in text
                                            for name in ("static_ecn_bytes", "dynamic_ecn_bytes")))
        claim(f"{options}: links", all(f" = {link['headroom_needed_bytes']:,} B" in text or
                                       "given" in text for link in document["links"]))
    _, document = both("--list-presets")
    claim("presets", len(document["presets"]) >= 11 and
          document["presets"][0]["buffer_bytes"] == 12000000)
    for options in ([], ["--set", "switch.kmin=9MB", "--set", "switch.kmax=10MB"],
                    ["--set", "switch.ecn=false", "--set", "congestion_control=none"],
                    ["--set", "switch.pfc=false"],
                    ["--set", "congestion_control=none"], ["--set", "switch.headroom_scale=0.5"]):
        text, document = both("--check", scenario("incast.yaml"), *options)
        for kind in document["switches"]:
            claim(f"{options}: kind", f"S = B - H = {kind['buffer_bytes']:,} B - " in text and
                  f" = {int(kind['ecn_bound_bytes'] * 10) / 10:,.1f} B" in text and
                  kind["sure"] == (": not sure" not in text), None)
            claim(f"{options}: changes", kind["changes"] ==
                  re.findall(r"^    (switch\.[\w.]+=.*)$", text, re.M), None)
        claim(f"{options}: switches", (document["switches"] == []) == ("S = B - H" not in text))
    done = run("--check", scenario("none.yaml"), "--json")
    claim("no scenario", done.returncode == 2 and done.stdout == "", done)


def scenario(name):
    return os.path.join(SCENARIOS, name)


def test_check():
    done = run("--check", scenario("incast.yaml"))
    claim("incast is sure", done.returncode == 0 and done.stderr == "" and
          "\nECN is sure to act before PFC\n" in done.stdout, done)
    # 9,401,253 B - 5,000 B at 15 x 40 Gbps; 4 x 1 us, a packet of 1,106 B and twice 86 B.
    claim("how soon PAUSEs come", "    at line rate, 125us after it was at kmin\n" in done.stdout
          and "\nround trip where nothing waits: up to 4.26us\n" in done.stdout, done)
    claim("its bound", "= 8 x 9,988,832 B / (8 x 16 + 8 x 1 x 17) = 302,691.8 B" in done.stdout,
          done)
    in_use = ["--set", "switch.preset=deployed", "--check"]
    done = run(*in_use, scenario("incast.yaml"))
    claim("one rate", done.stdout.split(": ", 1)[1].startswith(
        "B = 12,000,000 B, kmin 40,000 B, kmax 160,000 B\n"), done)
    done = run(*in_use, scenario("demo.yaml"))
    claim("two rates", done.stdout.split(": ", 1)[1].startswith(
        "B = 32,000,000 B, kmin 25,000 to 100,000 B, kmax 100,000 to 400,000 B (by the port's rate)"
        "\n") and "  kmin by port: 25,000 B at the slowest, 100,000 B at the fastest; the largest "
        "decides\n" in done.stdout, done)
    done = run("--check", scenario("demo.yaml"))
    claim("kinds of switches", re.findall(r"^(\d+ \w+) switches", done.stdout, re.M) ==
          ["8 ToR", "8 aggregation", "4 core"], done)
    # The paper's switch, all its ports and priorities; one port cannot feed itself.
    done = run("--check", scenario("thresholds.yaml"), "--set", "switch.threshold=dynamic",
               "--all-priorities")
    claim("as the paper has it", "/ (8 x 31 + 8 x 8 x 32) = 21,831.3 B" in done.stdout, done)
    claim("no PFC", run("--check", scenario("incast.yaml"), "--set", "switch.pfc=false")
          .returncode == 0)
    done = run("--check", scenario("headroom.yaml"), "--set", "switch.ecn=false")
    claim("no ECN", done.returncode == 1 and "nothing is marked" in done.stdout, done)
    # A bound on kmin says nothing if no packet asks for a mark.
    for scheme in ("none", "timely", "timely_patched"):
        done = run("--check", scenario("incast.yaml"), "--set", f"congestion_control={scheme}")
        claim(f"{scheme} is not marked", done.returncode == 1 and
              f"congestion_control is {scheme}, whose packets ask for no marks" in done.stdout and
              "= 302,691.8 B" in done.stdout and
              done.stdout.endswith("\nECN does not act before PFC: congestion_control is "
                                   f"{scheme}\n") and "ECN is sure" not in done.stdout, done)
    # Headroom that is too small for the links.
    done = run("--check", scenario("headroom.yaml"), "--set", "congestion_control=dcqcn", "--set",
               "switch.headroom_scale=0.9")
    claim("too little headroom", done.returncode == 1 and
          "headroom of a port and priority: 30,185 B:\n  TOO LITTLE for a link that needs 33,538 "
          "B; packets may be lost\n" in done.stdout and "\nheadroom is too little: " in done.stdout,
          done)
    done = run("--check", scenario("headroom.yaml"), "--set", "congestion_control=dcqcn", "--set",
               "host.pfc_response=5us")
    claim("headroom for slow hosts", done.returncode == 0 and "too little" not in
          done.stdout.lower() and "headroom of a port and priority: 89,788 B\n" in done.stdout,
          done)
    # A port of 100 Gbps down, fed by three others and four of 400 Gbps, gets 1.8 Tbps more than it
    # sends: S = 62,793,568 B; (7/8 S - 5,000 B) / 1.8 Tbps.
    done = run("--check", scenario("incast.yaml"), "--set",
               "topology={type: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 4, host_rate: "
               "100Gbps, link_rate: 400Gbps, delay: 15ns, link_delay: 15ns}", "--set",
               "switch.buffer=64MB", "--set", "workload.degree=7", "--set", "measure={}")
    claim("unequal ports", done.returncode == 0 and "S = B - H = 64,000,000 B - 1,206,432 B = "
          "62,793,568 B\n" in done.stdout and "    at line rate, 244us after it was at kmin\n" in
          done.stdout and done.stdout.count("at line rate") == 1, done)
    # --check also prints errors of the routes.
    done = run("--check", scenario("loop.yaml"), "--set", "congestion_control=dcqcn")
    claim("loop", done.returncode == 0 and "\nflow 0, host2 to host0, can never arrive: " in
          done.stdout and "\nThe routes allow a cyclic buffer dependency: leaf1:spine0 → "
          "spine0:leaf1 → leaf1:spine0, class 0. " in done.stdout and
          "one port can feed m = 1 other; " in done.stdout and "  no incast, one port "
          "feeds a queue: it is paused from " in done.stdout, done)
    done = run("--check", scenario("loop.yaml"), "--set", "congestion_control=dcqcn", "--set",
               "switch.mechanisms=iofd")
    claim("deflected out of a loop", done.returncode == 0 and "can arrive only if it is deflected, "
          "and out of order: " in done.stdout and "never arrive" not in done.stdout, done)


def test_tiers():
    """Each switch is checked with what its tier has, and advice names the tier's key."""
    check_tor = ["--check", scenario("demo.yaml"), "--set"]
    done = run(*check_tor, "switch.core.ecn=false")
    claim("a tier that does not mark", done.returncode == 1 and
          "\n  marks nothing: PFC acts alone\n" in done.stdout and "enough:\n    "
          "switch.core.ecn=true\n" in done.stdout and "18,446" not in done.stdout, done)
    document = json.loads(run(*check_tor, "switch.core.ecn=false", "--json").stdout)
    claim("and in JSON", [(row["tier"], row["ecn"], row["sure"], row["changes"]) for row in
                          document["switches"]] ==
          [("ToR", True, True, []), ("aggregation", True, True, []),
           ("core", False, False, ["switch.core.ecn=true"])] and
          "kmin_most_bytes" not in document["switches"][2])
    done = run(*check_tor, "switch.ecn=false", "--set", "switch.tor.ecn=true")
    claim("the only tier that marks", "\nECN is not sure" in done.stdout and
          "kmin 5,000 B, kmax 200,000 B\n" in done.stdout and
          done.stdout.count("marks nothing") == 2, done)
    done = run(*check_tor, "switch.tor.threshold=static")
    claim("a threshold of its own", "; thresholds by tier\n" in done.stdout and
          done.stdout.count("t_ECN <= t_PFC / m") == 1 and
          done.stdout.count("t_ECN <= beta S /") == 2, done)
    before = ["switch.tor.threshold=static", "--set", "switch.tor.kmin=100KB"]
    advice = re.findall(r"^    (switch\.tor\.\S+)", run(*check_tor, *before).stdout, re.M)
    claim("advice for a tier", len(advice) == 3)
    for change in advice:
        done = run(*check_tor, *before, "--set", change)
        claim(f"{change} is enough", done.returncode == 0, done)


def test_advice():
    """The advised values suffice, and smaller ones do not."""
    cases = [("thresholds.yaml", []), ("thresholds.yaml", ["switch.kmin=30KB"]),
             ("incast.yaml", ["switch.kmin=310KB", "switch.kmax=400KB"]),
             ("incast.yaml", ["switch.beta=1/50"]),
             ("demo.yaml", ["switch.kmin=1MB", "switch.kmax=2MB"]),
             ("incast.yaml", ["switch.threshold=static", "switch.kmin=10KB"])]
    for name, sets in cases:
        given = [word for one in sets for word in ("--set", one)]
        done = run("--check", scenario(name), *given)
        claim(f"{name} {sets} is not sure", done.returncode == 1 and
              "\nECN is not sure to act before PFC: "
              "make one of the changes listed\n" in done.stdout, done)
        advice = set(re.findall(r"^    (switch\.[\w.]+=\S+)", done.stdout, re.M))
        keys = {one.split("=")[0] for one in advice}
        # Of the scenarios' tiers only demo.yaml's ToR switches need less.
        section = "switch.tor" if name == "demo.yaml" else "switch"
        claim(f"{name} {sets}: there is advice", {
            f"{section}.kmin",
            f"{section}.threshold" if name == "thresholds.yaml" else f"{section}.buffer"} <= keys,
              done)
        # Advice is for one kind of switch; a scenario may have several: the strictest of each.
        for key in keys:
            tried = [run("--check", scenario(name), *given, "--set", one).returncode
                     for one in advice if one.startswith(key + "=")]
            claim(f"{name} {sets}: {key} does", 0 in tried, done)
        kmin = min(int(one.split("=")[1][:-1]) for one in advice if ".kmin=" in one)
        claim(f"{name} {sets}: kmin is the largest", run(
            "--check", scenario(name), *given, "--set",
            f"{section}.kmin={kmin + 1}B").returncode == 1)


def test_given_thresholds():
    """kmax, pmax and xoff of the default switch: S = 29,853,568 B, 2 priorities, 32 ports. By hand:
    an incast of 31 ports pauses where q/31 = S - q, 31/32 S = 28,920,644 B, or 31 x S/64; in the
    worst case at S/96 = 310,974 B, where 20 % x 210,974/300,000 are
    marked."""
    limit = ("configure kmin <= 310,974 B (dynamic threshold): sure with data in all 2 priorities, "
             "on any routes\n")
    claim("what to configure", raw().stdout.endswith("\n" + limit))
    claim("one priority", raw("-p", "1").stdout.endswith(
        "sure with data in 1 priority, on any routes\n"))
    claim("nothing to configure", paper("--xoff", "24KB").stdout.endswith(
        "\nno kmin of a frame or more is sure (static threshold): 750 B with data in all 8 "
        "priorities, on any routes\n"))
    done = raw("--kmin", "100KB", "--kmax", "400KB", "--pmax", "0.2")
    for line in ("kmax 400,000 B: above it every packet is marked, at it 20 %\n",
                 "    one queue, incast of 31 ports: PAUSE from 28,920,644 B on, above kmax: every "
                 "packet is marked by then\n",
                 "    one queue, incast of 31 ports: PAUSE from 14,460,322 B on, above kmax: every "
                 "packet is marked by then\n",
                 "    worst case, all queues as long: PAUSE from 310,974 B on, before every packet "
                 "is marked: 14.1 % are by then\n",
                 "    worst case, all queues as long: PAUSE from 14,576 B on, below kmin: none is "
                 "marked by then\n"):
        claim(f"says {line!r}", done.returncode == 0 and line in done.stdout, done)
    done = raw("--kmax", "29MB")
    claim("kmax alone", done.returncode == 0 and "kmax 29,000,000 B: above it every packet is "
          "marked\n" in done.stdout and "PAUSE from 28,920,644 B on, before every packet is "
          "marked\n" in done.stdout and "\nkmin 29" not in done.stdout, done)
    # xoff decides where it is given: 300,000 B / 32 ports, an incast at 31 x 300,000 B.
    for kmin, status in (("9375B", 0), ("9376B", 1)):
        done = raw("--xoff", "300KB", "--kmin", kmin, "--kmax", "10MB")
        claim(f"xoff and {kmin}", done.returncode == status and
              "  t_PFC = xoff = 300,000 B, given\n" in done.stdout and
              "t_ECN < t_PFC / n = 300,000 B / 32 = 9,375.0 B\n" in done.stdout and
              "\nconfigure kmin <= 9,375 B (static threshold): " in done.stdout and
              "PAUSE from 9,300,000 B on, before every packet is marked\n" in done.stdout, done)
    done = raw("--xoff", "466463B")
    claim("too much", done.returncode == 1 and
          "  t_PFC = xoff = 466,463 B, given: TOO MUCH; packets may be lost\n" in done.stdout, done)
    document = json.loads(raw("--xoff", "300KB", "--kmin", "9376B", "--kmax", "10MB",
                              "--json").stdout)
    claim("JSON", (document["xoff_bytes"], document["kmax_bytes"], document["pmax"],
                   document["incast_pauses_from_static_bytes"], document["kmin_sure_static"],
                   document["kmin_sure_dynamic"], document["yes"]) ==
          (300000, 10000000, None, 9300000, False, True, False))
    claim("not too much", raw("--xoff", "466462B").returncode == 0)


def test_several_answers():
    """A scenario's check says which of its two limits to configure, and what has no effect."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "rack.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("topology: {type: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 20}\n"
                       "switch: {buffer: 32MB}\ncongestion_control: dcqcn\n"
                       "workload: {type: incast, degree: 12, bytes: 1MB}\n")
        done = raw("--check", path)
        claim("two limits", done.returncode == 1 and
              "  kmin 800,000 B: not sure; it may be at most 609,365 B\n"
              "  configure kmin <= 403,382 B: sure with data in all 2 priorities; 609,365 B only "
              "in 1\n" in done.stdout, done)
        claim("only the leaves", "    switch.leaf.kmin=609365B (of all its ports; now 100,000 B at "
              "the slowest)\n    switch.leaf.beta=" in done.stdout, done)
        for change in re.findall(r"^    (switch\.leaf\.\S+)", done.stdout, re.M):
            claim(f"{change} is enough", raw("--check", path, "--set", change).returncode == 0)
        claim("no remark", "no effect" not in done.stdout, done)
        said = "switch.xoff has no effect here: switch.threshold is dynamic"
        done = raw("--check", path, "--set", "switch.xoff=100KB")
        claim("xoff has no effect", f"\n\n{said}\n\nECN is not sure" in done.stdout, done)
        document = json.loads(raw("--check", path, "--set", "switch.xoff=100KB", "--json").stdout)
        claim("and in JSON", document["remarks"] == [said])


BAD = [
    (["--buffer", "12"], "oche buffers: --buffer 12: 12 has no unit; add one of B, "),
    (["--ports", "0"], "oche buffers: --ports 0: 0 is out of range; from 1 to 1024"),
    (["--ports", "4@3"], "oche buffers: --ports 4@3: not a length; write it as 100m or 2km"),
    (["--ports", "4x100"], "oche buffers: --ports 4x100: 100 has no unit; add one of "),
    (["--ports", "1,"],
     "oche buffers: --ports 1,: has no value; write a whole number, such as 128"),
    (["--ports", "1000,100"], "oche buffers: --ports 1000,100: 1100 ports in all; at most 1024"),
    (["--ports", "1,1,1,1,1,1,1,1,1"],
     "oche buffers: --ports 1,1,1,1,1,1,1,1,1: more than 8 kinds of ports; put some together"),
    (["--ports", "1" * 64], f"oche buffers: --ports {'1' * 64}: too long a word; write "
                            "64x100Gbps@3m"),
    (["--ports", "2x1Gbps", "--rate", "1Gbps"],
     "oche buffers: --rate is of ports that --ports gives no rate; leave it out"),
    (["--ports", "2@1m", "--delay", "1us"],
     "oche buffers: --delay is of ports that --ports gives no length; leave it out"),
    (["--preset", "tomahawk3", "--ports", "32,64x100Gbps"],
     "oche buffers: --preset tomahawk3: its ports have 12.8Tbps in all (32 x 400Gbps), and "
     "19.2Tbps are asked for; write fewer or slower ones"),
    (["--priorities", "9"], "oche buffers: --priorities 9: 9 is out of range; from 1 to 8"),
    (["--cable", "100"], "oche buffers: --cable 100: not a length; write it as 100m or 2km"),
    (["--cable", "-1m"], "oche buffers: --cable -1m: not a length; write it as 100m or 2km"),
    (["--cable", "1e9km"], "oche buffers: --cable 1e9km: is more than 1000 km; write less"),
    (["--cable", "1m", "--delay", "5ns"],
     "oche buffers: --cable and --delay say the same; give one"),
    (["--kmin", "2KB", "--kmax", "1KB"],
     "oche buffers: --kmax is below --kmin, 2000 bytes; give at least that"),
    (["--pmax", "0.2", "--kmax", "1KB"],
     "oche buffers: --pmax is of queues between kmin and kmax; give --kmin and --kmax, too"),
    (["--pmax", "20"], "oche buffers: --pmax 20: 20 is out of range; from 0 to 1; did you "
     "mean \"20%\"?"),
    (["--xoff", "100KB", "--alpha", "1"],
     "oche buffers: --xoff is the static threshold, --alpha is of the dynamic one; give one of "
     "them"),
    (["--check", scenario("incast.yaml"), "--xoff", "3KB"],
     "oche buffers: --check takes sizes from the scenario; change them with --set"),
    (["--alpha", "1", "--beta", "3"],
     "oche buffers: --alpha 1 makes beta 2 with 2 priorities, and --beta says 3; give one of them"),
    (["--preset", "paper", "--alpha", "1/8", "--beta", "8"],
     "oche buffers: --alpha 0.125 makes beta 1 with 8 priorities, and --beta says 8; give one of "
     "them"),
    (["--preset", "tomahawk6"],
     "oche buffers: --preset tomahawk6: its memory is not known; give it with --buffer"),
    (["--preset", "jericho3"],
     "oche buffers: --preset jericho3: how many ports it has is not known; give them with --ports"),
    (["--beta", "0"], "oche buffers: --beta 0: 0 is out of range; from 1/1024 to 1024"),
    (["--preset", "trident5"],
     "oche buffers: --preset trident5: no such chip; did you mean trident2?"),
    (["--preset", "x"],
     "oche buffers: --preset x: no such chip; --list-presets lists them"),
    (["--preset", "papr"], "oche buffers: --preset papr: no such chip; did you mean paper?"),
    (["--list-presets", "--ports", "3"], "oche buffers: --list-presets goes alone"),
    (["--check", "no.yaml"],
     "no.yaml: cannot be read: No such file or directory; give the path of a scenario file"),
    (["--check", scenario("incast.yaml"), "--ports", "3"],
     "oche buffers: --check takes sizes from the scenario; change them with --set"),
    (["--set", "switch.kmin=1KB"],
     "oche buffers: --set and --all-priorities are for --check; give a scenario"),
    (["--check", scenario("incast.yaml"), "--set", "switch.kmim=1KB"],
     '--set switch.kmim=1KB: switch.kmim: unknown key; did you mean "kmin"?'),
    (["--check", scenario("incast.yaml"), "--set", "switch.buffer=1MB"],
     "--set switch.buffer=1MB: switch.buffer: 1000000 bytes is less than the PFC headroom of "),
    ([scenario("incast.yaml")], f"oche buffers: {scenario('incast.yaml')}: what is that? for a "
                                f"scenario, write --check {scenario('incast.yaml')}"),
]


def test_bad_input():
    for arguments, said in BAD:
        done = run(*arguments)
        whole = not said.endswith(" ")
        right = done.stderr == said + "\n" if whole else (done.stderr.startswith(said) and
                                                          done.stderr.count("\n") == 1)
        claim(f"{arguments}: should say {said!r}",
              right and done.returncode == 2 and done.stdout == "", done)


def main():
    for test in (test_paper, test_defaults, test_formula, test_kinds_of_ports, test_presets,
                 test_given_thresholds, test_several_answers, test_check, test_tiers,
                 test_advice, test_json, test_bad_input):
        test()
    return report()


sys.exit(main())
