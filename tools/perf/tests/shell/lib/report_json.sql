-- Metrics of each function in all reports of the table "reports", of which the column
-- "data" has the output of perf report --windows --json: of events that are sampled too.
-- What is computed is that of window_stats__estimate() in perf.
WITH event AS (
	SELECT e.value -> 'entries' AS entries, e.value -> 'windows' AS w,
		(SELECT min(n.key) FROM json_each(e.value -> 'windows' -> 'group') AS n
		 WHERE '/' || (e.value -> 'windows' -> 'group' ->> n.key) || '/' LIKE '%/cpu-cycles%'
		 OR '/' || (e.value -> 'windows' -> 'group' ->> n.key) || '/' LIKE '%/cycles_%'
		 AND e.value -> 'windows' -> 'group' ->> n.key NOT LIKE '%cycles-%') AS c,
		(SELECT min(n.key) FROM json_each(e.value -> 'windows' -> 'group') AS n
		 WHERE '/' || (e.value -> 'windows' -> 'group' ->> n.key) LIKE '%/instructions%'
		) AS i
	FROM reports, json_each(data -> 'events') AS e
	WHERE e.value -> 'windows' IS NOT NULL
), total AS (
	-- What all entries have in common. Kish's number of samples adds up, as their weights.
	SELECT sum(CAST(w -> 'all' ->> 'weight' AS float)) AS weight,
		sum(CAST(w -> 'all' ->> 'weight2' AS float)) AS weight2,
		sum(CAST(w -> 'totals' ->> c AS float)) AS cycles,
		sum(CAST(w -> 'totals' ->> i AS float)) AS insns,
		sum(CAST(w -> 'samples' -> i ->> 'weight' AS float)) AS sampled,
		sum(CAST(w -> 'samples' -> i ->> 'effective' AS float)) AS nr_sampled,
		sum(CAST(w -> 'noise' ->> i AS float) * CAST(w -> 'all' -> 'sums' ->> 0 AS float)) /
			nullif(sum(CAST(w -> 'all' -> 'sums' ->> 0 AS float)), 0) AS noise,
		sum(CAST(w ->> 'bias' AS float) * CAST(w -> 'all' -> 'sums' ->> 0 AS float)) /
			nullif(sum(CAST(w -> 'all' -> 'sums' ->> 0 AS float)), 0) AS bias,
		max(CASE WHEN CAST(w ->> 'contradicted' AS text) IN ('1', 'true') THEN 1 ELSE 0 END)
			AS contradicted
	FROM event WHERE c IS NOT NULL AND i IS NOT NULL
), entry AS (
	SELECT e.value ->> 'symbol' AS symbol, e.value -> 'windows' AS w, c, i,
		CAST(event.w -> 'costs' ->> c AS float) AS cost,
		CASE WHEN CAST(event.w ->> 'branches' AS text) IN ('1', 'true') THEN 1.0 ELSE 0.0 END AS branches,
		-- Products of two values are behind the sums, in a triangle.
		(i + 1) * (i + 2) / 2 + i + 1 AS ii, (c + 1) * (c + 2) / 2 + c + 1 AS cc,
		CASE WHEN c > i THEN (c + 1) * (c + 2) / 2 + i + 1
			ELSE (i + 1) * (i + 2) / 2 + c + 1 END AS ci
	FROM event, json_each(entries) AS e
	WHERE c IS NOT NULL AND i IS NOT NULL AND e.value -> 'windows' IS NOT NULL
), sums AS (
	SELECT symbol, sum(CAST(w ->> 'weight' AS float)) AS weight,
		sum(CAST(w ->> 'weight2' AS float)) AS weight2,
		sum(CAST(w ->> 'used' AS float)) AS used,
		sum(CAST(w ->> 'windows' AS float)) AS windows,
		sum(CAST(w -> 'problems' ->> 'left' AS float)) AS ended,
		sum(CAST(w ->> 'elsewhere' AS float)) AS elsewhere,
		sum(CAST(w -> 'sums' ->> 0 AS float)) AS nr,
		sum(CAST(w -> 'sums' ->> (c + 1) AS float)) AS cycles,
		sum(CAST(w -> 'sums' ->> (i + 1) AS float)) AS insns,
		sum(CAST(w -> 'sums' ->> 0 AS float) * cost) AS cost,
		sum(CAST(w -> 'products' ->> 0 AS float)) AS nr2,
		sum(CAST(w -> 'products' ->> ii AS float)) AS ii,
		sum(CAST(w -> 'products' ->> ci AS float)) AS ci,
		sum(CAST(w -> 'products' ->> cc AS float)) AS cc,
		sum(CAST(w -> 'samples' ->> i AS float)) AS sampled,
		avg(branches) AS branches
	FROM entry GROUP BY symbol
), share AS (
	-- Shares of the time and of the samples, the rate of windows, and how many they are.
	SELECT s.*, noise, bias, contradicted, s.weight / t.weight AS time,
		s.weight2 / (s.weight * s.weight) - t.weight2 / (t.weight * t.weight) AS var_time,
		s.sampled / nullif(t.sampled, 0) AS share, nr_sampled,
		t.insns / nullif(t.cycles, 0) AS ipc, s.nr * s.nr / nullif(nr2, 0) AS n,
		CASE WHEN s.cycles > 0 AND s.insns > 0 THEN s.insns / s.cycles END AS by_windows
	FROM sums AS s, total AS t WHERE s.weight > 0
), rate AS (
	-- Instructions for each cycle from windows, from samples, and their variances.
	SELECT *, CASE WHEN share * nr_sampled >= 3 AND NOT (contradicted = 1 AND by_windows > 0)
			THEN nullif(share * ipc, 0) / time END AS by_samples,
		(1 - share) / nullif(share * nr_sampled, 0) +
			CASE WHEN var_time > 0 THEN var_time ELSE 0 END AS var_samples,
		ii - 2 * by_windows * ci + by_windows * by_windows * cc AS squares,
		noise * nr2 / nr * nr2 / nr AS prior,
		(elsewhere / nr * n + 1) / (n + 2) AS gone,
		0.05 * cost / nullif(cycles, 0) AS off
	FROM share
), variance AS (
	SELECT *, (prior + CASE WHEN squares > 0 THEN squares ELSE 0 END) /
			nullif(insns * insns, 0) + off * off + bias *
		(branches * 0.0049 + (1 - branches) * (gone * gone + 0.09)) AS var_windows
	FROM rate
), pooled AS (
	SELECT *, CASE
		WHEN by_windows IS NULL THEN nullif(share, 0) * ipc / time
		WHEN by_samples IS NULL THEN by_windows
		ELSE exp((ln(by_windows) * var_samples + ln(by_samples) * var_windows) /
			 (var_samples + var_windows)) END AS ipc_pooled
	FROM variance
)
SELECT round(CAST(100 * time AS numeric), 2) AS "%CY",
	round(CAST(1 / ipc_pooled AS numeric), 2) AS "CPI", CAST(used AS bigint) AS "Windows",
	CAST(round(100 * ended / nullif(windows, 0)) AS bigint) AS "%DIS", symbol AS "Symbol"
FROM pooled
ORDER BY time DESC;
