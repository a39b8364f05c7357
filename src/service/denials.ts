// The record of denials, on a connection of its own: nothing else waits for it.
import { Denials } from '../decisions/denials.ts';
import { watchDenials } from '../metrics/denials.ts';
import { timers } from '../platform/clock.ts';
import { ids } from '../platform/ids.ts';
import { openPool } from '../platform/postgres/postgres.ts';
import type { Connections } from './connections.ts';
import type { Node } from './node.ts';
import type { ServiceOptions } from './options.ts';

const STATEMENT_MS_MAX = 5000;

export function openDenials(
  { databaseUrl, log }: ServiceOptions,
  { clock, orgClock, metrics }: Connections,
  { ledger }: Node,
): Denials {
  const sql = openPool(databaseUrl, {
    max: 1,
    applicationName: 'tollhouse denials',
    statementTimeoutMs: STATEMENT_MS_MAX,
  });
  const node = () => ledger.number;
  const denials = new Denials({ sql, node, ids, clock, orgClock, timers, log });
  watchDenials(metrics.registry, denials);
  return denials;
}
