-- Of a level nothing is used up: what the current period has settled on its grants is theirs again, in reverse of the order in
-- which they burned. What periods that are over have taken of a grant stays taken.
WITH settled AS (
  SELECT g.slot, g.id, c.allocated - coalesce(sum(g.used) OVER (
    PARTITION BY g.slot, g.customer_id, g.meter_id
    ORDER BY g.suspended IS NULL, g.priority DESC, g.expires_at DESC NULLS FIRST, g.source = 'rollover', g.created_at DESC, g.id DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS back
  FROM grants g JOIN customer_meters c USING (slot, customer_id, meter_id) JOIN meters m ON m.id = c.meter_id
  WHERE m.aggregation NOT IN ('sum', 'count') AND c.allocated > 0 AND g.started AND g.ended_at IS NULL)
UPDATE grants g SET used = g.used - least(g.used, s.back) FROM settled s WHERE g.slot = s.slot AND g.id = s.id AND s.back > 0;

UPDATE customer_meters c SET allocated = 0 FROM meters m
WHERE m.id = c.meter_id AND m.aggregation NOT IN ('sum', 'count') AND c.allocated <> 0;
