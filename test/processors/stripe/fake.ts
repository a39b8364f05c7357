// A stateful fake of Stripe, with a server and hosted pages of its own. See README.md.
import type Stripe from 'stripe';
import { createAccount } from './accounts.ts';
import { type Api, handle, type Reply } from './api.ts';
import { type Books, found, idOf, newId, openBooks } from './books.ts';
import { answer, pay } from './buyer.ts';
import type { Permission } from './call.ts';
import { type Decline, declining, type Typed } from './cards.ts';
import { closeDispute, type DisputeOptions, openDispute } from './disputes.ts';
import { API_VERSION } from './endpoints.ts';
import { type How, type Match, openFaults } from './faults.ts';
import { openIdempotency, type Idempotency } from './idempotency.ts';
import { openKeys } from './keys.ts';
import { challengePage, type PageReply, sessionPage } from './pages.ts';
import { failPayout, payOut } from './payouts.ts';
import { type Incoming, type Outgoing, serve } from './server.ts';
import { passTime, settle } from './time.ts';
import type { Mode } from './types.ts';
import { openWebhooks, type Webhooks } from './webhooks.ts';

/** A card's number or an IBAN, or all that is typed. */
export type Typing = string | Typed;

export type AccountOptions = {
  /** In which it is registered; US by default. */
  readonly country?: string;
  /** What all its money is converted to; null: each currency has a balance of its own. */
  readonly settlement?: { readonly currency: string; readonly rate: number } | null;
  /** Takes amounts outside of Stripe's bounds. */
  readonly anyAmount?: boolean;
};

export type FakeAccount = {
  readonly id: string;
  readonly testKey: string;
  readonly liveKey: string;
  restrictedKey(mode: Mode, permissions: readonly Permission[]): string;
  /** The new key of the mode; the old one stops at once. */
  rollKey(mode: Mode): string;
};

export type BuyerOptions = {
  readonly fails3ds?: boolean;
  readonly abandons3ds?: boolean;
  /** The bank declines for this reason, whatever is typed. */
  readonly decline?: Decline;
};
export type Bought =
  | 'paid'
  | 'processing'
  | 'declined'
  | 'challenge_failed'
  /** The bank asks, and the buyer has gone. */
  | 'challenged'
  /** The page takes nothing any more. */
  | 'closed';

export type Recorded = {
  readonly method: string;
  readonly path: string;
  /** Behind the question mark. */
  readonly query: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
};

export type AccountBooks = {
  readonly sessions: readonly Stripe.Checkout.Session[];
  readonly intents: readonly Stripe.PaymentIntent[];
  readonly setups: readonly Stripe.SetupIntent[];
  readonly charges: readonly Stripe.Charge[];
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
  readonly balanceTransactions: readonly Stripe.BalanceTransaction[];
  readonly payouts: readonly Stripe.Payout[];
  readonly customers: readonly Stripe.Customer[];
  readonly methods: readonly Stripe.PaymentMethod[];
  readonly endpoints: readonly Stripe.WebhookEndpoint[];
};

export type StripeFake = {
  /** Of the API, and of the hosted pages. */
  readonly url: string;
  newAccount(options?: AccountOptions): FakeAccount;
  /** Its clock: real time and what it was advanced by. */
  now(): number;
  advance(ms: number): void;
  readonly buyer: {
    pays(sessionUrl: string, typing: Typing, options?: BuyerOptions): Promise<Bought>;
    /** Answers at the bank, for a session's page or the id of an intent. */
    answers3ds(sessionUrlOrId: string, isPassed: boolean): Promise<Bought>;
    /** Goes away without paying; the page stays open until it expires. */
    leaves(sessionUrl: string): void;
  };
  /** From now on each charge of this saved method is declined for this reason. */
  declines(paymentMethodId: string, because: Decline): void;
  /** The banks decide now: processing debits, pending refunds, and refunds that fail late. */
  settle(): void;
  next(match: Match, how: How): void;
  away(isAway: boolean): void;
  slow(ms: number): void;
  dispute(paymentIntentId: string, options?: DisputeOptions): string;
  /** `returned`: what of a lost one comes back, where it was won in part. */
  closeDispute(id: string, how: 'won' | 'lost', returned?: number): void;
  /** Pays out what no payout has taken; the ids of the payouts. */
  payOut(accountId: string, mode: Mode): readonly string[];
  /** The bank sends a payout back: its money is in the balance again. */
  failPayout(payoutId: string): void;
  readonly webhooks: Webhooks;
  books(accountId: string, mode: Mode): AccountBooks;
  requests(): readonly Recorded[];
  close(): Promise<void>;
};

