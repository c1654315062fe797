-- SPDX-License-Identifier: Apache-2.0
-- The tables of one run's file. Times are picoseconds, sizes bytes, rates bits per second; "never"
-- is NULL. Metrics alone are in the unit that metric_names gives. A port is named as an entity of
-- `entity_counters` is.

-- const run_schema

-- Version, seed, scenario and its text, trace hash, …
CREATE TABLE info (
    key TEXT PRIMARY KEY, value TEXT NOT NULL
) WITHOUT ROWID;

-- The effective list; given: the scenario or the command line has it.
CREATE TABLE parameters (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, unit TEXT NOT NULL, given INTEGER NOT NULL
) WITHOUT ROWID;

-- What the run came to, as in a sweep's file: sums, percentiles, shares. unit: s, bps, bytes, count
-- or ratio; help: as `oche sweep --metrics` prints it.
CREATE TABLE metric_names (
    name TEXT PRIMARY KEY, unit TEXT NOT NULL, help TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE metrics (
    name TEXT PRIMARY KEY REFERENCES metric_names, value REAL NOT NULL
) WITHOUT ROWID;

-- measured: it did not start during warm-up. held_ps: by PAUSEs, at the port of its way that was
-- held longest. lost_ps: to PAUSEs that began elsewhere, mostly at `root`, a port that is not on
-- its way. victim: 1 if it is one.
CREATE TABLE flows (
    id INTEGER PRIMARY KEY, workload INTEGER NOT NULL, src INTEGER NOT NULL,
    dst INTEGER NOT NULL, bytes INTEGER NOT NULL, start_ps INTEGER, delivered_ps INTEGER,
    completed_ps INTEGER, ideal_ps INTEGER, slowdown REAL, retransmitted INTEGER NOT NULL,
    timeouts INTEGER NOT NULL, status TEXT NOT NULL, measured INTEGER NOT NULL,
    held_ps INTEGER NOT NULL, lost_ps INTEGER NOT NULL, root TEXT, victim INTEGER NOT NULL
);

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
-- port_a: the port of node a, port_b: that of node b.
CREATE TABLE links (
    id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES nodes,
    b INTEGER NOT NULL REFERENCES nodes, port_a TEXT NOT NULL, port_b TEXT NOT NULL,
    rate_bps INTEGER NOT NULL, delay_ps INTEGER NOT NULL
);

-- Where PAUSEs began (depth 0) and, below each, the ports that were held because of it. A branch
-- comes after what it is a branch of.
CREATE TABLE pause_tree (
    id INTEGER PRIMARY KEY, parent INTEGER REFERENCES pause_tree, port TEXT,
    class INTEGER NOT NULL, depth INTEGER NOT NULL, pauses INTEGER NOT NULL,
    held_ps INTEGER NOT NULL, first_ps INTEGER, last_ps INTEGER, ports INTEGER NOT NULL,
    senders INTEGER NOT NULL, returns INTEGER NOT NULL
);
-- Ports that wait for each other for ever, in turn.
CREATE TABLE deadlock (
    position INTEGER PRIMARY KEY, port TEXT NOT NULL, class INTEGER NOT NULL
);

-- Where congestion was: a row for each kind of link (sim/measure/congestion.h). queueing_ps: of all
-- packets that left; worst_ps: of one packet, at worst_port; queue_max: NULL for host_nic.
CREATE TABLE congestion (
    place TEXT PRIMARY KEY, ports INTEGER NOT NULL, packets INTEGER NOT NULL,
    marks INTEGER NOT NULL, queueing_ps INTEGER NOT NULL, worst_ps REAL, worst_port TEXT,
    queue_max INTEGER, paused_ps INTEGER NOT NULL
) WITHOUT ROWID;

-- Where switches deflect. links: that the flow's packets crossed; shortest: that they would have
-- crossed on shortest ways; deflections: the most of one packet.
CREATE TABLE ways (
    flow INTEGER PRIMARY KEY REFERENCES flows, packets INTEGER NOT NULL, links INTEGER NOT NULL,
    shortest INTEGER NOT NULL, deflections INTEGER NOT NULL
);
-- Of deflected flows. way: ordinary (as the routes say) or taken; the ports that sent the packet,
-- in turn, its lane and its tokens as it left, and the time where it was deflected.
CREATE TABLE paths (
    flow INTEGER NOT NULL REFERENCES flows, way TEXT NOT NULL, hop INTEGER NOT NULL,
    node INTEGER NOT NULL REFERENCES nodes, port TEXT NOT NULL, deflected INTEGER NOT NULL,
    lane INTEGER, tokens INTEGER, time_ps INTEGER, PRIMARY KEY (flow, way, hop)
) WITHOUT ROWID;
-- A message went another way at a switch.
CREATE TABLE deflections (
    id INTEGER PRIMARY KEY, time_ps INTEGER NOT NULL, flow INTEGER REFERENCES flows,
    node INTEGER NOT NULL REFERENCES nodes, in_port TEXT NOT NULL, port TEXT NOT NULL,
    lane INTEGER NOT NULL, tokens INTEGER NOT NULL
);
