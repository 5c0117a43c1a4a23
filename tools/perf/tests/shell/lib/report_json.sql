-- Print the CPI of each function in all reports of the table "reports", whose column "data" has
-- the output of perf report --windows --json.
WITH entry AS (
	SELECT e.value ->> 'symbol' AS symbol,
		CAST(e.value -> 'windows' ->> 'weight' AS float) AS time,
		CAST(e.value -> 'windows' ->> 'windows' AS float) AS windows,
		CAST(e.value -> 'windows' ->> 'used' AS float) AS used,
		CAST(e.value -> 'windows' -> 'problems' ->> 'left' AS float) AS ended,
		CAST(e.value -> 'metrics' -> 'cpi' ->> 'dividend' AS float) AS cycles,
		CAST(e.value -> 'metrics' -> 'cpi' ->> 'divisor' AS float) AS insns
	FROM reports, json_each(data -> 'events') AS v, json_each(v.value -> 'entries') AS e
	WHERE e.value -> 'windows' IS NOT NULL
)
SELECT round(CAST(100 * sum(time) / sum(sum(time)) OVER () AS numeric), 2) AS "%CY",
	round(CAST(sum(cycles) / nullif(sum(insns), 0) AS numeric), 2) AS "CPI",
	CAST(sum(used) AS bigint) AS "Windows",
	CAST(round(100 * sum(ended) / nullif(sum(windows), 0)) AS bigint) AS "%DIS",
	symbol AS "Symbol"
FROM entry GROUP BY symbol HAVING sum(time) > 0
ORDER BY sum(time) DESC;
