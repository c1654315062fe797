-- SPDX-License-Identifier: Apache-2.0
-- A view for readers of schema 3, which had a run's sums as counters of the entity "all". It shows
-- today's metrics in that form: under the old names, as integers, times in picoseconds. Version 0.3
-- will remove the view and rename entity_counters to counters.

-- const run_old_counters

-- The counters of the first list were in every file, so they are 0 if the run has no such metric.
-- Counters of schemes and mechanisms are shown only if the run has their metrics. Counters of
-- mechanisms have kept their names; other metrics of mechanisms were not counters in schema 3.
CREATE VIEW counters AS
SELECT entity, name, value FROM entity_counters
UNION ALL
SELECT 'all', old, CAST(round(coalesce(value, 0) * scale) AS INTEGER) FROM (
    SELECT column1 AS old, column2 AS name, column3 AS scale FROM (VALUES
        ('hops', 'packet_hops', 1),
        ('events', 'events', 1),
        ('flows', 'flows.whole_run', 1),
        ('flows_completed', 'flows.whole_run.completed', 1),
        ('flows_failed', 'flows.whole_run.failed', 1),
        ('lost_packets', 'lost', 1),
        ('cut_packets', 'lost.link_down', 1),
        ('pauses_sent', 'pauses', 1),
        ('pauses_received_by_hosts', 'pauses_received.host', 1),
        ('pause_time', 'pause_time', 1e12),
        ('rejected_packets', 'rejected_packets', 1),
        ('late_packets', 'late_packets', 1),
        ('corrupt_bytes', 'corrupt_bytes', 1),
        ('live_packets', 'live_packets', 1),
        ('queued_bytes', 'queued_bytes', 1),
        ('nic_data_packets_sent', 'data_packets', 1),
        ('nic_data_bytes_sent', 'data_bytes', 1),
        ('nic_data_packets_received', 'data_packets.received', 1),
        ('nic_data_bytes_received', 'data_bytes.received', 1),
        ('nic_delivered_bytes', 'delivered_bytes', 1),
        ('nic_delivered_messages', 'delivered_messages', 1),
        ('nic_retransmitted_packets', 'retransmitted_packets', 1),
        ('nic_retransmitted_bytes', 'retransmitted_bytes', 1),
        ('nic_duplicate_packets', 'duplicate_packets', 1),
        ('nic_out_of_order_packets', 'out_of_order_packets', 1),
        ('nic_placed_packets', 'out_of_order_packets.kept', 1),
        ('nic_acks_sent', 'acks', 1),
        ('nic_acks_received', 'acks.received', 1),
        ('nic_naks_sent', 'naks', 1),
        ('nic_naks_received', 'naks.received', 1),
        ('nic_rnr_naks_sent', 'rnr_naks', 1),
        ('nic_rnr_naks_received', 'rnr_naks.received', 1),
        ('nic_cnps_sent', 'cnps', 1),
        ('nic_cnps_received', 'cnps.received', 1),
        ('nic_cc_packets_sent', 'cc_packets', 1),
        ('nic_cc_packets_received', 'cc_packets.received', 1),
        ('nic_ce_received', 'data_packets.received.marked', 1),
        ('nic_ce_marked', 'marks.host_nic', 1),
        ('nic_timeouts', 'timeouts', 1),
        ('nic_queueing_time_ps', 'data_packets.queueing_time', 1e12),
        ('timeouts_last_packet', 'timeouts.last_packet', 1),
        ('timeouts_last_ack', 'timeouts.last_ack', 1),
        ('timeouts_nak_lost', 'timeouts.nak_lost', 1),
        ('timeouts_lost_twice', 'timeouts.lost_twice', 1),
        ('timeouts_nak_held', 'timeouts.nak_held', 1),
        ('timeouts_other', 'timeouts.other', 1),
        ('packets_tor_to_host', 'packets.tor_to_host', 1),
        ('marks_tor_to_host', 'marks.tor_to_host', 1),
        ('drops_tor_to_host', 'drops.tor_to_host', 1),
        ('packets_tor_to_up', 'packets.tor_to_up', 1),
        ('marks_tor_to_up', 'marks.tor_to_up', 1),
        ('drops_tor_to_up', 'drops.tor_to_up', 1),
        ('packets_aggregation', 'packets.aggregation', 1),
        ('marks_aggregation', 'marks.aggregation', 1),
        ('drops_aggregation', 'drops.aggregation', 1),
        ('packets_core', 'packets.core', 1),
        ('marks_core', 'marks.core', 1),
        ('drops_core', 'drops.core', 1),
        ('packets_host_nic', 'packets.host_nic', 1),
        ('marks_host_nic', 'marks.host_nic', 1),
        ('drops_host_nic', 'drops.host_nic', 1)
    )
) LEFT JOIN metrics USING (name)
WHERE EXISTS (SELECT 1 FROM metrics)
UNION ALL
SELECT 'all', 'nic_rejected_packets', CAST(sum(value) AS INTEGER) FROM metrics
WHERE name IN ('rejected_packets', 'late_packets')
HAVING count(*) > 0
UNION ALL
SELECT 'all', old, CAST(value AS INTEGER) FROM metrics JOIN (
    SELECT column1 AS old, column2 AS name FROM (VALUES
        ('nic_credits_dropped', 'credits.dropped'),
        ('nic_credits_wasted', 'credits.wasted'),
        ('dart_updates', 'dart.updates'),
        ('dart_share_acks', 'dart.share_acks'),
        ('dart_groups', 'dart.groups'),
        ('dart_groups_not_come', 'dart.groups.not_come'),
        ('dart_groups_void', 'dart.groups.void')
    )
) USING (name)
UNION ALL
SELECT 'all', name, CAST(value AS INTEGER) FROM metrics JOIN metric_names USING (name)
WHERE unit = 'count'
    AND substr(name, 1, instr(name, '.') - 1)
        IN ('iofd', 'rcp_rate', 'credit_shaper', 'ib_credits', 'fecn')
    AND name NOT GLOB 'iofd.short_flows*'
    AND name <> 'iofd.links_added.mean';
