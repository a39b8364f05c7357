// Correct books have no findings; each kind of damage to subscriptions is found by its check.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { Club } from '../http/subscriptions/subscribing.ts';
import { Books } from './books.ts';

setDefaultTimeout(60_000);

let club: Club;
/** One active, one in dunning, one whose customer has no payment method, one ended, one paused. */
const of: Record<'good' | 'failing' | 'unpayable' | 'ended' | 'paused', string> = {
  good: '',
  failing: '',
  unpayable: '',
  ended: '',
  paused: '',
};
let books: Books;

beforeAll(async () => {
  club = await Club.open({ own: true });
  const plan = await club.plan();
  const [good, failing, ended, paused] = await Promise.all([
    club.signUp(plan),
    club.signUp(plan, 'renewalFails'),
    club.signUp(plan),
    club.signUp(plan),
  ]);
  const unpayable = await club.subscribe(plan, await club.customer());
  const all = { good, failing, ended, paused, unpayable };
  for (const [name, { id }] of Object.entries(all)) of[name as keyof typeof of] = id;
  await club.act(of.ended, 'cancel', { mode: 'immediate' });
  await club.act(of.paused, 'pause');
  await club.advance('P15D');
  await club.advance('P18D');
  const { server } = club.shop;
  await server.payments.close();
  await server.ledger.close();
  await server.sql.unsafe(`
    alter table invoices drop constraint invoices_add_up, drop constraint invoices_number_once,
      drop constraint invoices_numbered_when_issued, drop constraint invoices_paid_in_full;
    alter table subscriptions drop constraint subscriptions_end_is_final;
    drop trigger events_queued on events`);
  books = await Books.open(club.shop.server);
});
afterAll(async () => {
  await books.close();
  await club.close();
});

test('the audit finds nothing in sound subscriptions', async () => {
  expect(await audit(club.shop.server.sql)).toEqual([]);
});

const RELAYED = 'an event waits for the relay, was passed, or is set aside';
const GAP = 'I8 events of an object are numbered without a gap';
const STATE = 'I8 every payment, invoice, customer and subscription has told what its state says';
const TOLD = 'I8 what became of a payment and its refunds was told once';
const INVOICE = 'a captured payment has one invoice, which says the same';
const RINGS = 'a subscription rings when something is due';
const WAITS = 'a subscription waits for invoices that are unpaid';
const KNOWN = 'an unpaid invoice is known to its subscription';
const DECIDED = 'a charge that a subscription waits for is being decided';
const ONCE = 'an invoice is charged once';
const PERIOD = 'a period has one invoice';
const BEGINS = 'a period begins where the one before it ended';
const ANCHOR = 'a period is counted from its anchor';
const BILLED = 'the present period of a subscription is billed';
const ALLOWANCE = 'allowances are as their subscription is';
const LIMIT = 'the limit is what grants have left and what they have covered';
const OWED = 'nothing is owed for an hour';

const alarmOf = (name: keyof typeof of): string => `subject_id = '${of[name]}'`;
const idOf = (name: keyof typeof of): string => `id = '${of[name]}'`;
const itsOwn = (name: keyof typeof of): string => `subscription_id = '${of[name]}'`;
const unpaid = (): string =>
  `(select id from invoices where ${itsOwn('failing')} and status = 'open')`;
const paid = (): string => `${itsOwn('good')} and billing_reason = 'subscription_cycle'`;
/** The open invoice, with other fields. */
const waits = (fields: string): string =>
  `update subscriptions set open = jsonb_build_array((open -> 0) || ${fields}::jsonb) where ${idOf('failing')}`;

