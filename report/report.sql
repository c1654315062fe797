-- SPDX-License-Identifier: Apache-2.0
-- The report's longer queries. Shorter queries are in the C functions that read their rows.

-- When the measured time began, and when the last flow of all started.
-- const flow_window
SELECT (SELECT CAST(value AS INTEGER) FROM info WHERE key = 'simulated_ps') -
        (SELECT CAST(value AS INTEGER) FROM info WHERE key = 'measured_ps'), max(start_ps)
FROM flows

-- The 150 ports that were held longest, with all their ancestors in the forest of PAUSEs. Parents
-- come before their branches.
-- const shown_pauses
WITH RECURSIVE shown(id) AS (
    SELECT id FROM (SELECT id FROM pause_tree ORDER BY held_ps DESC, id LIMIT 150)
    UNION
    SELECT parent FROM pause_tree JOIN shown USING (id) WHERE parent IS NOT NULL
)
SELECT id, parent, port, class, pauses, held_ps, first_ps, last_ps, senders, returns,
    (SELECT count(*) FROM pause_tree AS below WHERE below.parent = pause_tree.id)
FROM pause_tree WHERE id IN shown ORDER BY id

-- The hosts that sent PAUSEs themselves, each with the switch's port that it held; for how long, of
-- the class that was held longest. A slow receiver has a receive buffer; the others are in a storm.
-- const pausing_hosts
SELECT n.name,
    coalesce((SELECT CASE WHEN a = n.id THEN port_b ELSE port_a END
        FROM links WHERE a = n.id OR b = n.id LIMIT 1), ''),
    sum(CASE WHEN c.name GLOB 'pauses_sent_*' THEN value ELSE 0 END) AS pauses,
    max(CASE WHEN c.name GLOB 'pause_sent_time_*' THEN value ELSE 0 END) AS held,
    max(c.name = 'receive_buffer_peak_bytes')
FROM nodes n JOIN entity_counters c ON c.entity = n.name
WHERE n.kind = 'host' AND (c.name GLOB 'pause*_sent_*' OR c.name = 'receive_buffer_peak_bytes')
GROUP BY n.id HAVING pauses > 0 OR held > 0 ORDER BY held DESC, n.id

-- The 20 flows that lost the largest part of their duration to congestion that was not on their
-- path; victims come first.
-- const shown_victims
SELECT f.id, a.name, b.name, bytes,
    coalesce(delivered_ps, completed_ps,
        (SELECT CAST(value AS INTEGER) FROM info WHERE key = 'simulated_ps')) - start_ps AS life,
    held_ps, lost_ps, root, victim
FROM flows f JOIN nodes a ON a.id = f.src JOIN nodes b ON b.id = f.dst
WHERE measured AND lost_ps > 0
ORDER BY victim DESC, CAST(lost_ps AS REAL) / life DESC, f.id LIMIT 20

-- The 20 flows that were deflected most often.
-- const shown_deflected
SELECT d.flow, a.name, b.name, f.bytes, d.times, (f.delivered_ps - f.start_ps) / 1e12, f.slowdown
FROM (
    SELECT flow, sum(deflected) AS times, count(*) AS hops FROM paths WHERE way = 'taken'
    GROUP BY flow ORDER BY times DESC, hops DESC, flow LIMIT 20
) d
JOIN flows f ON f.id = d.flow JOIN nodes a ON a.id = f.src JOIN nodes b ON b.id = f.dst
ORDER BY d.times DESC, d.hops DESC, d.flow

-- All time series except those of held ports. The last columns name a flow's sender and receiver
-- and, of the slowest flows, the size and the slowdown.
-- const shown_series
SELECT series_names.id, name, entity, unit, (
    SELECT a.name || ' → ' || b.name
    FROM flows f JOIN nodes a ON a.id = f.src JOIN nodes b ON b.id = f.dst
    WHERE entity LIKE 'flow %' AND f.id = CAST(substr(entity, 6) AS INTEGER)
), slow.bytes, slow.slowdown
FROM series_names
LEFT JOIN flows slow
    ON name = 'slowest_goodput' AND slow.id = CAST(substr(entity, 6) AS INTEGER)
