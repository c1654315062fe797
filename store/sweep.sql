-- SPDX-License-Identifier: Apache-2.0
-- The tables of a sweep's file, and those that a reproduced figure has besides. Units are s, bps,
-- bytes, count, ratio.

-- const sweep_schema

-- program, command, kind ("sweep" or "figure"), scenario, scenario_text, seed, repeats, grid (its
-- text; a sweep resumes only the same grid), files (that the scenario names, with digests), began,
-- ended, cores (of the host). Of a figure also: paper, figure, title, place, mode (quick, full),
-- tolerances_commit (or "not committed").
CREATE TABLE info (
    key TEXT PRIMARY KEY, value TEXT NOT NULL
) WITHOUT ROWID;

-- Effective, of the first point.
CREATE TABLE parameters (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, unit TEXT NOT NULL, given INTEGER NOT NULL
) WITHOUT ROWID;

-- In the order of the command.
CREATE TABLE axes (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL
);
-- value: as typed.
CREATE TABLE axis_values (
    axis INTEGER NOT NULL REFERENCES axes, number INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (axis, number)
) WITHOUT ROWID;

-- status: done, failed or crashed. seed has 64 bits without a sign, and so no type.
CREATE TABLE points (
    id INTEGER PRIMARY KEY, repeat INTEGER NOT NULL, seed NOT NULL, status TEXT NOT NULL,
    error TEXT, wall_s REAL, trace_hash TEXT
);
-- number: of axis_values.
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
-- Exact percentiles.
CREATE TABLE distributions (
    point INTEGER NOT NULL REFERENCES points, name TEXT NOT NULL, unit TEXT NOT NULL,
    samples INTEGER NOT NULL, thousandth INTEGER NOT NULL, value REAL,
    PRIMARY KEY (point, name, thousandth)
) WITHOUT ROWID;

-- const figure_schema

-- verdict: reproduced, in shape, not reproduced, no data, not judged. low … high: the 95 % interval
-- of the mean over repeats, by interval: t (Student's), bootstrap, or "" if there is none; unsure:
-- it reaches into another verdict.
CREATE TABLE claims (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, quantity TEXT NOT NULL,
    condition TEXT NOT NULL, published REAL, published_text TEXT NOT NULL, unit TEXT NOT NULL,
    place TEXT NOT NULL, tolerance TEXT NOT NULL, confidence TEXT NOT NULL, measured REAL,
    low REAL, high REAL, spread REAL, verdict TEXT NOT NULL, explanation TEXT NOT NULL,
    interval TEXT NOT NULL, unsure INTEGER NOT NULL
);
-- The claims under another reading of the paper.
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

-- From the paper's set-up.
CREATE TABLE differences (
    id INTEGER PRIMARY KEY, text TEXT NOT NULL
);

-- Of a figure too, and not in files of schema 1: from the first to the last. title: "" if it is the
-- figure's; scales: linear, log.
-- const plots_schema
CREATE TABLE plots (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, x_name TEXT NOT NULL, x_scale TEXT NOT NULL,
    y_name TEXT NOT NULL, y_scale TEXT NOT NULL
);

-- The only plot of a file of schema 1, which info had.
-- const move_plot
INSERT INTO plots SELECT
    1, '',
    coalesce((SELECT value FROM info WHERE key = 'x_name'), ''),
    coalesce((SELECT value FROM info WHERE key = 'x_scale'), 'linear'),
    coalesce((SELECT value FROM info WHERE key = 'y_name'), ''),
    coalesce((SELECT value FROM info WHERE key = 'y_scale'), 'linear')
    WHERE EXISTS (SELECT 1 FROM curves);
DELETE FROM info WHERE key IN ('x_name', 'x_scale', 'y_name', 'y_scale');

-- What a figure found, before it is written anew.
-- const forget_findings
DELETE FROM claims;
DELETE FROM readings;
DELETE FROM plots;
DELETE FROM curves;
DELETE FROM curve_points;
DELETE FROM differences;
