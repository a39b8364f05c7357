-- A level costs the share of its period for which it was sold: spans that run learn their period. What has ended was sold whole.
UPDATE usage_spans s SET period_start = a.period_start, period_end = b.period_end
FROM meters m, accounts a, balances b
WHERE s.live AND s.ended_at IS NULL AND s.period_start IS NULL AND m.id = s.meter_id AND m.aggregation NOT IN ('sum', 'count')
  AND a.slot = s.slot AND a.id = s.account_id AND b.slot = s.slot AND b.id = s.account_id
  AND a.period_start IS NOT NULL AND b.period_end IS NOT NULL;
