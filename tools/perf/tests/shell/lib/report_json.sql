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
		-- Enough instructions in each window.
		sum(CAST(w -> 'all' -> 'sums' ->> (i + 2) AS float)) /
			nullif(sum(CAST(w -> 'all' -> 'sums' ->> 0 AS float)), 0) >= 3 AS frequent,
		sum(CAST(w -> 'noise' ->> i AS float) * CAST(w -> 'all' -> 'sums' ->> 0 AS float)) /
			nullif(sum(CAST(w -> 'all' -> 'sums' ->> 0 AS float)), 0) AS noise,
		sum(CAST(w -> 'bias' ->> i AS float) * CAST(w -> 'all' -> 'sums' ->> 0 AS float)) /
			nullif(sum(CAST(w -> 'all' -> 'sums' ->> 0 AS float)), 0) AS bias
	FROM event WHERE c IS NOT NULL AND i IS NOT NULL
), entry AS (
	SELECT e.value ->> 'symbol' AS symbol, e.value -> 'windows' AS w, c, i,
		CASE WHEN CAST(event.w ->> 'branches' AS text) IN ('1', 'true') THEN 1.0 ELSE 0.0 END AS branches,
		-- Products of two values are behind the sums, in a triangle.
		(i + 2) * (i + 3) / 2 + i + 2 AS ii, (c + 2) * (c + 3) / 2 + c + 2 AS cc,
		CASE WHEN c > i THEN (c + 2) * (c + 3) / 2 + i + 2
			ELSE (i + 2) * (i + 3) / 2 + c + 2 END AS ci
	FROM event, json_each(entries) AS e
	WHERE c IS NOT NULL AND i IS NOT NULL AND e.value -> 'windows' IS NOT NULL
), sums AS (
	SELECT symbol, sum(CAST(w ->> 'weight' AS float)) AS weight,
		sum(CAST(w ->> 'used' AS float)) AS used,
		sum(CAST(w ->> 'windows' AS float)) AS windows,
		sum(CAST(w -> 'problems' ->> 'left' AS float)) AS elsewhere,
		sum(CAST(w -> 'sums' ->> 0 AS float)) AS nr,
		sum(CAST(w -> 'sums' ->> (c + 2) AS float)) AS cycles,
		sum(CAST(w -> 'sums' ->> (i + 2) AS float)) AS insns,
		sum(CAST(w -> 'begun' ->> 0 AS float)) AS told,
		sum(CAST(w -> 'begun' ->> 1 AS float)) AS begun,
		sum(CAST(w -> 'products' ->> 0 AS float)) AS nr2,
		sum(CAST(w -> 'products' ->> ii AS float)) AS ii,
		sum(CAST(w -> 'products' ->> ci AS float)) AS ci,
		sum(CAST(w -> 'products' ->> cc AS float)) AS cc,
		sum(CAST(w -> 'samples' ->> i AS float)) AS sampled,
		avg(branches) AS branches
	FROM entry GROUP BY symbol
), share AS (
	-- Shares of the time and of the samples, the rate of windows, and how many they are.
	SELECT s.*, noise, bias, s.weight / t.weight AS time, t.weight * t.weight / nullif(weight2, 0) AS nr_time,
		s.sampled / nullif(t.sampled, 0) AS share, nr_sampled,
		t.insns / nullif(t.cycles, 0) AS ipc, s.nr * s.nr / nullif(nr2, 0) AS n,
		CASE WHEN (frequent OR t.sampled IS NULL) AND s.cycles > 0 AND
			s.insns >= 1e-9 * s.cycles THEN s.insns / s.cycles END AS by_windows,
		CASE WHEN told < begun THEN 1 - told / begun ELSE 0 END AS overlong
	FROM sums AS s, total AS t WHERE s.weight > 0
), rate AS (
	-- Instructions for each cycle from windows, from samples, and their variances.
	SELECT *, CASE WHEN share * nr_sampled >= 3 THEN nullif(share * ipc, 0) / time END AS by_samples,
		(1 - share) / nullif(share * nr_sampled, 0) +
			(1 - time) / (time * nr_time) AS var_samples,
		ii - 2 * by_windows * ci + by_windows * by_windows * cc AS squares,
		3 * noise * nr2 / n AS prior,
		bias * (branches * 0.01 + (1 - branches) *
			((elsewhere + 1) / (windows + 2) * (elsewhere + 1) / (windows + 2) +
			 4 * overlong * overlong + 0.0004)) AS var_bias
	FROM share
), variance AS (
	SELECT *, var_bias + (prior + CASE WHEN squares > 0 THEN squares ELSE 0 END) *
		n / (n + 2) / nullif(insns * insns, 0) AS var_windows
	FROM rate
), differ AS (
	SELECT *, ln(by_samples / by_windows) AS difference,
		nullif(var_windows + var_samples, 0) AS expected
	FROM variance
), outlier AS (
	-- The logarithm of how much likelier the difference is if the windows are of elsewhere.
	SELECT *, difference * difference / 2 * (1 / expected - 1 / (expected + 0.25)) -
		ln(1 + 0.25 / expected) / 2 AS more
	FROM differ
), pooled AS (
	SELECT *, CASE
		WHEN by_windows IS NULL THEN nullif(share, 0) * ipc / time
		WHEN by_samples IS NULL THEN by_windows
		ELSE exp((ln(by_windows) * var_samples + ln(by_samples) * (var_windows + odd)) /
			 (var_samples + var_windows + odd)) END AS ipc_pooled
	FROM (SELECT *, 0.25 / (1 + 500 * exp(CASE WHEN more > 100 THEN -100 ELSE -more END)) AS odd
	      FROM outlier) AS o
)
SELECT round(CAST(100 * time AS numeric), 2) AS "%CY",
	round(CAST(1 / ipc_pooled AS numeric), 2) AS "CPI", CAST(used AS bigint) AS "Windows",
	CAST(round(100 * elsewhere / nullif(windows, 0)) AS bigint) AS "%DIS", symbol AS "Symbol"
FROM pooled
ORDER BY time DESC;
