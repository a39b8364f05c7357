// Opens checkouts: those that are asked for while some are opened are opened together after them.
//
//     call ─▶ its owner's turn ─▶ group ─▶ read the products ─▶ draft each ─▶ one statement ─▶ answer
//
// Holds: a call reads its product after it came, so it sees what its caller changed before. Owners
// take turns (an organisation's keys and its buy links are two), so one that opens many delays
// itself. A call of a group is refused alone: where a statement fails because of one checkout, they
// are opened one by one. Where the database does not answer, nobody is told that it was opened.
// Does not: try again where the outcome is unknown. The caller does, with its key. Nor does it
// bound the wait for a row that a checkout refers to: who locks one of a customer or an
// organisation does it `for no key update`, for which foreign keys do not wait. A customer's other
// name is such a key: a process that freezes while it changes one is ended by PostgreSQL after 10
// s.
import { must } from '../../ledger/kernel/assert.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Timers } from '../../ledger/ports.ts';
import { Batches } from '../platform/background/batches.ts';
import { type Bounds, Full } from '../platform/bounds.ts';
import { Lane } from '../platform/postgres/lane.ts';
import { mayPass } from '../platform/postgres/may-pass.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { type CheckoutRecord, openCheckouts, type ToOpen } from '../records/checkouts.ts';
import type { KeyedAnswer } from '../records/idempotency.ts';
import { findProducts, type ProductRecord } from '../records/products.ts';
import {
  type CheckoutInput,
  type CheckoutRefusal,
  draftCheckout,
  type DraftDeps,
} from './open-checkout.ts';

const TOGETHER_MAX = 64;
const WAITING_MAX = 1000;
const WAIT_MS_MAX = 10_000;

export type OpeningsDeps = DraftDeps & {
  readonly sql: Sql;
  readonly timers: Timers;
  readonly settings: { readonly bounds: Bounds };
};

export type Opening = {
  readonly scope: Tenant;
  readonly input: CheckoutInput;
  readonly now: number;
  /** What is stored under the call's Idempotency-Key; null without one. */
  readonly keyed: (checkout: CheckoutRecord) => KeyedAnswer | null;
};

export type Opened =
  | { readonly kind: 'opened'; readonly checkout: CheckoutRecord }
  | CheckoutRefusal
  /** Another call with this key is being executed, or was answered. */
  | { readonly kind: 'key_taken' }
  /** Too many calls of this owner wait. Nothing was done. */
  | { readonly kind: 'no_place' };

type Asked = { readonly opening: Opening; failure: unknown };

export class Openings {
  readonly #deps: OpeningsDeps;
  readonly #asked = new Map<string, Asked>();
  readonly #groups: Batches<Opened>;
  readonly #lane: Lane;

  constructor(deps: OpeningsDeps) {
    this.#deps = deps;
    this.#groups = new Batches({
      timers: deps.timers,
      atMost: TOGETHER_MAX,
      concurrentMax: 1,
      work: (calls) => this.#work(calls),
      failed: (call, error) => this.#fail(call, error),
    });
    this.#lane = new Lane({
      places: 2 * TOGETHER_MAX,
      perTenant: TOGETHER_MAX,
      waitingMax: WAITING_MAX,
      waitMs: WAIT_MS_MAX,
      timers: deps.timers,
    });
  }

  async open(opening: Opening): Promise<Opened> {
    const { scope, input } = opening;
    const owner = `${scope.organisationId} ${input.source}`;
    const done = await this.#lane.run(owner, () => this.#openTogether(opening));
    return done === 'no_place' ? { kind: done } : done;
  }

  async #openTogether(opening: Opening): Promise<Opened> {
    const call = this.#deps.ids.next();
    const asked: Asked = { opening, failure: undefined };
    this.#asked.set(call, asked);
    try {
      const opened = await this.#groups.do(call);
      if (opened === undefined) throw asked.failure;
      return opened;
    } finally {
      this.#asked.delete(call);
    }
  }

  #fail(call: string, error: unknown): void {
    must(this.#asked.get(call), 'a call that waits').failure = error;
  }

  /** A failure that is not of one call is told to all. */
  async #work(calls: readonly string[]): Promise<ReadonlyMap<string, Opened>> {
    try {
      return await this.#openAll(calls);
    } catch (error) {
      if (!mayPass(error)) throw error;
      for (const call of calls) this.#fail(call, error);
      return new Map();
    }
  }

  async #openAll(calls: readonly string[]): Promise<ReadonlyMap<string, Opened>> {
    const { sql, settings } = this.#deps;
    const { openCheckouts: openMax } = settings.bounds;
    const openings = calls.map((call) => must(this.#asked.get(call), 'a call that waits').opening);
    const ids = openings.map(({ input }) => input.productId.toLowerCase());
    const products = await findProducts(sql, [...new Set(ids)]);
    const drafts = openings.map((opening) => this.#draft(opening, products));
    const toOpen = drafts.flatMap((draft, nth): readonly ToOpen[] => {
      const keyed = openings[nth]?.keyed;
      if (draft.kind !== 'drafted' || keyed === undefined) return [];
      return [{ checkout: draft.checkout, keyed: keyed(draft.checkout) }];
    });
    const not = await openCheckouts(sql, toOpen, openMax);
    const full: Opened = { kind: 'full', full: new Full('openCheckouts', openMax) };
    const opened = drafts.map((draft): Opened => {
      if (draft.kind !== 'drafted') return draft;
      const { checkout } = draft;
      const why = not.get(checkout.id);
      if (why === undefined) return { kind: 'opened', checkout };
      return why === 'full' ? full : { kind: why };
    });
    return new Map(calls.map((call, nth) => [call, must(opened[nth], 'one for each call')]));
  }

  #draft(
    { scope, input, now }: Opening,
    products: ReadonlyMap<string, Tenant & ProductRecord>,
  ): ReturnType<typeof draftCheckout> {
    const product = products.get(input.productId.toLowerCase());
    const isOwn = product?.organisationId === scope.organisationId && product.mode === scope.mode;
    if (!isOwn) return { kind: 'no_product' };
    return draftCheckout(this.#deps, { scope, product, input, now });
  }
}
