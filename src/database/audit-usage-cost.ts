// What sold usage costs, reckoned by PostgreSQL's exact decimals (beyond.md 2, Rating). It
// shares nothing with the code that bills them.
import { EXPONENTS } from '../../ledger/kernel/currencies.ts';

/** Amounts have 21 decimals of the major unit: what an amount for one unit (12) and a quantity (9) have. */
const COINS = [...EXPONENTS]
  .map(([code, exponent]) => `('${code}', 1e${21 - exponent}, 1e${12 + exponent} - 1)`)
  .join(', ');

/** `COINS AS coins (currency, coin, most)`: one coin, and the most that an amount can be. */
const COIN = `(VALUES ${COINS}) AS coins (currency, coin, most)`;

const money = (field: string): string => `(${field} ->> '$')::numeric`;

/** Tiers of `p`, by their place: what is below and in each. */
const TIERS = `(
  SELECT place, coalesce(lag(up_to) OVER (ORDER BY place), 0) AS below, up_to, unit, flat FROM (
    SELECT place, ${money(`t -> 'upTo'`)} AS up_to, coalesce(${money(`t -> 'unitAmount'`)}, 0) AS unit,
      coalesce(${money(`t -> 'flatAmount'`)}, 0) AS flat
    FROM jsonb_array_elements(p.tariff -> 'tiers') WITH ORDINALITY AS tiers (t, place)
  ) t) t`;

/** What `q.units` cost by the price `p`, before the minimum and the maximum. */
const USED = `CASE p.model
  WHEN 'per_unit' THEN ${money(`p.tariff -> 'unitAmount'`)} * q.units * step
  WHEN 'package' THEN coin * ${money(`p.tariff -> 'packageAmount'`)}
    * div(q.units + ${money(`p.tariff -> 'packageSize'`)} - 1, ${money(`p.tariff -> 'packageSize'`)})
  WHEN 'graduated' THEN (SELECT coalesce(sum((least(q.units, up_to) - below) * unit * step + flat * coin), 0) FROM ${TIERS}
    WHERE q.units > below)
  WHEN 'volume' THEN (SELECT coalesce(sum(q.units * unit * step + flat * coin), 0) FROM ${TIERS}
    WHERE q.units > below AND (q.units <= up_to) IS NOT FALSE) END`;

/** Milliseconds since 1970, exactly. */
const TIME_OF = (ms: string): string =>
  `timestamptz 'epoch' + (${ms})::bigint * interval '1 millisecond'`;

const LENGTH_MS = (from: string, to: string): string =>
  `round(extract(epoch FROM ${to} - ${from}) * 1000)`;

/**
 * How long a closed span `s` was sold for: paused time is not. The period with which a pause was resumed is not
 * paused, also where it was paid later than it began.
 */
const SOLD_MS = `(${LENGTH_MS('s.started_at', 's.ended_at')} - coalesce((
      SELECT sum(greatest(0, ${LENGTH_MS('greatest(s.started_at, p.start)', 'least(s.ended_at, p.until)')}))
      FROM subscriptions u CROSS JOIN LATERAL (
        SELECT ${TIME_OF("k ->> 'start'")} AS start, ${TIME_OF("k ->> 'end'")} AS until, ${TIME_OF("k ->> 'begins'")} AS begins
        FROM jsonb_array_elements(u.pauses) k
        UNION ALL SELECT u.paused_at, 'infinity', NULL WHERE u.status = 'paused' AND u.paused_at IS NOT NULL
      ) p
      WHERE u.id = s.subscription_id AND (s.period_start >= p.begins) IS NOT TRUE), 0))`;

const beyond = (units: string, free: string): string => `greatest(0, ${units} - (${free}))`;

/**
 * Closed spans that count, with the `units` that each has sold (scaled). A period with several is walked:
 * what was sold before is paid, and where less was used at the end of a span than at its start, that takes
 * back what was used before, newest first, of each span first what it sold. A level is not used up: what is
 * above the limit at the end (`level`) is sold, for the time of the spans that follow each other (a `run`);
 * in a run of which no span knows its period, what it grew by.
 */
