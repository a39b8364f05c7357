// A payment method that is stored after a charge was ordered and before it began is tried once: the
// charge takes it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { keepRowsOwed } from '../../support/crashes.ts';
import { until } from '../../support/until.ts';
import { CARDS, type Json, type Subject, Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open({ own: true });
});
afterAll(() => topped.close());

/**
 * A charge is ordered, and this card is stored before it begins. The payments that were made then.
 */
async function storedBefore(card: string): Promise<{ subject: Subject; made: Json[] }> {
  const { server } = topped;
  const subject = await topped.subject();
  await topped.put(subject);
  const crash = await keepRowsOwed(server);
  await topped.track(subject, 51);
  await topped.save(subject, card);
  expect(await topped.get(subject)).toMatchObject({ status: 'charging' });
  expect(await topped.payments(subject)).toEqual([]);
  await crash.stop();
  // They are not waited for: they were put off as they failed.
  await server.sql`update followups set next_at = null`;
  const open = () => server.sql`
    select id from followups union all select id from payments where status = 'processing'`;
  await until('nothing is under way', async () => (await open()).length === 0);
  return { subject, made: await topped.payments(subject) };
}

test('a card that declines is charged once by the top-up that was ordered before it was stored', async () => {
  const { subject, made } = await storedBefore(CARDS.declinesLater);
  expect(made).toMatchObject([{ status: 'failed' }]);
  await topped.settled(subject, { status: 'suspended', reason: 'declined' });
  // The next card is one more try.
  await topped.save(subject, CARDS.good);
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.payments(subject)).toHaveLength(2);
  expect(await audit(topped.server.sql)).toEqual([]);
});

test('a card that pays is charged once by the top-up that was ordered before it was stored', async () => {
  const { subject, made } = await storedBefore(CARDS.good);
  expect(made).toMatchObject([{ status: 'succeeded' }]);
  expect(await topped.level(subject)).toBe(549);
  expect(await audit(topped.server.sql)).toEqual([]);
});
