// The Idempotency-Key of a POST: a retry gets the first answer, and nothing is done twice.
//
// Who calls: the edge, for every operation.
// How: an operation that writes rows stores its answer with them (idempotency.ts), and the ledger
// knows the keys of what it records. All others are repeatable (a canceled thing stays canceled);
// their answer is stored here, after it was given.
// Does not: store an answer that may differ next time: not found, malformed, rate limited,
// unavailable.
import type { Clock, Timers } from '../../../ledger/ports.ts';
import type { KeyLocks } from '../../platform/postgres/key-locks.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { type PortalPrincipal, type Principal, tenantOf } from '../edge/auth.ts';
import { keptOf, onceRepeatable, scopeOf } from './idempotency.ts';
import { KeyTurns } from './key-turns.ts';
import type { Call, Handler, Operation } from '../operation.ts';

export type Keyed = <O extends Operation, P extends Principal | PortalPrincipal | null>(
  operation: O,
  handler: Handler<O, P>,
) => Handler<O, P>;

export type KeyedDeps = {
  readonly sql: Sql;
  readonly keyLocks: KeyLocks;
  readonly clock: Clock;
  readonly timers: Timers;
};

export function openKeyed({ sql, keyLocks, clock, timers }: KeyedDeps): Keyed {
  const turns = new KeyTurns({ clock, timers });
  return (operation, handler) => {
    if (!mayBeInProgress(operation)) return handler;
    return (call) => {
      const { principal, idempotencyKey: key } = call;
      if (key === null || principal === null) return handler(call);
      // The keys of a customer are separate, whichever portal token the customer uses.
      const of = principal.kind === 'portal' ? { of: principal.customerId } : {};
      const name = scopeOf(operation, of.of);
      const task = () => handler(call);
      const tenant = `${tenantOf(principal)} ${principal.mode}`;
      if (operation.idempotent !== undefined) return turns.run(tenant, `${name} ${key}`, task);
      const body = whatIsAsked(call);
      return turns.run(tenant, `${name} ${key}`, () =>
        onceRepeatable(
          { sql, keyLocks, principal, operation, ...of, key, body, now: clock.now() },
          async () => keptOf(await task()),
        ),
      );
    };
  };
}

/** The ledger serialises the calls that it alone records. */
function mayBeInProgress({ idempotent, refusals = [] }: Operation): boolean {
  if (idempotent === false) return false;
  return idempotent !== 'ledger' || refusals.includes('idempotency_in_progress');
}

function whatIsAsked<O extends Operation, P>({ params, body }: Call<O, P>): unknown {
  const { token: _token, ...named } = params as Readonly<Record<string, string>>;
  return { ...named, body };
}
