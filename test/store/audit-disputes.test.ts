// The books of disputed payments: correct ones have no findings, and each kind of damage is found by
// its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { DisputeNews } from '../../ledger/payments/dispute.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { UNHURRIED, settle } from '../support/settling.ts';
import { ask, buy, sell } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { Books } from './books.ts';

let server: TestServer;

/** Won, lost, open; and beside a refund: one in part, one that found nothing left. */
let books: Books;

beforeAll(async () => {
  server = await startServer({ own: true, settings: () => UNHURRIED });
  const seller = { url: server.url, key: server.organisation.testKey };
  const product_id = await sell(seller, { USD: '10.00' });
  const one = (means: Parameters<typeof buy>[1]['means'][number]) =>
    buy(seller, { product_id, means: [means] });
  const refund = (payment: string, body: object) =>
    ask(seller, 'POST', `/payments/${payment}/refund`, body);
  const decided = [await one('disputedLost'), await one('disputedWon')];
  await settle(server);
  await until('they are decided', async () => {
    const payments = await Promise.all(decided.map((id) => ask(seller, 'GET', `/payments/${id}`)));
    return payments.every(({ disputes }) => disputes[0].status !== 'opened');
  });
  await one('disputedWon');
  await one('good');
  const part = await one('good');
  await refund(part, { amount: '3.00' });
  await dispute(part, { status: 'opened', amount: 500n });
  await dispute(part, { status: 'opened' });
  const late = await one('good');
  await refund(late, {});
  await dispute(late, { status: 'lost' });
  await until('invoices know', async () => {
    const [row] = await server.sql<{ count: bigint }[]>`select count(*) from followups`;
    return row?.count === 0n;
  });
  await server.payments.close();
  await server.ledger.close();
  await server.sql.unsafe(`
    alter table balances drop constraint balances_sound;
    alter table disputes drop constraint disputes_within_amount, drop constraint disputes_held_while_open,
      drop constraint disputes_taken_when_lost, drop constraint disputes_closed_at_a_time;
    alter table invoices drop constraint invoices_refunds_within_paid;
    drop index transfers_hold_once;
    drop trigger events_queued on events`);
  books = await Books.open(server);
});
afterAll(async () => {
  await books.close();
  await server.stop();
});

/** The ledger learns it, and the sandbox has it in its books, which say "all of it". */
async function dispute(
  paymentId: string,
  news: Pick<DisputeNews, 'status'> & Partial<DisputeNews>,
): Promise<void> {
  const usual = { amount: 1000n, currency: 'USD', reason: 'fraudulent', at: 0 } as const;
  const reference = `sandbox_dispute_${paymentId}`;
  const disputes = [{ ...usual, reference, ...news }];
  await server.ledger.payments.dispute(paymentId, { kind: 'found', disputes });
  await server.sql`
    update sandbox_charges set dispute = 'lost', dispute_ends_at = now() where key = ${paymentId}`;
}

const ASK = 'whatever is open is asked about again';
const BANK = 'the sandbox has disputed what disputes say';
const FOLD = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const ACCOUNT = 'I2 a payment is what its account says';
const CURRENCY = 'I1 debits equal credits for each currency';
const REFUND = 'I3 a refund is a hold on its payment';
const SUM = 'I3 what a payment gave back is the sum of its refunds and disputes';
const MOVES = 'I3 a dispute is what its transfers say';
const COVER = 'I4 a dispute takes all that is left, up to its amount';
const TOLD = 'I8 what became of a dispute was told last';
const GAP = 'I8 events of an object are numbered without a gap';
const STATE = 'I8 every payment, invoice, customer and subscription has told what its state says';
const RELAYED = 'an event waits for the relay, was passed, or is set aside';
const INVOICE = 'a captured payment has one invoice, which says the same';