const MODES: readonly Mode[] = ['test', 'live'];

/** `port`: 0 for any. */
export async function openStripeFake(options: { port?: number } = {}): Promise<StripeFake> {
  let offsetMs = 0;
  let url = '';
  const now = (): number => Date.now() + offsetMs;
  const all = new Map<string, { books: Books; idempotency: Idempotency }>();
  const requests: Recorded[] = [];
  const webhooks = openWebhooks();
  const keys = openKeys();
  const faults = openFaults();

  const of = (holder: { accountId: string; mode: Mode }) => {
    const one = all.get(`${holder.accountId} ${holder.mode}`);
    if (one === undefined) throw new Error(`no account ${holder.accountId}`);
    return one;
  };
  const everyBooks = (): Books[] => [...all.values()].map(({ books }) => books);
  const passAll = (): void => {
    for (const books of everyBooks()) passTime(books);
  };
  const api: Api = {
    keys,
    faults,
    booksOf: (holder) => of(holder).books,
    idempotencyOf: (holder) => of(holder).idempotency,
    passTime: passAll,
  };

  async function onRequest(request: Incoming): Promise<Outgoing | null> {
    if (!request.path.startsWith('/v1/')) {
      passAll();
      return faults.isAway ? null : onPage(everyBooks(), request);
    }
    const idempotencyKey = request.header('idempotency-key');
    const { method, path, query, body } = request;
    requests.push({ method, path, query, idempotencyKey, body });
    const authorization = request.header('authorization');
    const reply = await handle(api, {
      method,
      path,
      query,
      body,
      authorization,
      idempotencyKey,
    });
    return reply === null ? null : sent(reply, idempotencyKey);
  }

  const server = await serve(onRequest, options.port);
  url = server.url;

  const booksWith = (has: (books: Books) => boolean, what: string): Books => {
    passAll();
    const books = everyBooks().find(has);
    if (books === undefined) throw new Error(`no ${what}`);
    return books;
  };

  const fake: StripeFake = {
    url,
    now,
    advance(ms) {
      offsetMs += ms;
      passAll();
    },
    newAccount(made = {}) {
      const account = createAccount(made.country ?? 'US', Math.floor(now() / 1000));
      for (const mode of MODES) {
        const books = openBooks(
          {
            account,
            mode,
            url: () => url,
            anyAmount: made.anyAmount ?? false,
            settlement: made.settlement ?? null,
            nowMs: now,
          },
          (its, event) => {
            webhooks.tell(its, event);
          },
          API_VERSION,
        );
        all.set(`${account.id} ${mode}`, { books, idempotency: openIdempotency(now) });
      }
      const add = (mode: Mode, permissions: readonly Permission[] | null): string =>
        keys.add({ accountId: account.id, mode, permissions });
      const current = { test: add('test', null), live: add('live', null) };
      return {
        id: account.id,
        testKey: current.test,
        liveKey: current.live,
        restrictedKey: add,
        rollKey(mode) {
          keys.end(current[mode]);
          current[mode] = add(mode, null);
          return current[mode];
        },
      };
    },
    buyer: {
      async pays(sessionUrl, typing, buyer = {}) {
        const id = lastPartOf(sessionUrl);
        const books = booksWith((its) => its.sessions.has(id), `session ${id}`);
        const session = found(books.sessions, id, 'session');
        const paid = pay(books, session, typedOf(typing), buyer.decline ?? null);
        if (paid.kind === 'not_taken') return session.status === 'open' ? 'declined' : 'closed';
        if (paid.kind !== 'challenge') return paid.kind === 'done' ? 'paid' : paid.kind;
        if (buyer.abandons3ds === true) return 'challenged';
        return fake.buyer.answers3ds(sessionUrl, buyer.fails3ds !== true);
      },
      async answers3ds(where, isPassed) {
        const id = lastPartOf(where);
        const books = booksWith((its) => its.sessions.has(id) || its.facts.has(id), id);
        const session = books.sessions.get(id);
        const asked = session?.payment_intent ?? session?.setup_intent ?? id;
        const outcome = answer(books, idOf(asked), isPassed);
        if (outcome === null) return 'closed';
        if (outcome === 'declined') return isPassed ? 'declined' : 'challenge_failed';
        return outcome === 'processing' ? 'processing' : 'paid';
      },
      leaves(sessionUrl) {
        const id = lastPartOf(sessionUrl);
        booksWith((its) => its.sessions.has(id), `session ${id}`);
      },
    },
    declines(paymentMethodId, because) {
      const books = booksWith((its) => its.methods.has(paymentMethodId), paymentMethodId);
      const instrument = found(books.instruments, paymentMethodId, 'payment_method');
      books.instruments.set(paymentMethodId, declining(instrument, because));
    },
    settle() {
      for (const books of everyBooks()) settle(books, books.now());
    },
    next(match, how) {
      faults.next(match, how);
    },
    away(isAway) {
      faults.isAway = isAway;
    },
    slow(ms) {
      faults.slowMs = ms;
    },
    dispute(paymentIntentId, disputed) {
      const books = booksWith((its) => its.intents.has(paymentIntentId), paymentIntentId);
      return openDispute(books, paymentIntentId, disputed).id;
    },
    closeDispute(id, how, returned) {
      closeDispute(
        booksWith((its) => its.disputes.has(id), id),
        id,
        how,
        returned,
      );
    },
    payOut: (accountId, mode) => payOut(of({ accountId, mode }).books),
    failPayout(payoutId) {
      failPayout(
        booksWith((its) => its.payouts.has(payoutId), payoutId),
        payoutId,
      );
    },
    webhooks,
    books: (accountId, mode) => shown(of({ accountId, mode }).books),
    requests: () => requests,
    async close() {
      webhooks.close();
      await server.close();
    },
  };
  return fake;
}

