// What the sandbox asks its tables together: charges that are made at the same moment share a
// statement, and so do refunds and looks for saved instruments. Organisations take turns in it.
import { Batcher } from '../../ledger/kernel/batcher.ts';
import type { Timers } from '../../ledger/ports.ts';
import { mayPass } from '../platform/postgres/may-pass.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  type ChargeRow,
  findMandates,
  insertCharges,
  type Mandate,
  type NewCharge,
  type NewRefund,
  type RefundRow,
  takeRefunds,
} from './sandbox-store.ts';

/** Each call of a charge is one question, though many share a statement. */
export type Books = {
  readonly mandates: Batcher<{ readonly key: string; readonly savedBy: string }, Mandate>;
  readonly charges: Batcher<NewCharge, Written>;
  readonly refunds: Batcher<NewRefund, RefundRow>;
};
type Written = { readonly row: ChargeRow } | { readonly failed: unknown };

const TOGETHER_MAX = 100;
const STATEMENTS_MAX = 2;
const WAITING_MAX = 4096;

export function openBooks({ sql, timers }: { readonly sql: Sql; readonly timers: Timers }): Books {
  const bounds = { keysMax: TOGETHER_MAX, concurrentMax: STATEMENTS_MAX, waitingMax: WAITING_MAX };
  return {
    mandates: new Batcher({
      timers,
      ...bounds,
      // By the charge that asks: what it reads is never of before it asked.
      nameOf: ({ key }) => key,
      async load(asked) {
        const found = await findMandates(sql, [...new Set(asked.map(({ savedBy }) => savedBy))]);
        const of = new Map(found.map((mandate) => [mandate.key, mandate]));
        return asked.flatMap(({ key, savedBy }) => {
          const mandate = of.get(savedBy);
          return mandate === undefined ? [] : [[key, mandate] as const];
        });
      },
    }),
    charges: new Batcher({
      timers,
      ...bounds,
      nameOf: ({ key }) => key,
      load: (charges) => write(sql, charges),
    }),
    refunds: new Batcher({
      timers,
      ...bounds,
      nameOf: ({ key }) => key,
      async load(refunds) {
        try {
          return (await takeRefunds(sql, refunds)).map((row) => [row.key, row] as const);
        } catch {
          // Each of them is asked for alone then.
          return [];
        }
      },
    }),
  };
}

/**
 * Where they fail together, each is written alone: one that cannot be written stops no other. Where
 * the database could not answer, all have failed: to ask it once for each would take as many times
 * as long.
 */
async function write(
  sql: Sql,
  charges: readonly NewCharge[],
): Promise<readonly (readonly [string, Written])[]> {
  try {
    const rows = await insertCharges(sql, charges);
    return rows.map((row) => [row.key, { row }]);
  } catch (failed) {
    const [first, ...others] = charges;
    if (first === undefined) return [];
    if (others.length === 0 || mayPass(failed)) return charges.map(({ key }) => [key, { failed }]);
  }
  const written: (readonly [string, Written])[] = [];
  for (const charge of charges) written.push(...(await write(sql, [charge])));
  return written;
}
