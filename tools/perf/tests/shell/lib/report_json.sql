-- Metrics of each function in all reports of the table "reports", of which the column
-- "data" has the output of perf report --windows --json. A group without instructions adds
-- to %CY, Windows and Coverage, not to CPI.
WITH event AS (
	SELECT e.value AS event,
		e.value ->> '$.windows.length' AS length,
		e.value ->> '$.windows.slope' AS slope,
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
	SELECT e.value ->> 'symbol' AS symbol, length, slope, cycles, instructions,
		e.value ->> '$.windows.weight' AS weight,
		e.value ->> '$.windows.windows' AS windows,
		e.value ->> '$.windows.used' AS used,
		CASE WHEN instructions IS NOT NULL
			THEN e.value -> '$.windows.sums' END AS sums
	FROM event, json_each(event, '$.entries') AS e
), part AS (
	-- Deviations are those from this length.
	SELECT symbol, slope,
		sum(weight) AS weight, sum(windows) AS windows, sum(used) AS used,
		1.0 * sum(sums ->> '$.deviation') / sum(sums ->> '$.windows') AS deviation,
		1.0 * sum(sums -> '$.counts' ->> cycles) AS cycles,
		1.0 * sum(sums -> '$.counts' ->> instructions) AS instructions,
		sum(sums -> '$.products' ->> cycles) AS cycles_products,
		sum(sums -> '$.products' ->> instructions) AS instructions_products
	FROM entry GROUP BY symbol, length, slope
), ratio AS (
	SELECT symbol, weight, windows, used,
		CASE WHEN slope
			THEN (instructions_products - deviation * instructions) /
			     (cycles_products - deviation * cycles)
			ELSE instructions / cycles END AS ipc
	FROM part
), sums AS (
	SELECT symbol, sum(weight) AS weight, sum(windows) AS windows, sum(used) AS used,
		sum(weight * ipc) FILTER (WHERE ipc > 0) /
		sum(weight) FILTER (WHERE ipc > 0) AS ipc
	FROM ratio GROUP BY symbol
)
SELECT round(100.0 * sums.weight / total.weight, 2) AS "%CY",
	round(1.0 / ipc, 2) AS "CPI",
	round(100.0 * sums.weight / total.weight * total.cycles * ipc /
	      total.instructions, 2) AS "%I",
	used AS "Windows",
	coalesce(round(1.0 * used / windows, 2), 0) AS "Coverage",
	symbol AS "Symbol"
FROM sums, total
ORDER BY sums.weight DESC;
