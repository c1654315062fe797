#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two processes on loopback, with UDP port 4791: 8 MiB (OCHE_LONG=yes: 64) by WRITE, READ and SEND,
# every byte checked; the capture of it is right for tshark and for oche wire. The same with 1 % of
# the packets lost, by every recovery scheme.
#     loopback.sh PROGRAM
set -u
for tool in tshark mergecap; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
mebibytes=8
of_a_scheme=4
[ "${OCHE_LONG:-}" = yes ] && mebibytes=64 of_a_scheme=16

# One run of this test at a time: the addresses belong to the machine.
exec 9>"${TMPDIR:-/tmp}/oche-loopback.lock" && flock 9

# run NAME OPTION…: leaves what the two report
run() {
    local name=$1
    shift
    "$program" --bytes $((mebibytes << 20)) "$@" 127.0.0.1 127.0.0.2 \
        >"$work/$name.out" 2>&1 || fail "$name: $(cat "$work/$name.out")"
    echo "$name:"
    cat "$work/$name.out"
}

# clean NAME: oche wire finds nothing wrong in the capture; tshark, all_clean
captures=()
clean() {
    # Of the first capture only, as each start of tshark takes half a second.
    [ "$1" != clean ] ||
        [ "$(tshark -r "$work/$1.pcap" -c 300 -T fields -e infiniband.bth.psn 2>/dev/null |
            grep -c .)" -eq 300 ] || fail "$1: tshark does not see RoCEv2"
    "$OCHE" wire --quiet "$work/$1.pcap" >"$work/$1.wire" ||
        fail "$1: oche wire: $(tail -n 20 "$work/$1.wire")"
    mv "$work/$1.pcap" "$work/$1-${#captures[@]}.pcap"
    captures+=("$work/$1-${#captures[@]}.pcap")
}

# tshark finds nothing wrong in any of them: in one pass, and one after the other where it does.
all_clean() {
    local bad name
    mergecap -a -F pcap -w "$work/together.pcap" "${captures[@]}" || fail "mergecap"
    finds_wrong "$work/together.pcap" >"$work/bad" || { rm "${captures[@]}"; captures=(); return; }
    for name in "${captures[@]}"; do
        bad=$(finds_wrong "$name") && fail "${name##*/}: tshark: $(head <<<"$bad")"
    done
    fail "tshark: $(head "$work/bad")"
}
finds_wrong() {
    tshark -r "$1" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE \
        -Y '_ws.malformed || _ws.expert.severity==error' 2>&1 | grep -v '^Running as user'
}

# payload NAME OPCODE…: payload bytes in all
payload() {
    local name=$1 sum=0 opcode bytes
    shift
    for opcode in "$@"; do
        bytes=$(sed -nE "s/^$opcode +[0-9]+ +([0-9]+)$/\1/p" "$work/$name.wire")
        sum=$((sum + ${bytes:-0}))
    done
    echo $sum
}
count() { sed -nE "s/^$2 +([0-9]+).*/\1/p" "$work/$1.wire"; }

program=$1
run clean --message $((1 << 20)) --capture "$work/clean.pcap"
clean clean
for operation in 'RC WRITE' 'RC READ RESPONSE' 'RC SEND'; do
    moved=$(payload clean "$operation FIRST" "$operation MIDDLE" "$operation LAST")
    [ "$moved" -ge $((mebibytes << 20)) ] || fail "$operation: only $moved bytes"
done

run lossy --message $((64 << 10)) --drop 10000 --capture "$work/lossy.pcap"
clean lossy
[ "$(count lossy NAKs)" -gt 25 ] || fail "NAKs: $(count lossy NAKs)"
again=$(count lossy retransmissions)
[ "$again" -gt 100 ] || fail "retransmissions: $again"

# Every recovery scheme on the wire, with 1 % of the packets lost; no packet of it is wrong.
# 4 MiB by each operation, captured, every byte checked; with OCHE_LONG=yes 16, and also 64 MiB.
selective=selective_repeat,rto_low=5ms,rto_high=20ms
schemes=(go_back_0 go_back_n improved_go_back_n improved_go_back_n,send_twice=false
    improved_go_back_n,check_epsn=false improved_go_back_n,check_last=true "$selective")
