#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our bytes, read by somebody else: tshark must find nothing malformed in a capture of every opcode
# over IPv4 and IPv6, CNPs and PFC frames, and must read every field as it was meant; nor in the
# capture of a simulated world. oche wire must find all of it right, and count what the RNICs did.
#     tshark.sh ALL_OPCODES SIMULATED_CAPTURE      (the programs that write the captures)
set -u
for tool in tshark mergecap; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$1" "$work/all.pcap" >"$work/meant" || fail "cannot write the capture"
fields=()
for field in bth.opcode bth.destqp bth.psn bth.p_key bth.se bth.m bth.padcnt bth.a reth.va \
    reth.r_key reth.dmalen atomiceth.swapdt atomiceth.cmpdt aeth.syndrome aeth.msn \
    atomicacketh.origremdt immdt ieth deth.q_key deth.srcqp; do
    fields+=(-e "infiniband.$field")
done
fields+=(-e macc.cbfc.enbv -e macc.cbfc.pause_time.c3 -e macc.cbfc.pause_time.c7)
tshark -r "$work/all.pcap" -T fields -E occurrence=f "${fields[@]}" >"$work/read" \
    2>"$work/errors" || fail "$(cat "$work/errors")"
diff "$work/meant" "$work/read" >"$work/diff" ||
    fail "what was meant (<) is not what tshark reads (>):" "$(head -20 "$work/diff")"
[ "$(wc -l <"$work/read")" -gt 200 ] || fail "only $(wc -l <"$work/read") frames"

bad_frames='_ws.malformed || _ws.expert.severity==error'
checked=(-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE)

# frames CAPTURE FILTER…: how many frames fit each filter, a number a line; in one pass, as each
# start of tshark takes half a second
frames() {
    local capture=$1 filter statistics=io,stat,0
    shift
    for filter; do statistics+=",$filter"; done
    tshark -r "$capture" "${checked[@]}" -q -z "$statistics" 2>/dev/null >"$work/counted" ||
        fail "tshark $capture"
    awk -F'|' '/<>/ { for (i = 3; i < NF; i += 2) print $i + 0 }' "$work/counted"
}

clean() {
    local bad
    bad=$(tshark -r "$1" "${checked[@]}" -Y "$bad_frames" 2>/dev/null) || fail "tshark $1"
    [ -z "$bad" ] || fail "tshark on $1: $bad"
}
clean "$work/all.pcap"
mergecap -a -F pcap -w "$work/golden.pcap" tests/golden/*.pcap || fail "mergecap"
clean "$work/golden.pcap"

# The filter itself can fail: an IPv4 checksum spoiled (24 bytes of file header, 16 of record).
cp "$work/all.pcap" "$work/spoiled.pcap"
printf '\xff' | dd of="$work/spoiled.pcap" bs=1 seek=$((24 + 16 + 14 + 10)) conv=notrunc 2>/dev/null
(clean "$work/spoiled.pcap") >/dev/null && fail "tshark finds nothing wrong in a spoiled capture"

"$OCHE" wire "$work/all.pcap" >"$work/wire" || fail "oche wire: $(grep WRONG "$work/wire" | head)"
frames=$(wc -l <"$work/meant")
grep -qE "^frames +$frames\$" "$work/wire" || fail "oche wire: $(tail -12 "$work/wire")"
grep -qE '^PFC +8$' "$work/wire" || fail "oche wire: $(tail -12 "$work/wire")"
grep -qE '^CNPs +6$' "$work/wire" || fail "oche wire: $(tail -12 "$work/wire")"

# TCP segments of a simulated host, with what was lost sent again.
for ip in false true; do
    "$OCHE" run tests/scenarios/tcp.yaml --set host.ipv6=$ip --set duration=20ms --seed 3 --quiet \
        --out "$work/tcp" --pcap "$work/tcp.pcap:host0" || fail "cannot simulate TCP"
    of_ip="ip${ip/true/v6}.addr"
    some=('tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.options.mss_val == 1460'
        'tcp.flags.syn == 1 && tcp.flags.ack == 1 && tcp.options.wscale.shift == 6'
        'tcp.len == 1460' 'tcp.flags.ece == 1 && tcp.flags.syn == 0' 'tcp.flags.cwr == 1'
        'tcp.analysis.duplicate_ack' "${of_ip/ipfalse/ip}")
    none=("$bad_frames" 'tcp.checksum.status != 1' '!tcp')
    mapfile -t found < <(frames "$work/tcp.pcap" "${none[@]}" "${some[@]}")
    [ ${#found[@]} -eq $((${#none[@]} + ${#some[@]})) ] || fail "tshark: $(cat "$work/counted")"
    for i in "${!found[@]}"; do
        if [ "$i" -lt ${#none[@]} ]; then
            [ "${found[i]}" = 0 ] || fail "${found[i]} frames with ${none[i]}"
        else
            [ "${found[i]}" -gt 0 ] || fail "no frame in the capture with ${some[i - ${#none[@]}]}"
        fi
    done
done

# A world, tapped at every host: a packet is seen once when sent, and once if it arrives.
for ip in ipv4 ipv6; do
    "$2" "$work/world.pcap" $ip >"$work/totals" || fail "cannot simulate"
    bad=$(tshark -r "$work/world.pcap" "${checked[@]}" \
        -Y "$bad_frames || frame.time_delta < 0" 2>/dev/null) || fail "tshark"
    [ -z "$bad" ] || fail "malformed, or out of order: $(head -3 <<<"$bad")"
    "$OCHE" wire "$work/world.pcap" >"$work/wire" || fail "oche wire: $(grep WRONG "$work/wire")"
    while read -r name number; do declare "t_$name=$number"; done <"$work/totals"
    counted() { sed -nE "s/^$1 +([0-9]+).*/\1/p" "$work/wire"; }
    same() { # same WHAT IN-THE-CAPTURE AS-THE-RNICS-SAY
        [ "$2" = "$3" ] || fail "$ip: $1: $2 in the capture, $3 in the world: $(cat "$work/totals")"
    }
    [ "$t_completed" = 8 ] || fail "$ip: $t_completed of 8 flows completed"
    same corrupt 0 "$t_corrupt"
    same frames "$(counted frames)" "$t_frames"
    same skipped 0 "$t_skipped"
    same data "$(grep -c "RC WRITE.*ICRC ok" "$work/wire")" $((t_data_sent + t_data_received))
    same CNPs "$(counted CNPs)" $((t_cnps_sent + t_cnps_received))
    same NAKs "$(counted NAKs)" $((t_naks_sent + t_naks_received))
    same "CE marks" "$(counted "CE marks")" "$t_ce_received"
    same PAUSEs "$(grep -cE 'PFC pause class [0-9]: [1-9]' "$work/wire")" "$t_pauses_received"
    # At a receiver, what was sent again is new if the first one was lost.
    lost=$((t_data_sent - t_data_received))
    same retransmissions "$(counted retransmissions)" $((2 * t_retransmitted - lost))
    for some in "$t_cnps_sent" "$t_naks_sent" "$t_ce_received" "$t_pauses_received" "$lost"; do
        [ "$some" -gt 0 ] || fail "$ip: nothing happened: $(cat "$work/totals")"
    done
done