const SOLD_SPANS = `(
  WITH RECURSIVE closed AS (
    SELECT s.*, greatest(0, s.opening_aggregate)::numeric AS from_units, greatest(0, s.closing_aggregate)::numeric AS to_units,
      row_number() OVER period AS nth, m.aggregation NOT IN ('sum', 'count') AS is_level,
      m.aggregation IN ('sum', 'count') AND count(*) OVER (PARTITION BY s.account_id) > 1 AS is_walked,
      lag(s.ended_at) OVER (PARTITION BY s.account_id, s.subscription_id, s.usage_price_id ORDER BY s.started_at, s.place) IS DISTINCT FROM s.started_at AS is_begun
    FROM usage_spans s JOIN meters m ON m.id = s.meter_id
    WHERE s.ended_at IS NOT NULL AND (s.live OR s.billed_as IS NOT NULL)
    WINDOW period AS (PARTITION BY s.account_id ORDER BY s.started_at, s.place)
  ), walk AS (
    SELECT account_id, 0::bigint AS nth, '{}'::numeric[] AS used, '{}'::numeric[] AS sold FROM closed WHERE is_walked AND nth = 1
    UNION ALL
    SELECT c.account_id, c.nth, t.used || greatest(0, c.to_units - c.from_units), t.sold || CASE
      WHEN c.quantity_limit IS NULL OR c.to_units < c.from_units THEN 0
      ELSE ${beyond('c.to_units', 'c.quantity_limit + t.paid')} - ${beyond('c.from_units', 'c.quantity_limit + t.paid')} END
    FROM walk w JOIN closed c ON c.account_id = w.account_id AND c.nth = w.nth + 1
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(used - taken ORDER BY place), '{}') AS used, coalesce(array_agg(sold - least(taken, sold) ORDER BY place), '{}') AS sold,
        coalesce(sum(sold - least(taken, sold)), 0) AS paid
      FROM (
        SELECT u.*, least(used, greatest(0, c.from_units - c.to_units
          - coalesce(sum(used) OVER (ORDER BY place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0))) AS taken
        FROM unnest(w.used, w.sold) WITH ORDINALITY u (used, sold, place)
      ) u
    ) t
  ), walked AS (
    SELECT DISTINCT ON (account_id) account_id, sold FROM walk ORDER BY account_id, nth DESC
  )
  SELECT c.*, CASE WHEN c.is_level THEN count(*) FILTER (WHERE c.is_begun)
      OVER (PARTITION BY c.account_id, c.subscription_id, c.usage_price_id ORDER BY c.started_at, c.place) ELSE 1 END AS run,
    CASE WHEN c.quantity_limit IS NULL THEN 0 ELSE ${beyond('c.to_units', 'c.quantity_limit')} END AS level,
    CASE WHEN c.is_walked THEN w.sold[c.nth] WHEN c.quantity_limit IS NULL THEN 0
    ELSE greatest(0, ${beyond('c.to_units', 'c.quantity_limit')} - ${beyond('c.from_units', 'c.quantity_limit')}) END AS units
  FROM closed c LEFT JOIN walked w ON w.account_id = c.account_id)`;

/** Of a row of `SOLD_COSTS`: the share of a level, half up. */
const shared = (cost: string, row: string): string =>
  `CASE WHEN ${row}.is_level AND ${row}.whole IS NOT NULL
    THEN div(2 * ${cost} * least(${row}.part, ${row}.whole) + ${row}.whole, 2 * ${row}.whole) ELSE ${cost} END`;

/**
 * What a price sold in one period of its meter, in closed spans that count, for each line that they are
 * billed on: with its billable `units` (scaled) and their exact `cost`, as if nothing more were sold in
 * that period. Of several the cost is `least(div(2 * sum(cost) + coin, 2 * coin), most)`: rounded once,
 * half up. `id`: of its first span.
 */
export const SOLD_COSTS = `(
  SELECT q.*, m.scale, coins.coin, coins.most,
    ${shared('x.bounded', 'q')} AS cost
  FROM (
    SELECT (array_agg(id ORDER BY started_at, place))[1] AS id, meter_id, subscription_id, account_id, usage_price_id, billed_as,
      min(started_at) AS started_at, min(ended_at) AS ended_at, sum(${SOLD_MS}) AS part,
      CASE WHEN bool_and(period_end IS NOT NULL) OR bool_or(is_level) THEN ${LENGTH_MS('min(period_start)', 'max(period_end)')} END AS whole,
      bool_or(is_level) AS is_level, CASE WHEN bool_or(is_level) AND bool_or(period_end IS NOT NULL)
        THEN (array_agg(level ORDER BY started_at DESC, place DESC))[1] ELSE sum(units) END AS units
    FROM ${SOLD_SPANS} s
    GROUP BY meter_id, subscription_id, account_id, usage_price_id, run, billed_as
  ) q
  JOIN meters m ON m.id = q.meter_id
  JOIN usage_prices p ON p.id = q.usage_price_id
  JOIN ${COIN} ON coins.currency = p.currency
  CROSS JOIN LATERAL (SELECT ('1e' || 9 - m.scale)::numeric AS step) y
  CROSS JOIN LATERAL (SELECT least(greatest(${USED}, CASE WHEN q.whole IS NULL OR q.is_level THEN p.minimum_amount
      ELSE div(2 * p.minimum_amount * least(q.part, q.whole) + q.whole, 2 * q.whole) END * coin), p.maximum_amount * coin) AS bounded) x)`;

/** Of a row \`c\` of `SOLD_COSTS`: the tiers that have \`units\`, by their \`place\`, and what those \`cost\` exactly. */
export const SOLD_TIERS = `(
  SELECT t.place, t.units, ${shared('x.whole_cost', 'c')} AS cost
  FROM usage_prices p CROSS JOIN LATERAL (
    SELECT 0 AS place, c.units, coalesce(${money(`p.tariff -> 'unitAmount'`)}, 0) AS unit, 0 AS flat WHERE p.model IN ('per_unit', 'package')
    UNION ALL
    SELECT place, CASE p.model WHEN 'volume' THEN c.units ELSE least(c.units, up_to) - below END, unit, flat FROM ${TIERS}
    WHERE p.model IN ('graduated', 'volume') AND c.units > below AND (p.model = 'graduated' OR (c.units <= up_to) IS NOT FALSE)
  ) t CROSS JOIN LATERAL (SELECT CASE p.model WHEN 'package' THEN c.coin * ${money(`p.tariff -> 'packageAmount'`)}
      * div(t.units + ${money(`p.tariff -> 'packageSize'`)} - 1, ${money(`p.tariff -> 'packageSize'`)})
    ELSE t.unit * t.units * ('1e' || 9 - c.scale)::numeric + t.flat * c.coin END AS whole_cost) x
  WHERE p.id = c.usage_price_id AND c.units > 0)`;
