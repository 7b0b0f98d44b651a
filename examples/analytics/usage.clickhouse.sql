-- What was used by day and model, from the ledger's lines as they are. Run it in the folder of the ledger:
--   cd /path/to/home/ledger && clickhouse local --queries-file usage.clickhouse.sql
SELECT
    substring(at, 1, 10) AS day,
    model,
    count() AS calls,
    countIf(status != 'ok' AND ifNull(error, '') NOT IN ('caller_left', 'interrupted')) AS errors,
    sum(ifNull(uncached_in, 0) + ifNull(cache_read, 0) + ifNull(cache_write, 0)) AS tokens_in,
    sum(ifNull(`out`, 0)) AS tokens_out,
    round(sum(cost_usd), 12) AS known_usd,
    countIf(cost_status = 'unknown') AS unknown_calls
FROM file(
    '*.jsonl',
    'JSONEachRow',
    'at Nullable(String), model Nullable(String), status Nullable(String), error Nullable(String),
     uncached_in Nullable(Int64), cache_read Nullable(Int64), cache_write Nullable(Int64), `out` Nullable(Int64),
     cost_usd Nullable(Float64), cost_status Nullable(String)'
)
WHERE at IS NOT NULL
GROUP BY day, model
ORDER BY day, known_usd DESC NULLS LAST, model
SETTINGS input_format_skip_unknown_fields = 1, output_format_json_quote_64bit_integers = 0
FORMAT JSONEachRow;
