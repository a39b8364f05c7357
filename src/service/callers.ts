// Who calls, and what happens to each request before its handler.
import { Batcher } from '../../ledger/kernel/batcher.ts';
import { Acting } from '../http/edge/acting.ts';
import { AuditedRoutes } from '../http/edge/audited.ts';
import { type Authenticator, LOOKUPS_MAX, openAuthenticator } from '../http/edge/auth.ts';
import { createEdge, type Edge } from '../http/edge/edge.ts';
import { openKeyWatch, type WatchKey } from '../http/edge/key-watch.ts';
import { openKeyed } from '../http/idempotency/keyed.ts';
import { openPortalDoor, type PortalDoorDeps } from '../http/portal/visitor.ts';
import { timers } from '../platform/clock.ts';
import { newToken } from '../platform/crypto/tokens.ts';
import { ids } from '../platform/ids.ts';
import { Late } from '../platform/late.ts';
import { findKeyEnds, findKeys, markKeysUsed } from '../records/api-keys.ts';
import { type Connections, DOORS_POOL } from './connections.ts';
import type { ServiceOptions } from './options.ts';

const KEYS_AT_ONCE = 500;

export type Callers = {
  readonly auth: Authenticator;
  readonly edge: Edge;
  readonly watchKey: WatchKey;
  readonly acting: Acting;
  /** Where a client is: the server that listens knows it. */
  readonly clients: Late<(request: Request) => string>;
};

export function openCallers(
  { settings, log }: ServiceOptions,
  connections: Connections,
  limiter: PortalDoorDeps['limiter'],
): Callers {
  const { sql, doors, keyLocks, changes, clock, warn } = connections;
  const acting = new Acting(newToken);
  const auth = openAuth(connections, acting);
  const clients: Callers['clients'] = new Late('listener');
  const addressOf = (request: Request) => clients.get()(request);
  const edge = createEdge({
    audited: new AuditedRoutes({ sql, ids, clock, addressOf }),
    authenticate: auth.authenticate,
    admitPortal: openPortalDoor({ sql: doors, limiter, settings, clock }),
    keyed: openKeyed({ sql, keyLocks, clock, timers }),
    clock,
    timers,
    log,
    newRequestId: () => ids.next(),
  });
  const findEnds = (keyIds: readonly string[]) => findKeyEnds(doors, keyIds);
  const watchKey = openKeyWatch({ findEnds, changes, clock, timers, warn });
  return { auth, edge, watchKey, acting, clients };
}

/** Unknown keys are looked up together, so a caller that invents keys holds up no other caller. */
function openAuth({ doors, changes, clock, warn }: Connections, acting: Acting): Authenticator {
  const keys = new Batcher({
    keysMax: KEYS_AT_ONCE,
    concurrentMax: DOORS_POOL,
    waitingMax: LOOKUPS_MAX,
    timers,
    nameOf: (hash: string) => hash,
    load: async (hashes) => [...(await findKeys(doors, hashes))],
  });
  return openAuthenticator({
    find: (hash) => keys.get(hash.toString('hex')),
    markUsed: (keyIds) => markKeysUsed(doors, { ids: keyIds, now: clock.now() }),
    changes,
    whoActs: (token) => acting.whoIs(token),
    clock,
    timers,
    warn,
  });
}
