// Each kind of damage to automatic top-ups is found by its check; sound books have no findings.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { TOPUP_CHECKS } from '../../src/database/audit-topups.ts';
import { CARDS, type Subject, Topped } from '../http/auto-topups/setting.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

const [GRANTED, COUNTED, DECIDED, RINGS] = Object.keys(TOPUP_CHECKS) as [
  string,
  string,
  string,
  string,
];

let topped: Topped;
/** One that was captured, one that waits for its next try. */
let paid: Subject;
let waiting: Subject;
beforeAll(async () => {
  topped = await Topped.open({ own: true });
  paid = await topped.subject({ units: 0 });
  waiting = await topped.subject({ card: CARDS.poorLater, units: 0 });
  await topped.put(paid);
  await topped.put(waiting);
  await topped.settled(paid, { status: 'armed' });
  await topped.settled(waiting, { status: 'charging' });
  await until('it is billed', async () => (await topped.invoices(paid)).length > 0);
});
afterAll(() => topped.close());

/** The checks that find something after this damage, which is taken back. */
async function foundAfter(damage: string): Promise<string[]> {
  const found: string[] = [];
  const undone = new Error('undone');
  await topped.server.sql
    .begin(async (transaction) => {
      await transaction.unsafe(damage);
      for (const [name, query] of Object.entries(TOPUP_CHECKS)) {
        if ((await transaction.unsafe(query)).length > 0) found.push(name);
      }
      throw undone;
    })
    .catch((error: unknown) => expect(error).toBe(undone));
  return found;
}

const itsGrant = () => `id in (select id from payments where customer_id = '${paid.customer}')`;
const its = (subject: Subject) => `customer_id = '${subject.customer}'`;
const settling = `insert into followups (slot, id, kind, payment_id, data, at) select slot, gen_random_uuid(),
  'payment_settled', id, '{}', now() from payments where`;

// prettier-ignore
const DAMAGE: [string, () => string, string[]][] = [
  ['nothing',                                   () => 'select 1',                                                                      []],
  ['a capture without its grant',               () => `delete from grants where ${itsGrant()}`,                                        [GRANTED]],
  ['the same, which has not been told yet',     () => `delete from grants where ${itsGrant()}; ${settling} ${its(paid)}; update auto_topups set captures = 0 where ${its(paid)}`, []],
  ['a grant whose charge failed',               () => `insert into grants select (jsonb_populate_record(g, jsonb_build_object('id', p.id))).* from grants g, payments p where g.${itsGrant()} and p.${its(waiting)}`, [GRANTED]],
  ['a grant to somebody else',                  () => `update grants set customer_id = '${waiting.customer}' where ${itsGrant()}`,     [GRANTED]],
  ['a grant of another kind',                   () => `update grants set source = 'manual' where ${itsGrant()}`,                       [GRANTED]],
  ['a capture that was not counted',            () => `update auto_topups set captures = 0 where ${its(paid)}`,                        [COUNTED]],
  ['one that was counted and is not there',     () => `update auto_topups set captures = 2, ordered = 2 where ${its(paid)}`,           [COUNTED]],
  ['a charge that nobody ordered',              () => `update auto_topups set ordered = 0, captures = 0 where ${its(waiting)}`,        [COUNTED]],
  ['a charge of no top-up',                     () => `delete from auto_topups where ${its(waiting)}`,                                 [COUNTED]],
  ['a charge that is under way and not there',  () => `update auto_topups set charge = '{"paymentId": "01890000-0000-7000-8000-000000000000"}' where ${its(paid)}`, [DECIDED]],
  ['the same, which is ordered',                () => `update auto_topups set charge = '{"paymentId": "01890000-0000-7000-8000-000000000000"}' where ${its(paid)}; insert into followups (slot, id, kind, customer_id, data, at) select slot, gen_random_uuid(), 'top_up', customer_id, '{"paymentId": "01890000-0000-7000-8000-000000000000"}', now() from auto_topups where ${its(paid)}`, []],
  ['a charge that is open beside the top-up',   () => `update payments set status = 'processing' where ${its(waiting)}`,               [DECIDED]],
  ['a next try that nobody makes',              () => `delete from alarms where actor_id = '${waiting.customer}'`,                     [RINGS]],
  ['one that is made too late',                 () => `update alarms set due_at = due_at + interval '1 second' where actor_id = '${waiting.customer}'`, [RINGS]],
];

test.each(DAMAGE)('the audit of auto top-ups finds %s', async (_name, damage, checks) => {
  expect(await foundAfter(damage())).toEqual(checks);
});
