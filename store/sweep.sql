-- SPDX-License-Identifier: Apache-2.0
-- The tables of a sweep's file, and the additional tables of a reproduced figure's file. Units are
-- s, bps, bytes, count and ratio.

-- const sweep_schema

-- Keys: program, command, kind ("sweep" or "figure"), scenario, scenario_text, seed, repeats, grid
-- (as text; a sweep continues only a file with the same grid), files (those that the scenario
-- names, with digests), began, ended, cores (of the computer). Additional keys of a figure: paper,
-- figure, title, place, mode (quick, full), tolerances_commit (a commit or "not committed").
CREATE TABLE info (
    key TEXT PRIMARY KEY, value TEXT NOT NULL
) WITHOUT ROWID;

-- All parameters of the first point, with the values in effect.
CREATE TABLE parameters (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, unit TEXT NOT NULL, given INTEGER NOT NULL
) WITHOUT ROWID;

-- Axes in the order in which the command names them.
CREATE TABLE axes (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL
);
-- value: as the user typed it.
CREATE TABLE axis_values (
    axis INTEGER NOT NULL REFERENCES axes, number INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (axis, number)
) WITHOUT ROWID;

-- status: done, failed or crashed. seed: an unsigned 64-bit number, stored as text if it is too big
-- for SQLite's integers; so the column has no type.
CREATE TABLE points (
    id INTEGER PRIMARY KEY, repeat INTEGER NOT NULL, seed NOT NULL, status TEXT NOT NULL,
    error TEXT, wall_s REAL, trace_hash TEXT
);
-- number: the number of the point's value in axis_values.
CREATE TABLE point_values (
    point INTEGER NOT NULL REFERENCES points, axis INTEGER NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (point, axis)
) WITHOUT ROWID;

CREATE TABLE metric_names (
    name TEXT PRIMARY KEY, unit TEXT NOT NULL, help TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE metrics (
    point INTEGER NOT NULL REFERENCES points, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (point, name)
) WITHOUT ROWID;
-- Distributions as exact percentiles. thousandth: which percentile, from 0 to 1000.
CREATE TABLE distributions (
    point INTEGER NOT NULL REFERENCES points, name TEXT NOT NULL, unit TEXT NOT NULL,
    samples INTEGER NOT NULL, thousandth INTEGER NOT NULL, value REAL,
    PRIMARY KEY (point, name, thousandth)
) WITHOUT ROWID;

-- const figure_schema

-- verdict: reproduced, in shape, not reproduced, no data or not judged. low, high: the 95 %
-- interval of `measured`. interval: how the interval was found: "t" (Student's), "bootstrap", or ""
-- if there is no interval. unsure: 1 if the interval reaches into the range of another verdict,
-- else 0.
CREATE TABLE claims (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, quantity TEXT NOT NULL,
    condition TEXT NOT NULL, published REAL, published_text TEXT NOT NULL, unit TEXT NOT NULL,
    place TEXT NOT NULL, tolerance TEXT NOT NULL, confidence TEXT NOT NULL, measured REAL,
    low REAL, high REAL, spread REAL, verdict TEXT NOT NULL, explanation TEXT NOT NULL,
    interval TEXT NOT NULL, unsure INTEGER NOT NULL, source TEXT NOT NULL
);
-- Verdicts on the claims under other readings of the paper.
CREATE TABLE readings (
    claim INTEGER NOT NULL REFERENCES claims, label TEXT NOT NULL, measured REAL, low REAL,
    high REAL, verdict TEXT NOT NULL
);

-- kind: measured or published.
CREATE TABLE curves (
    id INTEGER PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL, x_name TEXT NOT NULL,
    y_name TEXT NOT NULL, x_unit TEXT NOT NULL, y_unit TEXT NOT NULL,
    plot INTEGER NOT NULL REFERENCES plots
);
CREATE TABLE curve_points (
    curve INTEGER NOT NULL REFERENCES curves, x REAL, y REAL, low REAL, high REAL
);

-- How the figure's set-up differs from the paper's.
CREATE TABLE differences (
    id INTEGER PRIMARY KEY, text TEXT NOT NULL
);

-- The plots of a figure, in order; files of schema 1 do not have this table. title: "" means the
-- figure's title. x_scale, y_scale: linear or log.
-- const plots_schema
CREATE TABLE plots (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, x_name TEXT NOT NULL, x_scale TEXT NOT NULL,
    y_name TEXT NOT NULL, y_scale TEXT NOT NULL
);

-- Turns a file of schema 1, whose only plot is described in info, into one with the table plots.
-- const move_plot
INSERT INTO plots SELECT
    1, '',
    coalesce((SELECT value FROM info WHERE key = 'x_name'), ''),
    coalesce((SELECT value FROM info WHERE key = 'x_scale'), 'linear'),
    coalesce((SELECT value FROM info WHERE key = 'y_name'), ''),
    coalesce((SELECT value FROM info WHERE key = 'y_scale'), 'linear')
    WHERE EXISTS (SELECT 1 FROM curves);
DELETE FROM info WHERE key IN ('x_name', 'x_scale', 'y_name', 'y_scale');

-- Removes a figure's findings, before they are written again.
-- const forget_findings
DELETE FROM claims;
DELETE FROM readings;
DELETE FROM plots;
DELETE FROM curves;
DELETE FROM curve_points;
DELETE FROM differences;