const HELD = `(select id from disputes where held = 1000)`;
const PART = `(select payment_id from disputes where held = 700)`;
const LOST = `(select id from disputes where charged_back > 0)`;
const LOST_OF = `(select payment_id from disputes where charged_back > 0)`;
const LATE = `(select id from disputes where status = 'lost' and charged_back = 0)`;
const WON = `(select id from disputes where status = 'won')`;
const copy = (where: string, kind: string): string => `
  insert into transfers select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'kind', '${kind}', 'hold', null))).*
  from transfers t where ${where}`;

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  // what                                            statement                                                                     found by
  ['an invoice that has yet to hear of it',          `insert into followups select slot, gen_random_uuid(), 'dispute_settled', payment_id, '{"delta": "1000"}', now() from disputes where id = ${LOST}; update invoices set amount_charged_back = 0, event_sequence = event_sequence - 1 where payment_id = ${LOST_OF}; delete from events where type = 'invoice.updated' and object_id = (select id from invoices where payment_id = ${LOST_OF}); delete from event_queue q where not exists (select from events e where e.id = q.event_id)`, []],
  ['an invoice that does not say it',                `update invoices set amount_charged_back = 0 where payment_id = ${LOST_OF}`,  [INVOICE]],
  ['an invoice that calls it a refund',              `update invoices set amount_refunded = 1000, amount_charged_back = 0 where payment_id = ${LOST_OF}`, [INVOICE]],
  ['a payment that calls it a refund',               `update payments set status = 'refunded' where id = ${LOST_OF}`,              [ACCOUNT]],
  ['a dispute that is lost from the books',          `delete from disputes where id = ${LOST}`,                                    [ACCOUNT, SUM, MOVES, INVOICE, BANK]],
  ['a won one that is lost from the books',          `delete from disputes where id = ${WON}`,                                     [MOVES, BANK]],
  ['a dispute of another payment',                   `update disputes d set slot = p.slot, payment_id = p.id from payments p where d.id = ${LOST} and p.id = ${PART}`, [ACCOUNT, SUM, MOVES, TOLD, INVOICE, BANK]],
  ['one that took more than it says',                `update disputes set charged_back = 900 where id = ${LOST}`,                  [ACCOUNT, SUM, MOVES, INVOICE]],
  ['one that holds more than it says',               `update disputes set held = 900 where id = ${HELD}`,                          [SUM, MOVES]],
  ['a hold that is not the one it names',            `update disputes set hold = gen_random_uuid() where id = ${HELD}`,            [MOVES]],
  ['a transfer that is missing',                     `delete from transfers where kind = 'post' and answer ? 'dispute'`,           [FOLD, MOVES]],
  ['a hold that is missing',                         `delete from transfers where id = (select hold from disputes where id = ${HELD})`, [FOLD, MOVES]],
  ['a transfer too many',                            copy(`t.kind = 'post' and t.answer ? 'dispute'`, 'single'),                   [FOLD, MOVES]],
  ['a transfer that nobody disputed',                `update transfers set answer = jsonb_build_object('dispute', gen_random_uuid()) where id = (select hold from disputes where id = ${HELD})`, [MOVES]],
  ['a hold of no dispute and no refund',             `update transfers set answer = null where id = (select hold from disputes where id = ${HELD})`, [REFUND, MOVES]],
  ['what it holds was let go',                       `update balances set debits_pending = 0 where id = (select payment_id from disputes where held = 1000)`, [CURRENCY, FOLD, SUM]],
  ['one that takes less than is left',               `update disputes set held = 900 where id = ${HELD}; update balances set debits_pending = 900 where debits_pending = 1000`, [CURRENCY, FOLD, MOVES, COVER]],
  ['one that takes more than is disputed',           `update disputes set amount = 900 where id = ${LOST}`,                        [COVER, TOLD, BANK]],
  ['a lost one that is told as won',                 `update events set data = data || '{"status": "won"}' where type = 'payment.disputed' and data ->> 'status' = 'lost'`, [TOLD]],
  ['one that is told of another amount',             `update events set data = data || '{"amount": "9.00"}' where type = 'payment.disputed' and object_id = ${LOST_OF}`, [TOLD]],
  ['one that was not told',                          `delete from events where type = 'payment.disputed' and data ->> 'status' = 'lost' and object_id = ${LOST_OF}`, [STATE, TOLD, RELAYED]],
  ['one that was opened without a word',             `delete from events where type = 'payment.disputed' and data ->> 'status' = 'opened' and object_id = ${LOST_OF}`, [GAP, RELAYED]],
  ['a lost one that is called won',                  `update disputes set status = 'won' where id = ${LATE}`,                      [TOLD, BANK]],
  ['an open one that nobody asks about',             `update disputes set ask_at = null where id = ${HELD}; delete from alarms`,   [ASK]],
  ['an open one without an alarm',                   `delete from alarms`,                                                         [ASK]],
  ['one that the bank has not',                      `update sandbox_charges set dispute = null, dispute_ends_at = null where key = ${LOST_OF}::text`, [BANK]],
  ['one that the bank decided otherwise',            `update sandbox_charges set dispute = 'won' where key = ${LOST_OF}::text`,    [BANK]],
  ['one that only the bank has',                     `update sandbox_charges c set dispute = 'lost', dispute_ends_at = now() from payments p where p.id::text = c.key and c.dispute is null`, [BANK]],
];

test('the audit finds nothing in sound disputes', async () => {
  expect(await audit(server.sql)).toEqual([]);
});

test.each(DAMAGE)('the audit of disputes finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});

test('the audit finds nothing in disputes once the damage is undone', async () => {
  expect(await audit(server.sql)).toEqual([]);
});
