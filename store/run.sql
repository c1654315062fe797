-- SPDX-License-Identifier: Apache-2.0
-- The tables of one run's file. Times are picoseconds, sizes bytes, rates bits per second; "never"
-- is NULL. Only metrics have other units, which metric_names gives. Ports are named "host3" or
-- "tor0:host3" in all tables.

-- const run_schema

-- Version, seed, scenario and its text, trace hash, …
CREATE TABLE info (
    key TEXT PRIMARY KEY, value TEXT NOT NULL
) WITHOUT ROWID;

-- All parameters with the values in effect. given: 1 if the scenario or the command line sets the
-- parameter, 0 if the value is its default.
CREATE TABLE parameters (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, unit TEXT NOT NULL, given INTEGER NOT NULL
) WITHOUT ROWID;

-- The overrides of the command line, in order, as --set takes them; that of --compare is the last.
CREATE TABLE overrides (
    position INTEGER PRIMARY KEY, assignment TEXT NOT NULL
);

-- The files that the scenario names: the parameter, the file's whole path, and the FNV-1a digest of
-- its content.
CREATE TABLE files (
    key TEXT PRIMARY KEY, path TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID;

-- The run's results as named numbers (sums, percentiles, shares), as in a sweep's file. unit: s,
-- bps, bytes, count or ratio. help: the line that `oche sweep --metrics` prints for the metric.
CREATE TABLE metric_names (
    name TEXT PRIMARY KEY, unit TEXT NOT NULL, help TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE metrics (
    name TEXT PRIMARY KEY REFERENCES metric_names, value REAL NOT NULL
) WITHOUT ROWID;

-- measured: 0 if the flow started during warm-up, else 1. held_ps: time held by PAUSEs, at the port
-- of the flow's path that was held longest. lost_ps: time that the flow lost to PAUSEs that began
-- at ports that are not on its path. root: the port where most of lost_ps began. victim: 1 if
-- lost_ps is a large part of the flow's duration, else 0. verb: write or send, posted by src, or
-- read, posted by dst; the data goes from src to dst.
CREATE TABLE flows (
    id INTEGER PRIMARY KEY, workload INTEGER NOT NULL, src INTEGER NOT NULL,
    dst INTEGER NOT NULL, bytes INTEGER NOT NULL, start_ps INTEGER, delivered_ps INTEGER,
    completed_ps INTEGER, ideal_ps INTEGER, slowdown REAL, retransmitted INTEGER NOT NULL,
    timeouts INTEGER NOT NULL, status TEXT NOT NULL, measured INTEGER NOT NULL,
    held_ps INTEGER NOT NULL, lost_ps INTEGER NOT NULL, root TEXT, victim INTEGER NOT NULL,
    verb TEXT NOT NULL
);

-- Jobs: workloads whose ranks are programs on hosts. title: "all_reduce (ring)", or "schedule".
-- bytes: of one operation; NULL for a schedule. end_ps: of the last rank; NULL: not all have ended.
-- last_rank: the rank that ended last; late_ps: how much later than the median rank.
CREATE TABLE jobs (
    job INTEGER PRIMARY KEY, title TEXT NOT NULL, ranks INTEGER NOT NULL, bytes INTEGER,
    start_ps INTEGER NOT NULL, end_ps INTEGER, last_rank INTEGER, late_ps INTEGER
);
-- busy_ps: time in which at least one of the rank's cpus was busy.
CREATE TABLE job_ranks (
    job INTEGER NOT NULL REFERENCES jobs, rank INTEGER NOT NULL,
    host INTEGER NOT NULL REFERENCES nodes, end_ps INTEGER, busy_ps INTEGER NOT NULL,
    PRIMARY KEY (job, rank)
) WITHOUT ROWID;
-- The repetitions of a collective operation that all ranks have ended, and their phases. A
-- repetition's begin_ps: when the first rank began it, after what it calculates. A phase's: when
-- the first message was posted. end_ps: when the last rank had it. Phases may overlap.
CREATE TABLE job_repetitions (
    job INTEGER NOT NULL REFERENCES jobs, repetition INTEGER NOT NULL, begin_ps INTEGER NOT NULL,
    end_ps INTEGER NOT NULL, last_rank INTEGER NOT NULL, PRIMARY KEY (job, repetition)
) WITHOUT ROWID;
CREATE TABLE job_phases (
    job INTEGER NOT NULL REFERENCES jobs, repetition INTEGER NOT NULL, phase INTEGER NOT NULL,
    name TEXT NOT NULL, begin_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL,
    last_rank INTEGER NOT NULL, PRIMARY KEY (job, repetition, phase)
) WITHOUT ROWID;
-- What ranks did, in spans: of up to 513 ranks, with equal distances, and the one that ended last.
-- A rank calculates (also: takes the overhead of messages), else sends (a message of it is posted
-- and not acknowledged), else receives (the time that its messages take at the line rate), else
-- waits.
CREATE TABLE job_spans (
    job INTEGER NOT NULL REFERENCES jobs, rank INTEGER NOT NULL, begin_ps INTEGER NOT NULL,
    end_ps INTEGER NOT NULL, calculates_ps INTEGER NOT NULL, sends_ps INTEGER NOT NULL,
    receives_ps INTEGER NOT NULL, waits_ps INTEGER NOT NULL, PRIMARY KEY (job, rank, begin_ps)
) WITHOUT ROWID;

CREATE TABLE series_names (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, entity TEXT NOT NULL, unit TEXT NOT NULL
);
CREATE TABLE series (
    series INTEGER NOT NULL REFERENCES series_names, time_ps INTEGER NOT NULL,
    value REAL NOT NULL, PRIMARY KEY (series, time_ps)
) WITHOUT ROWID;

-- Counters of a host or of a switch's port.
CREATE TABLE entity_counters (
    entity TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (entity, name)
) WITHOUT ROWID;

CREATE TABLE histogram_names (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, entity TEXT NOT NULL, unit TEXT NOT NULL,
    weight TEXT NOT NULL
);
CREATE TABLE histograms (
    histogram INTEGER NOT NULL REFERENCES histogram_names, low INTEGER NOT NULL, high INTEGER,
    weight INTEGER NOT NULL, PRIMARY KEY (histogram, low)
) WITHOUT ROWID;

-- kind: host, tor, aggregation or core.
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, pod INTEGER
);
-- port_a: the port at node a's end of the link; port_b: the port at node b's end.
CREATE TABLE links (
    id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES nodes,
    b INTEGER NOT NULL REFERENCES nodes, port_a TEXT NOT NULL, port_b TEXT NOT NULL,
    rate_bps INTEGER NOT NULL, delay_ps INTEGER NOT NULL
);

-- The ports where PAUSEs began (depth 0) and, as their branches, the ports that were held because
-- of them. A parent comes before its branches. ports: for depth 0, the number of branches at any
-- depth. senders: for depth 0, the number of hosts that sent through the port meanwhile. returns: 1
-- if the port waits for itself, in a cycle.
CREATE TABLE pause_tree (
    id INTEGER PRIMARY KEY, parent INTEGER REFERENCES pause_tree, port TEXT,
    class INTEGER NOT NULL, depth INTEGER NOT NULL, pauses INTEGER NOT NULL,
    held_ps INTEGER NOT NULL, first_ps INTEGER, last_ps INTEGER, ports INTEGER NOT NULL,
    senders INTEGER NOT NULL, returns INTEGER NOT NULL
);
-- Ports that wait for each other for ever: each waits for the port at the next position, the last
-- for the first.
CREATE TABLE deadlock (
    position INTEGER PRIMARY KEY, port TEXT NOT NULL, class INTEGER NOT NULL
);

-- Congestion by kind of link (sim/measure/congestion.h). queueing_ps: waiting time, summed over all
-- packets that left. worst_ps: the largest mean waiting time per packet of one port, which is
-- worst_port. queue_max: bytes in the longest queue of one port; NULL for host_nic.
CREATE TABLE congestion (
    place TEXT PRIMARY KEY, ports INTEGER NOT NULL, packets INTEGER NOT NULL,
    marks INTEGER NOT NULL, queueing_ps INTEGER NOT NULL, worst_ps REAL, worst_port TEXT,
    queue_max INTEGER, paused_ps INTEGER NOT NULL
) WITHOUT ROWID;

-- If switches deflect: the links that a flow's packets crossed. links: number of links, summed over
-- packets. shortest: the same number if all packets had taken shortest paths. deflections: the most
-- deflections that one packet had.
CREATE TABLE ways (
    flow INTEGER PRIMARY KEY REFERENCES flows, packets INTEGER NOT NULL, links INTEGER NOT NULL,
    shortest INTEGER NOT NULL, deflections INTEGER NOT NULL
);
-- The paths of deflected flows, one row for each port that sent the packet, in order. way:
-- "ordinary" for the path given by the routes, "taken" for the path that the packet took. lane,
-- tokens: the packet's lane and tokens when it left the port. time_ps: when it was deflected here;
-- NULL if it was not.
CREATE TABLE paths (
    flow INTEGER NOT NULL REFERENCES flows, way TEXT NOT NULL, hop INTEGER NOT NULL,
    node INTEGER NOT NULL REFERENCES nodes, port TEXT NOT NULL, deflected INTEGER NOT NULL,
    lane INTEGER, tokens INTEGER, time_ps INTEGER, PRIMARY KEY (flow, way, hop)
) WITHOUT ROWID;
-- One row for each message that a switch deflected: it came in by in_port and left by `port`.
CREATE TABLE deflections (
    id INTEGER PRIMARY KEY, time_ps INTEGER NOT NULL, flow INTEGER REFERENCES flows,
    node INTEGER NOT NULL REFERENCES nodes, in_port TEXT NOT NULL, port TEXT NOT NULL,
    lane INTEGER NOT NULL, tokens INTEGER NOT NULL
);
