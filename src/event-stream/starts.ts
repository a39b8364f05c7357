// Where streams begin.
//
// How it works: what is asked for a tenant while it waits for its turn is found in one statement,
// of that tenant alone.
// Holds: each organisation waits for its own statements, of which one runs at a time. None that is
// slow, or fails, fails for others. What is found is as of a moment after it was asked for.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Lane } from '../platform/postgres/lane.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { findStarts, type Start } from '../records/event-positions.ts';
import { nameOf } from './follower.ts';

export type StartsDeps = { readonly sql: Sql; readonly lane: Lane };

/** `after`: the id of an event; null for what was written last by now. */
export type StartAsked = {
  readonly tenant: Tenant;
  readonly after: string | null;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
};

type Waiting = {
  readonly after: string | null;
  readonly resolve: (start: Start | null) => void;
  readonly reject: (error: unknown) => void;
};

export class Starts {
  readonly #deps: StartsDeps;
  /** For the next statement of each tenant. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(deps: StartsDeps) {
    this.#deps = deps;
  }

  /** null where its turn did not come in time, or nobody waits. Rejects where it cannot be read. */
  find({ tenant, after, signal }: StartAsked): Promise<Start | null> {
    const { promise, resolve, reject } = Promise.withResolvers<Start | null>();
    const asked = { after, resolve, reject };
    const name = nameOf(tenant);
    const next = this.#waiting.get(name);
    const waiting = next ?? new Set();
    waiting.add(asked);
    if (next === undefined) {
      this.#waiting.set(name, waiting);
      this.#run(tenant, waiting).catch(reject);
    }
    signal.addEventListener('abort', () => {
      waiting.delete(asked);
      resolve(null);
    });
    return promise;
  }

  /** Never rejects: a failure goes to those who wait. */
  async #run(tenant: Tenant, waiting: Set<Waiting>): Promise<void> {
    const { sql, lane } = this.#deps;
    let asked: readonly Waiting[] = [];
    const take = (): void => {
      // Who comes from now on waits for the next statement.
      this.#waiting.delete(nameOf(tenant));
      asked = [...waiting];
    };
    try {
      const found = await lane.run(`${tenant.organisationId} starts`, () => {
        take();
        const afters = asked.map(({ after }) => after);
        return afters.length === 0 ? Promise.resolve([]) : findStarts(sql, tenant, afters);
      });
      if (found === 'no_place') take();
      const starts = found === 'no_place' ? [] : found;
      for (const [index, { resolve }] of asked.entries()) resolve(starts[index] ?? null);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