WHERE name != 'held' ORDER BY series_names.id

-- The series of held ports; the port that was held longest comes first. The name of a port's node
-- is the part before the colon; a host's port has no colon and is named like the host.
-- const held_ports
WITH held AS (
    SELECT series, entity, sum(value) AS sum,
        CASE WHEN instr(entity, ':') > 0 THEN substr(entity, 1, instr(entity, ':') - 1)
            ELSE entity END AS node
    FROM series JOIN series_names ON id = series WHERE name = 'held' GROUP BY series
)
SELECT series, entity, sum, (SELECT kind FROM nodes WHERE nodes.name = node)
FROM held ORDER BY sum DESC, entity

-- The ends of the first and of the last interval of the time series, the number of intervals, and
-- the begin of the first one.
-- const series_intervals
SELECT min(time_ps), max(time_ps), count(*),
    (SELECT value FROM info WHERE key = 'simulated_ps') -
        (SELECT value FROM info WHERE key = 'measured_ps')
FROM series JOIN series_names ON id = series WHERE name = 'goodput' AND entity = 'all'

-- Watched queues, each with the most bytes that were in it, and its mean.
-- const watched_queues
SELECT id, entity, unit,
    (SELECT value FROM entity_counters c
     WHERE c.entity = h.entity AND c.name = 'max_queue_bytes'),
    (SELECT value FROM metrics m WHERE m.name = 'queue.' || h.entity || '.mean')
FROM histogram_names h WHERE name = 'queue' ORDER BY id

-- Links, with the bytes that each of the two ends sent, and for how long it was held by PAUSE (of
-- its classes, the one that was held longest).
-- const links_with_load
-- Where a clock starts flows, the bytes until arrivals stop.
WITH counter AS (SELECT CASE WHEN EXISTS (SELECT 1 FROM info WHERE key = 'load_ps')
  THEN 'line_bytes_of_load' ELSE 'line_bytes' END AS name)
SELECT a, b, rate_bps, port_a, port_b, ca.value, cb.value,
    (SELECT max(value) FROM entity_counters WHERE entity = port_a AND name GLOB 'paused_time_*'),
    (SELECT max(value) FROM entity_counters WHERE entity = port_b AND name GLOB 'paused_time_*')
FROM links
LEFT JOIN entity_counters ca ON ca.entity = port_a AND ca.name = (SELECT name FROM counter)
LEFT JOIN entity_counters cb ON cb.entity = port_b AND cb.name = (SELECT name FROM counter)
ORDER BY links.id

-- Jobs, with the ranks that have ended.
-- const shown_jobs
SELECT job, title, ranks, bytes, start_ps, end_ps, last_rank, late_ps,
    (SELECT count(*) FROM job_ranks r WHERE r.job = jobs.job AND r.end_ps IS NOT NULL)
FROM jobs ORDER BY job LIMIT 64

-- The ranks of a job whose spans are known, with host and end.
-- const recorded_ranks
SELECT s.rank, n.name, r.end_ps FROM (SELECT DISTINCT job, rank FROM job_spans WHERE job = ?) s
LEFT JOIN job_ranks r ON r.job = s.job AND r.rank = s.rank LEFT JOIN nodes n ON n.id = r.host
ORDER BY s.rank

-- The first begin and the last end of a job's spans, and the length of the shortest one.
-- const job_bounds
SELECT min(begin_ps), max(end_ps), min(end_ps - begin_ps) FROM job_spans WHERE job = ?

-- const spans_of_rank
SELECT begin_ps, end_ps, calculates_ps, sends_ps, receives_ps, waits_ps
FROM job_spans WHERE job = ? AND rank = ? ORDER BY begin_ps

-- const repetitions_of_job
SELECT begin_ps, end_ps, last_rank FROM job_repetitions WHERE job = ? ORDER BY repetition

-- const phases_of_job
SELECT name, avg(end_ps - begin_ps), min(end_ps - begin_ps), max(end_ps - begin_ps)
FROM job_phases WHERE job = ? GROUP BY phase ORDER BY phase LIMIT 64
