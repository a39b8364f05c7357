import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openMeterCatalogue, type MeterCatalogue } from '../../src/metering/meter-catalogue.ts';
import { findActiveMeter, listMetersOfEvent } from '../../src/records/meters.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Thousands of them are asked for: what the database would say is known. */
const INVENTED = 'invented-';

let server: TestServer;
let catalogue: MeterCatalogue;
let asked = 0;
let scope: { organisationId: string; mode: 'test' };

beforeAll(async () => {
  server = await startServer({ own: true });
  scope = { organisationId: server.organisation.id, mode: 'test' };
  catalogue = openMeterCatalogue({
    changes: server.changes,
    source: {
      findBySlug(of, slug) {
        asked += 1;
        if (slug.startsWith(INVENTED)) return Promise.resolve(null);
        return findActiveMeter(server.sql, of, slug);
      },
      listByEventName(of, eventName) {
        asked += 1;
        return listMetersOfEvent(server.sql, of, eventName);
      },
    },
  });
});
afterAll(() => server.stop());

const create = (body: object) => server.call('POST', '/meters', { body });

test('the meter catalogue answers a cached meter without a promise, an unknown one too', async () => {
  await create({ slug: 'a', event_name: 'e' });
  await create({ slug: 'b', event_name: 'e' });
  await server.untilHeard();
  expect((await catalogue.bySlug(scope, 'a'))?.slug).toBe('a');
  expect(await catalogue.bySlug(scope, 'nothing')).toBeNull();
  expect((await catalogue.byEventName(scope, 'e')).map(({ slug }) => slug)).toEqual(['a', 'b']);
  const before = asked;
  expect(catalogue.bySlug(scope, 'a')).toMatchObject({ slug: 'a', scale: 6 });
  expect(catalogue.bySlug(scope, 'nothing')).toBeNull();
  expect(catalogue.byEventName(scope, 'e')).toHaveLength(2);
  expect(asked).toBe(before);
  expect(await catalogue.bySlug({ ...scope, mode: 'live' }, 'a')).toBeNull();
  expect(await catalogue.bySlug({ ...scope, organisationId: server.other.id }, 'a')).toBeNull();
});

test('the meter catalogue has a change of its own process with the next request, unnotified', async () => {
  server.proxy.freeze();
  try {
    expect(await catalogue.bySlug(scope, 'new')).toBeNull();
    await create({ slug: 'new', event_name: 'n' });
    expect(await catalogue.bySlug(scope, 'new')).toMatchObject({ slug: 'new' });
    await server.call('PATCH', '/meters/new', { body: { status: 'archived' } });
    expect(await catalogue.bySlug(scope, 'new')).toBeNull();
    expect(await catalogue.byEventName(scope, 'n')).toEqual([]);
    await server.call('PATCH', '/meters/new', { body: { status: 'active' } });
    expect(await catalogue.bySlug(scope, 'new')).toMatchObject({ slug: 'new' });
    await server.call('DELETE', '/meters/new');
    expect(await catalogue.bySlug(scope, 'new')).toBeNull();
  } finally {
    server.proxy.thaw();
  }
});

test('the meter catalogue drops an answer that was on its way while the meter changed', async () => {
  await create({ slug: 'raced' });
  const underWay = catalogue.bySlug(scope, 'raced');
  await server.changes.publish('meter', scope.organisationId);
  await underWay;
  expect(catalogue.bySlug(scope, 'raced')).toBeInstanceOf(Promise);
});

test("an organisation that asks for endless meter names evicts its own entries, and no other's", async () => {
  const other = { organisationId: server.other.id, mode: 'test' } as const;
  // On a busy machine the listener may be late, and then all is forgotten, or what is read
  // meanwhile is not kept: that round is repeated.
  let heard = 0;
  const hear = (): void => void (heard += 1);
  server.changes.subscribe({ changed: hear, reset: hear });
  let [before, kept, heardBefore]: [number, unknown, number] = [0, undefined, 0];
  do {
    heardBefore = heard;
    await catalogue.bySlug(other, 'kept');
    await catalogue.bySlug(scope, 'forgotten');
    for (let n = 0; n < 5000; n += 1) await catalogue.bySlug(scope, INVENTED + n);
    before = asked;
    kept = catalogue.bySlug(other, 'kept');
  } while (heard !== heardBefore || !server.changes.trusted);
  expect(kept).toBeNull();
  expect(asked).toBe(before);
  await catalogue.bySlug(scope, 'forgotten');
  expect(asked).toBe(before + 1);
});
