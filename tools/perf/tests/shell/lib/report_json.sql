-- Metrics of each function in all reports of the table "reports", of which the column
-- "data" has the output of perf report --windows --json: of events that are sampled too.
-- The comments name what window_stats__estimate() in perf does.
WITH event AS (
	SELECT e.value AS event,
		(SELECT key FROM json_each(e.value, '$.windows.group')
		 WHERE value GLOB 'cycles*' OR value GLOB '*/cycles*'
		 OR value GLOB 'cpu-cycles*' OR value GLOB '*/cpu-cycles*') AS c,
		(SELECT key FROM json_each(e.value, '$.windows.group')
		 WHERE value GLOB 'instructions*' OR value GLOB '*/instructions*') AS i
	FROM reports, json_each(data, '$.events') AS e
	WHERE e.value -> '$.windows' IS NOT NULL
), total AS (
	-- What all entries have in common. Kish's number of samples adds up, as their weights.
	SELECT sum(event ->> '$.windows.all.weight') AS weight,
		sum(event ->> '$.windows.all.weight') * sum(event ->> '$.windows.all.weight') /
			sum(event ->> '$.windows.all.weight2') AS nr,
		sum(event -> '$.windows.totals' ->> c) AS cycles,
		sum(event -> '$.windows.totals' ->> i) AS insns,
		1.0 * sum(event -> '$.windows.samples' -> i ->> '$.weight') AS sampled,
		sum(event -> '$.windows.samples' -> i ->> '$.effective') AS nr_sampled,
		avg(event -> '$.windows.noise' ->> i) AS noise,
		avg(event -> '$.windows.bias' ->> i) AS bias
	FROM event WHERE i IS NOT NULL
), entry AS (
	SELECT e.value ->> 'symbol' AS symbol, e.value -> '$.windows' AS w, c, i,
		event ->> '$.windows.branches' AS branches,
		-- Products of two values are behind the sums, in a triangle.
		'$[' || ((i + 2) * (i + 3) / 2 + i + 2) || ']' AS ii,
		'$[' || ((c + 2) * (c + 3) / 2 + c + 2) || ']' AS cc,
		'$[' || ((max(c, i) + 2) * (max(c, i) + 3) / 2 + min(c, i) + 2) || ']' AS ci
	FROM event, json_each(event, '$.entries') AS e
	WHERE i IS NOT NULL AND e.value -> '$.windows' IS NOT NULL
), sums AS (
	SELECT symbol, 1.0 * sum(w ->> '$.weight') AS weight, sum(w ->> '$.used') AS used,
		1.0 * sum(w ->> '$.windows') AS windows, sum(w ->> '$.problems.left') AS "left",
		1.0 * sum(w ->> '$.sums[0]') AS nr,
		1.0 * sum(w -> '$.sums' ->> (c + 2)) AS cycles,
		1.0 * sum(w -> '$.sums' ->> (i + 2)) AS insns,
		CASE WHEN sum(w ->> '$.begun[1]') > 0 THEN
			min(max(1 - 1.0 * sum(w ->> '$.begun[0]') / sum(w ->> '$.begun[1]'), 0), 1)
			ELSE 0 END AS overlong,
		1.0 * sum(w ->> '$.products[0]') AS nr2, sum(w -> '$.products' ->> ii) AS ii,
		sum(w -> '$.products' ->> ci) AS ci, sum(w -> '$.products' ->> cc) AS cc,
		1.0 * sum(w -> '$.samples' ->> i) AS sampled, avg(branches) AS branches
	FROM entry GROUP BY symbol
), rate AS (
	-- Instructions for each cycle from windows, from samples, and their variances.
	SELECT symbol, used, "left", windows, s.weight / t.weight AS time,
		s.insns / s.cycles AS by_windows,
		(max(ii - 2 * s.insns / s.cycles * ci +
		     s.insns / s.cycles * s.insns / s.cycles * cc, 0) +
		 3 * noise * nr2 / (s.nr * s.nr / nr2)) *
		(s.nr * s.nr / nr2) / (s.nr * s.nr / nr2 + 2) / (s.insns * s.insns) +
		bias * (branches * 0.04 + (1 - branches) *
			(("left" + 1) / (windows + 2) * ("left" + 1) / (windows + 2) +
			 overlong * overlong + 0.0025)) AS var_windows,
		CASE WHEN s.sampled / t.sampled * t.nr_sampled >= 3 THEN
			s.sampled / t.sampled * t.insns / (s.weight / t.weight * t.cycles)
			END AS by_samples,
		(1 - s.sampled / t.sampled) / (s.sampled / t.sampled * t.nr_sampled) +
		(1 - s.weight / t.weight) / (s.weight / t.weight * t.nr) AS var_samples
	FROM sums AS s, total AS t
), pooled AS (
	SELECT *, CASE
		WHEN by_samples IS NULL THEN by_windows
		WHEN by_windows IS NULL OR by_windows <= 0 THEN by_samples
		ELSE exp((ln(by_windows) * var_samples + ln(by_samples) * var_windows) /
			 (var_samples + var_windows)) END AS ipc
	FROM rate
)
SELECT round(100.0 * time, 2) AS "%CY", round(1.0 / ipc, 2) AS "CPI", used AS "Windows",
	round(100.0 * "left" / windows) AS "%DIS", symbol AS "Symbol"
FROM pooled
ORDER BY time DESC;
