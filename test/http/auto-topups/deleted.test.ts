// A meter is deleted at the moment at which a top-up of it is put: nothing is charged for it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import { Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

async function nothingIsOwed(): Promise<void> {
  await until('nothing is owed', async () => {
    const { sql } = topped.server;
    return (await sql`select from followups where kind = 'top_up' limit 1`).length === 0;
  });
}

test('PUT of an auto top-up while its meter is being deleted is not found', async () => {
  const { server } = topped;
  const subject = await topped.subject({ units: 0 });
  const { customer, feature, priceId: price_id } = subject;
  // As DELETE does it: it has looked for top-ups, and has not committed.
  const putting = await server.sql.begin(async (deleting) => {
    await deleting`select 1 from meters where slug = ${feature} for update`;
    const body = { enabled: true, threshold: 50, amount: 500, price_id };
    const reply = topped.call('PUT', subject, body);
    await until('it waits for the meter', async () => {
      const waiting = await server.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await deleting`update meters set deleted_at = now() where slug = ${feature}`;
    return { reply };
  });
  const { status, json } = await putting.reply;
  expect([status, json.error]).toEqual([404, { type: 'not_found', message: 'no such feature' }]);
  await nothingIsOwed();
  const { json: listed } = await server.call('GET', `/customers/${customer}/auto-topups`);
  expect(listed.data).toEqual([]);
  expect(await topped.payments(subject)).toEqual([]);
  expect(await audit(server.sql)).toEqual([]);
});

test.each([1, 2, 3, 4, 5, 6])(
  'a meter deleted beside many PUTs of auto top-ups is deleted, or topped up (%d)',
  async () => {
    const subject = await topped.subject({ units: 0 });
    const { customer, feature, priceId: price_id } = subject;
    const body = { enabled: true, threshold: 50, amount: 500, price_id };
    const [gone] = await Promise.all([
      topped.server.call('DELETE', `/meters/${feature}`),
      ...Array.from({ length: 4 }, () => topped.call('PUT', subject, body)),
    ]);
    await nothingIsOwed();
    if (gone.status === 204) {
      expect(await topped.payments(subject)).toEqual([]);
      const { json } = await topped.server.call('GET', `/customers/${customer}/auto-topups`);
      expect(json.data).toEqual([]);
    }
    expect(await audit(topped.server.sql)).toEqual([]);
  },
);
