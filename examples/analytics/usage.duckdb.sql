-- What was used by day and model, from the ledger's lines as they are.
-- The variable "ledger" says where they are: SET VARIABLE ledger = '/path/to/home/ledger/*.jsonl'
SELECT
    "at"[1:10] AS day,
    model,
    count(*) AS calls,
    count(*) FILTER (status <> 'ok' AND coalesce(error, '') NOT IN ('caller_left', 'interrupted')) AS errors,
    sum(coalesce(uncached_in, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0))::BIGINT AS tokens_in,
    coalesce(sum("out"), 0)::BIGINT AS tokens_out,
    round(sum(cost_usd), 12) AS known_usd,
    count(*) FILTER (cost_status = 'unknown') AS unknown_calls
FROM read_json(
    getvariable('ledger'),
    format = 'newline_delimited',
    columns = {
        "at": 'VARCHAR', model: 'VARCHAR', status: 'VARCHAR', error: 'VARCHAR',
        uncached_in: 'BIGINT', cache_read: 'BIGINT', cache_write: 'BIGINT', "out": 'BIGINT',
        cost_usd: 'DOUBLE', cost_status: 'VARCHAR'
    }
)
WHERE "at" IS NOT NULL
GROUP BY ALL
ORDER BY day, known_usd DESC NULLS LAST, model;
