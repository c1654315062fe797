-- SPDX-License-Identifier: Apache-2.0
-- A results file as one JSON object. Metrics are in the units that `units` gives: s, bps, bytes,
-- count or ratio; a metric that has no value is null.

-- const run_json
SELECT json_object(
    'kind', 'run',
    'info', (SELECT json_group_object(key, value) FROM info),
    'parameters', (SELECT json_group_object(key, json_object(
        'value', value, 'unit', unit, 'given', json(iif(given, 'true', 'false'))))
        FROM parameters),
    'overrides', (SELECT json_group_array(assignment)
        FROM (SELECT assignment FROM overrides ORDER BY position)),
    'units', (SELECT json_group_object(name, unit) FROM metric_names),
    'metrics', (SELECT json_group_object(name, exact(value)) FROM metrics));

-- The jobs of a run, in seconds, with at most 10,000 repetitions of each. A file of an earlier
-- version has no such tables.
-- const jobs_json
SELECT json_group_array(json_object(
    'job', job, 'title', title, 'ranks', ranks, 'bytes', bytes, 'start', exact(start_ps / 1e12),
    'end', exact(end_ps / 1e12), 'last_rank', last_rank, 'late', exact(late_ps / 1e12),
    'repetitions', (SELECT json_group_array(json_object(
        'begin', exact(begin_ps / 1e12), 'end', exact(end_ps / 1e12), 'last_rank', last_rank,
        'phases', (SELECT json_group_array(json_object(
            'name', name, 'begin', exact(begin_ps / 1e12), 'end', exact(end_ps / 1e12),
            'last_rank', last_rank))
            FROM (SELECT * FROM job_phases p
                WHERE p.job = r.job AND p.repetition = r.repetition ORDER BY phase))))
        FROM (SELECT * FROM job_repetitions WHERE job_repetitions.job = jobs.job
            ORDER BY repetition LIMIT 10000) r)))
    FROM (SELECT * FROM jobs ORDER BY job) jobs;

-- Values of axes are there as they were typed, and as numbers, in seconds, bit/s or bytes; null: it
-- is none.
-- const sweep_json
SELECT json_object(
    'kind', (SELECT value FROM info WHERE key = 'kind'),
    'info', (SELECT json_group_object(key, value) FROM info),
    'parameters', (SELECT json_group_object(key, json_object(
        'value', value, 'unit', unit, 'given', json(iif(given, 'true', 'false'))))
        FROM parameters),
    'units', (SELECT json_group_object(name, unit) FROM metric_names),
    'points', (SELECT json_group_array(json_object(
        'point', p.id, 'repeat', p.repeat, 'seed', p.seed, 'status', p.status, 'error', p.error,
        'wall_s', exact(p.wall_s), 'trace_hash', p.trace_hash,
        'axes', (SELECT json_group_object(a.key, v.value) FROM point_values w
            JOIN axes a ON a.id = w.axis
            JOIN axis_values v ON v.axis = w.axis AND v.number = w.number WHERE w.point = p.id),
        'numbers', (SELECT json_group_object(a.key, exact(number_of(v.value))) FROM point_values w
            JOIN axes a ON a.id = w.axis
            JOIN axis_values v ON v.axis = w.axis AND v.number = w.number WHERE w.point = p.id),
        'metrics', (SELECT json_group_object(m.name, exact(m.value)) FROM metrics m
            WHERE m.point = p.id)))
        FROM (SELECT * FROM points ORDER BY id) p));

-- Without the points, which are thousands: the claims and their verdicts.
-- const figure_json
SELECT json_object(
    'kind', 'figure',
    'info', (SELECT json_group_object(key, value) FROM info),
    'claims', (SELECT json_group_array(json_object(
        'name', name, 'text', text, 'quantity', quantity, 'condition', condition,
        'published', exact(published), 'published_text', published_text, 'unit', unit,
        'place', place, 'tolerance', tolerance, 'confidence', confidence,
        'measured', exact(measured), 'low', exact(low),
        'high', exact(high), 'verdict', verdict, 'unsure', json(iif(unsure, 'true', 'false')),
        'explanation', explanation))
        FROM (SELECT * FROM claims ORDER BY id)),
    'readings', (SELECT json_group_array(json_object(
        'claim', c.name, 'label', r.label, 'measured', exact(r.measured), 'low', exact(r.low),
        'high', exact(r.high),
        'verdict', r.verdict)) FROM readings r JOIN claims c ON c.id = r.claim),
    'differences', (SELECT json_group_array(text) FROM (SELECT * FROM differences ORDER BY id)));
