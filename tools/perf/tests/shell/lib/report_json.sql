-- Metrics of each function in all reports of the table "reports", of which the column
-- "data" has the output of perf report --windows --json. A group without instructions adds
-- to %CY, not to CPI.
WITH event AS (
	SELECT e.value AS event,
		(SELECT key FROM json_each(e.value, '$.windows.group')
		 WHERE value GLOB 'cycles*' OR value GLOB '*/cycles*'
		 OR value GLOB 'cpu-cycles*' OR value GLOB '*/cpu-cycles*') AS cycles,
		(SELECT key FROM json_each(e.value, '$.windows.group')
		 WHERE value GLOB 'instructions*' OR value GLOB '*/instructions*') AS instructions
	FROM reports, json_each(data, '$.events') AS e
	WHERE e.value -> '$.windows' IS NOT NULL
), total AS (
	SELECT sum(event ->> '$.windows.all.weight') AS weight,
		sum(event -> '$.windows.totals' ->> cycles)
			FILTER (WHERE instructions IS NOT NULL) AS cycles,
		sum(event -> '$.windows.totals' ->> instructions) AS instructions
	FROM event
), entry AS (
	SELECT e.value ->> 'symbol' AS symbol,
		sum(e.value ->> '$.windows.weight') AS weight,
		sum(e.value ->> '$.windows.windows') AS windows,
		sum(e.value ->> '$.windows.used') AS used,
		sum(e.value -> '$.windows.sums.counts' ->> cycles)
			FILTER (WHERE instructions IS NOT NULL) AS cycles,
		sum(e.value -> '$.windows.sums.counts' ->> instructions) AS instructions
	FROM event, json_each(event, '$.entries') AS e
	GROUP BY symbol
)
SELECT round(100.0 * entry.weight / total.weight, 2) AS "%CY",
	round(1.0 * entry.cycles / entry.instructions, 2) AS "CPI",
	round(100.0 * entry.weight / total.weight * total.cycles / entry.cycles *
		       entry.instructions / total.instructions, 2) AS "%I",
	used AS "Windows",
	coalesce(round(1.0 * used / windows, 2), 0) AS "Coverage",
	symbol AS "Symbol"
FROM entry, total
ORDER BY entry.weight DESC;
