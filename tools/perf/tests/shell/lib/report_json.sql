-- Print the CPI of each function in all reports of the table "reports", whose column "data" has
-- the output of perf report --fnstat --json.
WITH report AS (
	SELECT row_number() OVER () AS machine_nr, data FROM reports
), grp AS (
	-- Some machines have a clock instead of cycles.
	SELECT row_number() OVER () AS nr, machine_nr, v.value AS event, v.value ->> 'unit' AS unit,
		count(*) OVER (PARTITION BY machine_nr, v.value ->> 'unit') AS nr_groups
	FROM report, json_each(data -> 'events') AS v
	WHERE v.value -> 'fnstat' IS NOT NULL
		AND replace('/' || (v.value ->> 'unit'), '/cpu-', '/') LIKE '%/cycles'
), entry AS (
	SELECT machine_nr, unit, nr_groups, nr, e.value ->> 'symbol' AS symbol,
		CAST(e.value -> 'fnstat' ->> 'weight' AS float) AS time,
		CAST(e.value -> 'fnstat' ->> 'windows' AS float) AS windows,
		CAST(e.value -> 'fnstat' ->> 'used' AS float) AS used,
		CAST(e.value -> 'fnstat' -> 'problems' ->> 'left' AS float) AS ended,
		CAST(e.value -> 'metrics' -> 'cpi' ->> 'dividend' AS float) AS cycles,
		CAST(e.value -> 'metrics' -> 'cpi' ->> 'divisor' AS float) AS insns,
		CASE WHEN CAST(event -> 'fnstat' ->> 'marked' AS text) IN ('1', 'true')
			THEN 100.0 ELSE 0 END AS marked
	FROM grp, json_each(event -> 'entries') AS e
	WHERE e.value -> 'fnstat' IS NOT NULL
), machine AS (
	-- Groups that count the same are of the same time: take their mean.
	SELECT symbol, sum(time) / nr_groups AS time,
		sum(time * marked) / nr_groups AS marked, sum(windows) / nr_groups AS windows,
		sum(used) / nr_groups AS used, sum(ended) / nr_groups AS ended,
		sum(cycles) / count(DISTINCT CASE WHEN cycles IS NOT NULL THEN nr END) AS cycles,
		sum(insns) / count(DISTINCT CASE WHEN insns IS NOT NULL THEN nr END) AS insns
	FROM entry GROUP BY machine_nr, unit, nr_groups, symbol
)
SELECT round(CAST(100 * sum(time) / sum(sum(time)) OVER () AS numeric), 2) AS "Overhead",
	round(CAST(sum(cycles) / nullif(sum(insns), 0) AS numeric), 2) AS "CPI",
	CAST(round(sum(used)) AS bigint) AS "Windows",
	CAST(round(100 * sum(ended) / nullif(sum(windows), 0)) AS bigint) AS "%DIS",
	symbol AS "Symbol",
	-- The percentage of the time that is from reports whose values are all marked.
	CAST(round(sum(marked) / sum(time)) AS bigint) AS "%?"
FROM machine GROUP BY symbol HAVING sum(time) > 0
ORDER BY sum(time) DESC;
