// The Stripe adapter: one connected account as a processor. See the README for how Stripe's objects
// and the port correspond.
import type { Clock, Log } from '../../../ledger/ports.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { Processor } from '../processor.ts';
import { chargeRefusal } from './amounts.ts';
import { openAsk } from './answers.ts';
import { cancelCharge } from './cancel.ts';
import { ACTION_MS, charge, confirmCharge } from './charges.ts';
import { stripeClient } from './client.ts';
import { findDisputes } from './disputes.ts';
import { refund, refundState } from './refunds.ts';
import { chargeSaved, forget } from './saved.ts';
import { chargeState, type StripeDeps } from './states.ts';
import { findCharge } from './store.ts';
import type { Line } from './line.ts';
import { openShared } from './under-way.ts';

export type StripeOptions = {
  readonly sql: Sql;
  /** Stripe's own time: no test clock moves it. */
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** Where Stripe is, if not at its own address. */
  readonly apiUrl: URL | null;
  readonly account: {
    /** `stripe:acct_…` */
    readonly name: string;
    readonly key: string;
    /** Whose it is. */
    readonly organisationId: string;
  };
  /** Bounds what is under way at once. */
  readonly line: Line;
  /** Called whenever Stripe does not accept the key. */
  readonly onFailing: () => void;
};

const PAGE_ORIGIN = 'https://checkout.stripe.com';

/** Later than the deadline of a call (registry.ts). */
const FIRST_ASK_MS = 9000;
/** Until its first retry, dunning has a day. */
const RETRY_LOST_MS = 20 * 60 * 60_000;

export function openStripe(options: StripeOptions): Processor {
  const { sql, clock, log, apiUrl, account, line, onFailing } = options;
  const stripe = stripeClient({ key: account.key, apiUrl });
  const ask = openAsk({ line, log, account: account.name, onFailing });
  const { name, organisationId } = account;
  const deps: StripeDeps = { sql, stripe, ask, account: name, organisationId, clock };
  const shared = openShared();
  return {
    name: account.name,
    page: 'redirect',
    pageOrigin: apiUrl?.origin ?? PAGE_ORIGIN,
    actionMs: ACTION_MS,
    firstAskMs: FIRST_ASK_MS,
    retryLostMs: RETRY_LOST_MS,
    refusalOf: chargeRefusal,
    charge: (request) => shared(`charge ${request.key}`, () => charge(deps, request)),
    chargeSaved: (request) => shared(`charge ${request.key}`, () => chargeSaved(deps, request)),
    forget: (saved) => forget(deps, saved),
    findCharge: async (key) => chargeState(deps, await findCharge(sql, key)),
    confirmCharge: (key) => shared(`confirm ${key}`, () => confirmCharge(deps, key)),
    cancelCharge: (key) => shared(`cancel ${key}`, () => cancelCharge(deps, key)),
    refund: (request) => shared(`refund ${request.key}`, () => refund(deps, request)),
    findRefund: (key) => refundState(deps, key),
    findDisputes: (chargeKey) => findDisputes(deps, chargeKey),
  };
}