// prettier-ignore
const DAMAGE: [string, () => string, string[]][] = [
  ['a live subscription without its alarm',       () => `delete from alarms where ${alarmOf('good')}`,                                      [RINGS]],
  ['one that rings too late',                     () => `update alarms set due_at = due_at + interval '1 second' where ${alarmOf('failing')}`, [RINGS]],
  ['one that rings though it is paused',          () => `insert into alarms select (jsonb_populate_record(a, '{"subject_id": "${of.paused}"}')).* from alarms a where ${alarmOf('good')}`, [RINGS]],
  ['an alarm of what has ended',                  () => `insert into alarms select (jsonb_populate_record(a, jsonb_build_object('subject_id', '${of.ended}', 'actor_id', (select customer_id from subscriptions where ${idOf('ended')})))).* from alarms a where ${alarmOf('good')}`, [RINGS]],
  ['an alarm of nothing',                         () => `update alarms set subject_id = gen_random_uuid() where ${alarmOf('good')}`,        [RINGS]],
  ['one that nobody loads',                       () => `update subscriptions set live = false where ${idOf('good')}`,                      [RINGS]],
  ['a try that nobody makes',                     () => waits(`'{"retryAt": null}'`),                                                         [RINGS]],
  ['an unpaid invoice that nobody chases',        () => `update subscriptions set open = '[]', overdue = 'clear' where ${idOf('failing')}; delete from alarms where ${alarmOf('failing')}; insert into alarms select (jsonb_populate_record(a, jsonb_build_object('subject_id', s.id, 'actor_id', s.customer_id, 'slot', s.slot, 'due_at', s.period_end))).* from alarms a, subscriptions s where a.${alarmOf('good')} and s.${idOf('failing')}`, [KNOWN]],
  ['one of which there is a void one alone',      () => `update invoices set status = 'void' where id = ${unpaid()}`,                       [WAITS]],
  ['the same, and it has yet to hear of it',       () => `update invoices set status = 'void' where id = ${unpaid()}; insert into followups (slot, id, kind, subscription_id, customer_id, data, at) select slot, gen_random_uuid(), 'tell', id, customer_id, jsonb_build_object('news', jsonb_build_object('kind', 'close_invoice', 'invoiceId', open -> 0 -> 'invoiceId')), now() from subscriptions where ${idOf('failing')}`, []],
  ['one that is not there',                       () => waits(`'{"invoiceId": "01890000-0000-7000-8000-000000000000"}'`),                     [WAITS, KNOWN]],
  ['one of another amount',                       () => waits(`'{"amount": {"$": "1"}}'`),                                                    [WAITS]],
  ['one of another subscription',                 () => `update invoices set subscription_id = '${of.paused}' where id = ${unpaid()}`,      [WAITS, BILLED]],
  ['a paid invoice that is still chased',         () => `update invoices set status = 'paid', amount_paid = total, paid_at = now() where id = ${unpaid()}`, [WAITS]],
  ['a charge that was never made',                () => waits(`'{"paymentId": "01890000-0000-7000-8000-000000000000"}'`),                     [DECIDED]],
  ['a charge whose answer was not told',          () => waits(`(select jsonb_build_object('paymentId', id) from payments where status = 'failed' and ${itsOwn('failing')} limit 1)`), [DECIDED]],
  ['an invoice that was charged twice',           () => `update payments set invoice_id = (select id from invoices where ${paid()}) where ${itsOwn('good')}`, [ONCE, INVOICE, TOLD]],
  ['two invoices of a period',                    () => `insert into invoices select (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'number', 'INV-2026-000099', 'payment_id', null))).* from invoices i where ${paid()}; update invoice_counters set last = last + 1; update invoices set number = 'INV-2026-' || lpad((select last::text from invoice_counters), 6, '0') where number = 'INV-2026-000099'`, [PERIOD, STATE]],
  ['a gap between two periods',                   () => `update invoices set period_end = period_end - interval '1 day' where ${itsOwn('good')} and billing_reason = 'subscription_create'`, [BEGINS]],
  ['a period that was never billed',              () => `update invoices set period_start = period_start + interval '1 hour' where ${paid()}`, [BEGINS, BILLED]],
  ['a period that drifts',                        () => `update subscriptions set period_end = period_end + interval '1 ms' where ${idOf('good')}; update alarms set due_at = due_at + interval '1 ms' where ${alarmOf('good')}`, [ANCHOR]],
  ['a period of another number',                  () => `update subscriptions set period_index = period_index + 1 where ${idOf('good')}`,   [ANCHOR]],
  ['an allowance of what has ended',              () => `update grants set ended_at = null, ended_how = null where ${itsOwn('ended')}`,     [ALLOWANCE]],
  ['an allowance of nothing',                     () => `update grants set subscription_id = gen_random_uuid() where ${itsOwn('good')}`,    [ALLOWANCE]],
  ['one of somebody else',                        () => `update grants set customer_id = gen_random_uuid() where ${itsOwn('good')}`,        [ALLOWANCE, LIMIT]],
  ['one that may be used though it is paused',    () => `update grants set suspended = null where ${itsOwn('paused')}`,                     [ALLOWANCE]],
  ['one that may not though nothing is against it', () => `update grants set suspended = 'blocked' where ${itsOwn('good')} and ended_at is null`, [ALLOWANCE]],
  ['what is owed since yesterday',                () => `insert into followups (slot, id, kind, payment_id, data, at, written_at) select slot, gen_random_uuid(), 'refund_settled', id, '{"delta": "0"}', now(), now() - interval '1 day' from payments where ${itsOwn('good')} limit 1`, [OWED]],
  ['an event that is lost',                       () => `delete from events where object_id = '${of.good}' and sequence = 2`,               [GAP, TOLD, RELAYED]],
  ['the last one that is lost',                   () => `delete from events where object_id = '${of.good}' and sequence = (select sequence from subscriptions where ${idOf('good')})`, [STATE, TOLD, RELAYED]],
  ['a subscription that forgot an event',         () => `update subscriptions set sequence = sequence - 1 where ${idOf('good')}`,           [STATE]],
];

test.each(DAMAGE)('the audit of subscriptions finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement())).toEqual(found.toSorted());
});

test('the audit finds nothing in subscriptions once the damage is undone', async () => {
  expect(await audit(club.shop.server.sql)).toEqual([]);
});