for scheme in "${schemes[@]}"; do
    if [ "${OCHE_LONG:-}" = yes ]; then
        run "$scheme-64MiB" --message $((64 << 10)) --drop 10000 --recovery "$scheme"
    fi
    run "$scheme" --message $((64 << 10)) --drop 10000 --bytes $((of_a_scheme << 20)) \
        --recovery "$scheme" --capture "$work/$scheme.pcap"
    clean "$scheme"
done

all_clean

# Selective repeat: two peers find out about each other, and speak plain RoCEv2 to any other.
extended() {
    local sum=0 opcode found
    for opcode in 'RC WRITE MIDDLE AT' 'RC SEND MIDDLE AT' 'RC SACK'; do
        found=$(sed -nE "s/^$opcode +([0-9]+).*/\1/p" "$work/$1.wire")
        [ "${found:-0}" -gt "$2" ] && sum=$((sum + 1))
    done
    echo $sum
}
[ "$(extended "$selective" 10)" -eq 3 ] || fail "not negotiated: $(cat "$work/$selective.wire")"
grep -q 'kept [1-9]' "$work/$selective.out" ||
    fail "nothing was kept: $(cat "$work/$selective.out")"
for pair in "$selective go_back_n" "go_back_n $selective" "$selective improved_go_back_n"; do
    read -r one other <<<"$pair"
    run mixed --message $((64 << 10)) --drop 10000 --recovery "$one" --peer-recovery "$other" \
        --bytes $((of_a_scheme << 20)) --capture "$work/mixed.pcap"
    clean mixed
    [ "$(extended mixed 0)" -eq 0 ] || fail "$pair: not plain RoCEv2: $(cat "$work/mixed.wire")"
done
# Congestion control by round trips, whose thresholds leave room for a machine with other work: the
# rates are held, in bursts and packet by packet, also where packets are lost.
for scheme in timely,pacing=segment timely_patched,pacing=packet; do
    run "$scheme" --message $((1 << 20)) --bytes $((16 << 20)) --drop 1000 --line-rate 10 \
        --congestion "$scheme,t_low=100ms,t_high=900ms,min_rtt=50ms,max_rate_fraction=0.1" \
        --capture "$work/$scheme.pcap"
    clean "$scheme"
    grep -q 'driver: rate in the end 1.000 Gbit/s' "$work/$scheme.out" ||
        fail "$(cat "$work/$scheme.out")"
    tenths=$(sed -nE 's/^WRITE +([0-9]+)\.([0-9]).*/\1\2/p' "$work/$scheme.out")
    [ "${tenths:-99}" -le 10 ] || fail "$scheme: faster than 1 Gbit/s: $(cat "$work/$scheme.out")"
done

# Dart: both show that they know shares, and every ACK has one; READ's receiver tells by updates.
run dart --message $((64 << 10)) --bytes $((16 << 20)) --drop 1000 \
    --congestion dart,base_rtt=1ms --capture "$work/dart.pcap"
clean dart
shares() { sed -nE "s/^$1 +([0-9]+) .*/\1/p" "$work/dart.wire"; }
[ "$(shares 'RC ACK SHARE')" -gt 50 ] || fail "dart: no shares: $(cat "$work/dart.wire")"
[ "$(shares SHARE)" -gt 0 ] || fail "dart: no updates: $(cat "$work/dart.wire")"
[ -z "$(shares 'RC ACK')" ] || fail "dart: an ACK without a share: $(cat "$work/dart.wire")"

# One long message, which Go-Back-0 never gets through: it begins again and again.
run hopeless --message $((64 << 20)) --bytes $((64 << 20)) --drop 10000 --recovery go_back_0 \
    --retries 50 --hopeless --capture "$work/hopeless.pcap"
grep -q 'retry exceeded' "$work/hopeless.out" || fail "$(cat "$work/hopeless.out")"
grep -q '^[1-9][0-9]* bytes received, 0 delivered' "$work/hopeless.out" ||
    fail "$(cat "$work/hopeless.out")"
clean hopeless
[ "$(count hopeless NAKs)" -gt 40 ] || fail "begun again $(count hopeless NAKs) times"
all_clean
