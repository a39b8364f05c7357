// Alerts where no endpoint hears of them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Watching } from './watching.ts';

let watching: Watching;
beforeAll(async () => {
  watching = await Watching.open({}, { isHeard: false });
});
afterAll(() => watching.stop());

test('an alert writes no event until an endpoint subscribes, and still shows that it has fired', async () => {
  const usual = { url: 'https://hooks.example/b' };
  const { json } = await watching.setting.post('/webhook-endpoints', usual);
  expect(json.event_types).not.toContain('alert.triggered');
  expect(json.event_types).not.toContain('alert.recovered');
  const feature = await watching.feature();
  const customer = await watching.setting.customer();
  await watching.setting.grant(customer, feature, { amount: 100 });
  await watching.alert(feature, { type: 'usage', threshold: 50 });
  await watching.alert(feature, { type: 'usage', threshold: 80 });
  await watching.use(customer, feature, 60);
  expect(await watching.told(customer, feature)).toEqual([]);
  expect(await watching.triggered(customer)).toEqual(['usage 50']);
  await watching.hear(['alert.triggered']);
  await watching.use(customer, feature, 20);
  expect(await watching.told(customer, feature)).toEqual(['triggered usage 80']);
});
