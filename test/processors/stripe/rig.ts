// The Stripe adapter over the fake of Stripe, with a buyer at its pages: what the conformance suite
// needs of it.
import type { Log } from '../../../ledger/ports.ts';
import { timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import type {
  ChargeRequest,
  ChargeResult,
  Instrument,
  Processor,
} from '../../../src/processors/processor.ts';
import { guarded } from '../../../src/processors/guarded.ts';
import { Line } from '../../../src/processors/stripe/line.ts';
import { openStripe } from '../../../src/processors/stripe/stripe.ts';
import { openShared } from '../../../src/processors/stripe/under-way.ts';
import { freshDatabase } from '../../support/database.ts';
import type { Behaviour, Rig } from '../rig.ts';
import { type AccountOptions, type FakeAccount, openStripeFake, type StripeFake } from './fake.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** After which no page is open. */
export const PAGE_MS = 36 * 60_000;

export const SESSIONS = /^\/v1\/checkout\/sessions$/;
export const CAPTURE = /\/capture$/;

const card = (number: string): Instrument => ({
  type: 'card',
  number,
  expiry: '12/34',
  cvc: '123',
});
const debit = (iban: string): Instrument => ({ type: 'bank_debit', iban });

/** What the buyer types on Stripe's page. The adapter never sees it. */
const INSTRUMENTS: Rig['instruments'] = {
  succeeds: card('4242424242424242'),
  succeeds_at_first: card('4000000000000341'),
  settles: debit('DE89370400440532013000'),
  bounces: debit('DE62370400440532013001'),
  challenges: card('4000002500003155'),
  declines: card('4000000000000002'),
  errors: card('4000000000000119'),
  loses_the_answer: card('4000000000001000'),
  loses_the_request: card('4000000000001018'),
  refund_settles: card('4000000000007726'),
  refund_fails_late: card('4000000000005126'),
  disputed_lost: card('4000000000000259'),
  disputed_won: card('4000000000002685'),
};

const typedOf = (instrument: Instrument): string =>
  instrument.type === 'card' ? instrument.number : instrument.iban;

const ORGANISATION_ID = ids.next();

export type Adapter = {
  readonly fake: StripeFake;
  readonly account: FakeAccount;
  readonly sql: Sql;
  readonly failing: { count: number };
  /** The adapter, as another process has it. */
  open(options?: { readonly key?: string }): Processor;
  close(): Promise<void>;
};

/** A fake of Stripe with an account, a database, and any number of adapters on both. */
export async function openAdapter({
  log = SILENT,
  ...options
}: AccountOptions & { readonly log?: Log } = {}): Promise<Adapter> {
  const fake = await openStripeFake();
  const account = fake.newAccount(options);
  const database = await freshDatabase();
  const sql = openPool(database.url, { max: 8, applicationName: 'stripe test' });
  const failing = { count: 0 };
  const name = `stripe:${account.id}`;
  // Each look is later than a probe: what a test loses does not keep other calls from Stripe.
  let ms = 0;
  const clock = { monotonic: () => (ms += 10_000) };
  return {
    fake,
    account,
    sql,
    failing,
    open: ({ key = account.testKey } = {}) =>
      openStripe({
        sql,
        clock: fake,
        log,
        apiUrl: new URL(fake.url),
        account: { name, key, organisationId: ORGANISATION_ID },
        line: new Line({ clock, timers, log: SILENT }, name),
        onFailing: () => void (failing.count += 1),
      }),
    async close() {
      await fake.close();
      await sql.end();
      await database.drop();
    },
  };
}

export async function openRig(
  wrap: (processor: Processor) => Processor = (processor) => processor,
): Promise<Rig> {
  const adapter = await openAdapter({ anyAmount: true });
  const { fake } = adapter;
  const open = () => {
    const stripe = wrap(adapter.open());
    const buyer = openBuyer(stripe, fake);
    return { buyer, processor: { ...stripe, charge: buyer.charge } };
  };
  const { processor, buyer } = open();
  return {
    processor,
    another: open().processor,
    instruments: INSTRUMENTS,
    most: { amount: 999_999_999_999n, currency: 'IDR' },
    newKey: () => ids.next(),
    settle() {
      fake.settle();
      decideDisputes(adapter);
    },
    answer: (key, passed) => buyer.answer(key, passed),
    close: () => adapter.close(),
  };
}

/** As the sandbox decides them. */
function decideDisputes({ fake, account }: Adapter): void {
  for (const { id, status, reason } of fake.books(account.id, 'test').disputes) {
    if (status !== 'needs_response') continue;
    fake.closeDispute(id, reason === 'product_not_received' ? 'won' : 'lost');
  }
}

export const guardedRig = (): Promise<Rig> =>
  openRig((stripe) => guarded(stripe, { timers, deadlineMs: 30_000, log: SILENT }));

/** A charge together with what its buyer does on the page. */
function openBuyer(stripe: Processor, fake: StripeFake) {
  const shared = openShared();

  async function charge(request: ChargeRequest): Promise<ChargeResult> {
    const { key, instrument, ...rest } = request;
    const send = () => stripe.charge({ ...rest, key, instrument: null });
    const known = await stripe.findCharge(key);
    const behaviour = behaviourOf(instrument);
    const isNew = known.kind === 'not_attempted' && known.code === 'not_found';
    // A fault is planned only for a call that will be made.
    const isSent = isNew && /^[\w-]{1,200}$/.test(key) && request.amount > 0n;
    const planned = behaviour === null ? undefined : FAULTS[behaviour];
    if (isSent && planned !== undefined) {
      fake.next({ method: 'POST', path: SESSIONS }, planned);
    }
    const result = await send();
    if (behaviour === 'challenges') return result;
    // Its buyer has paid where another process has led it.
    if (result.kind === 'requires_confirmation') return stripe.confirmCharge(key);
    return result.kind === 'requires_action' ? act(request, behaviour, result.url) : result;
  }

  async function act(
    { key, instrument }: ChargeRequest,
    behaviour: Behaviour | null,
    url: string,
  ): Promise<ChargeResult> {
    if (instrument === null || behaviour === 'errors') return stripe.cancelCharge(key);
    await fake.buyer.pays(url, typedOf(instrument));
    // The page would take another card, but this buyer has no other.
    if (behaviour === 'declines') return stripe.cancelCharge(key);
    const found = await stripe.findCharge(key);
    if (found.kind !== 'requires_confirmation') return found;
    if (behaviour === 'loses_the_answer') {
      fake.next({ method: 'POST', path: CAPTURE }, 'lose_answer');
    }
    return stripe.confirmCharge(key);
  }

  return {
    charge: (request: ChargeRequest) => shared(request.key, () => charge(request)),
    async answer(key: string, passed: boolean): Promise<void> {
      const found = await stripe.findCharge(key);
      if (found.kind !== 'requires_action') return;
      await fake.buyer.pays(found.url, typedOf(INSTRUMENTS.challenges), { fails3ds: !passed });
      if (!passed) fake.advance(PAGE_MS);
    },
  };
}

/** What goes wrong where Stripe is asked for a page. */
const FAULTS: Partial<Record<Behaviour, 'rate_limit' | 'lose_request'>> = {
  errors: 'rate_limit',
  loses_the_request: 'lose_request',
};

function behaviourOf(instrument: Instrument | null): Behaviour | null {
  const found = Object.entries(INSTRUMENTS).find(([, one]) => one === instrument);
  return found === undefined ? null : (found[0] as Behaviour);
}
