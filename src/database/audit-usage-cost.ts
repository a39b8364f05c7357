// What spans of sold usage cost, reckoned by PostgreSQL's exact decimals (beyond.md 2, Rating). It
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

/**
 * Closed spans that count, with their billable `units` (scaled) and their exact `cost`. Of several
 * the cost is `least(div(2 * sum(cost) + coin, 2 * coin), most)`: rounded once, half up.
 */
export const SPAN_COSTS = `(
  SELECT s.*, q.units, m.scale, coins.coin, coins.most,
    least(greatest(${USED}, p.minimum_amount * coin), p.maximum_amount * coin) AS cost
  FROM usage_spans s
  JOIN meters m ON m.id = s.meter_id
  JOIN usage_prices p ON p.id = s.usage_price_id
  JOIN ${COIN} ON coins.currency = p.currency
  CROSS JOIN LATERAL (SELECT ('1e' || 9 - m.scale)::numeric AS step) x
  CROSS JOIN LATERAL (SELECT greatest(0, greatest(0, s.closing_aggregate - s.quantity_limit)
    - greatest(0, s.opening_aggregate - s.quantity_limit))::numeric AS units) q
  WHERE s.ended_at IS NOT NULL AND (s.live OR s.billed_as IS NOT NULL))`;

/** Of a span \`c\`: the tiers that have \`units\`, by their \`place\`, and what those \`cost\` exactly. */
export const SPAN_TIERS = `(
  SELECT t.place, t.units, CASE p.model WHEN 'package' THEN c.coin * ${money(`p.tariff -> 'packageAmount'`)}
      * div(t.units + ${money(`p.tariff -> 'packageSize'`)} - 1, ${money(`p.tariff -> 'packageSize'`)})
    ELSE t.unit * t.units * ('1e' || 9 - c.scale)::numeric + t.flat * c.coin END AS cost
  FROM usage_prices p CROSS JOIN LATERAL (
    SELECT 0 AS place, c.units, coalesce(${money(`p.tariff -> 'unitAmount'`)}, 0) AS unit, 0 AS flat WHERE p.model IN ('per_unit', 'package')
    UNION ALL
    SELECT place, CASE p.model WHEN 'volume' THEN c.units ELSE least(c.units, up_to) - below END, unit, flat FROM ${TIERS}
    WHERE p.model IN ('graduated', 'volume') AND c.units > below AND (p.model = 'graduated' OR (c.units <= up_to) IS NOT FALSE)
  ) t WHERE p.id = c.usage_price_id AND c.units > 0)`;
