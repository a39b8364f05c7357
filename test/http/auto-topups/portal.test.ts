// The customer sees it on the portal page, and may switch it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { rowsOf } from '../audit-log/reading.ts';
import { CARDS, Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

test("the portal's API switches an auto top-up off and on again", async () => {
  const subject = await topped.subject();
  const { portal, feature } = subject;
  await topped.put(subject);
  const off = await portal.post(`auto-topups/${feature}`, { enabled: false });
  expect([off.status, off.json]).toEqual([200, await topped.get(subject)]);
  expect(off.json).toMatchObject({ enabled: false, threshold: 50, amount: 500, status: 'armed' });
  await topped.track(subject, 60);
  expect(await topped.payments(subject)).toEqual([]);
  // It looks at the level when it is on again.
  const on = await portal.post(`auto-topups/${feature}`, { enabled: true });
  expect(on.json).toMatchObject({ enabled: true, status: 'charging' });
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.level(subject)).toBe(540);
  const rows = await rowsOf(topped.server.sql, 'switchAutoTopupInPortal');
  expect(rows.filter((row) => row['actor_id'] === subject.customer)).toMatchObject([
    { object_type: 'auto_topup', object_id: `${subject.customer}/${feature}` },
    { object_type: 'auto_topup' },
  ]);
});

test('the portal page says what an auto top-up does, and has a button for it', async () => {
  const subject = await topped.subject();
  const { portal, feature } = subject;
  expect((await portal.get()).text).not.toContain('Automatic top-ups');
  await topped.put(subject, { limit: { count: 3, interval: 'week' } });
  const { text } = await portal.get();
  expect(text).toContain('Automatic top-ups');
  expect(text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')).toContain(
    'Adds 500 for $10.00 whenever fewer than 50 are left, at most 3 a week.',
  );
  const { status, headers } = await portal.submit(`auto-topups/${feature}`, { enabled: 'false' });
  expect([status, headers.get('location')]).toEqual([
    303,
    expect.stringContaining('done=topup_off'),
  ]);
  expect(await topped.get(subject)).toMatchObject({ enabled: false });
  await portal.submit(`auto-topups/${feature}`, { enabled: 'true' });
  expect(await topped.get(subject)).toMatchObject({ enabled: true });
});

test('the portal page of a suspended auto top-up says what to do, and a new card resumes it', async () => {
  const subject = await topped.subject({ card: CARDS.declinesLater, units: 0 });
  await topped.put(subject);
  await topped.settled(subject, { status: 'suspended' });
  expect((await subject.portal.get()).text).toContain('Replace the payment method below');
  await topped.save(subject, CARDS.good);
  await topped.settled(subject, { status: 'armed' });
});

test('an auto top-up of another customer is not found in the portal', async () => {
  const [mine, other] = [await topped.subject(), await topped.subject()];
  await topped.put(other);
  for (const feature of [mine.feature, other.feature, 'nothing', '%00']) {
    const { status, json } = await mine.portal.post(`auto-topups/${feature}`, { enabled: false });
    expect([status, json.error.type]).toEqual([404, 'not_found']);
  }
  expect((await mine.portal.submit('auto-topups/nothing', { enabled: 'true' })).status).toBe(404);
  for (const body of [{}, { enabled: 'no' }, { enabled: false, amount: 1 }]) {
    const { status } = await other.portal.post(`auto-topups/${other.feature}`, body);
    expect(status).toBe(400);
  }
  expect(await topped.get(other)).toMatchObject({ enabled: true });
});