const lastPartOf = (url: string): string =>
  url
    .replace(/[?#].*$/, '')
    .split('/')
    .at(-1) ?? '';

function typedOf(typing: Typing): Typed {
  if (typeof typing !== 'string') return typing;
  return /^[a-z]{2}\d/i.test(typing)
    ? { iban: typing }
    : { number: typing, expiry: '12/34', cvc: '123' };
}

function shown(books: Books): AccountBooks {
  return structuredClone({
    sessions: [...books.sessions.values()],
    intents: [...books.intents.values()],
    setups: [...books.setups.values()],
    charges: [...books.charges.values()],
    refunds: [...books.refunds.values()],
    disputes: [...books.disputes.values()],
    balanceTransactions: [...books.transactions.values()],
    payouts: [...books.payouts.values()],
    customers: [...books.customers.values()],
    methods: [...books.methods.values()],
    endpoints: [...books.endpoints.values()],
  });
}

function sent(reply: Reply, idempotencyKey: string | undefined): Outgoing {
  return {
    status: reply.status,
    body: reply.body,
    headers: {
      'content-type': 'application/json',
      'request-id': newId('req', 14),
      'stripe-version': API_VERSION,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(reply.isReplayed ? { 'idempotent-replayed': 'true' } : {}),
    },
  };
}

function onPage(all: readonly Books[], { method, path, body }: Incoming): Outgoing {
  const form = method === 'POST' ? new URLSearchParams(body) : null;
  const [, kind, id = ''] = /^\/(c\/pay|3ds)\/([^/]+)$/.exec(path) ?? [];
  for (const books of all) {
    const session = kind === 'c/pay' ? books.sessions.get(id) : undefined;
    if (session !== undefined) return page(sessionPage(books, session, form));
    if (kind === '3ds' && books.facts.has(id)) return page(challengePage(books, id, form));
  }
  return page({ status: 404, html: 'Not found' });
}

function page(reply: PageReply): Outgoing {
  return 'location' in reply
    ? { status: 303, headers: { location: reply.location }, body: '' }
    : {
        status: reply.status,
        headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
        body: reply.html,
      };
}
