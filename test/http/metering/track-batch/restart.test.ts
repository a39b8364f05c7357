// Keys that the process does not remember: the database knows them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../../../src/database/audit.ts';
import { postTo, restart, Setting } from '../setting.ts';

let setting: Setting;
let service: Awaited<ReturnType<typeof restart>>;
beforeAll(async () => {
  setting = await Setting.open({ alone: true });
  await setting.meter('api');
});
afterAll(async () => {
  await service.stop();
  await setting.stop();
});

test('after a restart the recorded items of a track batch are duplicates, and the rest is recorded', async () => {
  const customers = [await setting.customer(), await setting.customer()];
  const tracks = Array.from({ length: 100 }, (_, index) => ({
    feature_key: 'api',
    customer_id: customers[index % 2],
    idempotency_key: `key ${index}`,
  }));
  const first = await setting.post('/track/batch', { tracks: tracks.filter((_, at) => at % 3) });
  service = await restart(setting);
  const { testKey } = setting.server.organisation;
  const again = await postTo(service.url, testKey, { path: '/track/batch', body: { tracks } });
  const results = again.json.results as { duplicate: boolean }[];
  expect(results.map(({ duplicate }) => duplicate)).toEqual(tracks.map((_, at) => at % 3 > 0));
  expect(results.filter(({ duplicate }) => duplicate)).toEqual(
    first.json.results.map((result: object) => ({ ...result, duplicate: true })),
  );
  for (const id of customers) expect(await setting.consumed(id, 'api')).toEqual([50]);
  expect(await audit(setting.server.sql)).toEqual([]);
});
