import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Setting } from './setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open({ alone: true });
  await setting.meter('api');
});
afterAll(() => setting.stop());

test('a node that is alone sends no hints', async () => {
  const item = { feature_key: 'api', customer_id: await setting.customer() };
  const call = { headers: { 'tollhouse-hints': '1' } };
  for (const [path, body] of [
    ['/check', item],
    ['/track', item],
    ['/check/batch', { checks: [item] }],
    ['/track/batch', { tracks: [item] }],
  ] as const) {
    const { status, headers } = await setting.post(path, body, call);
    expect(status).toBe(200);
    expect([headers.get('tollhouse-node'), headers.get('tollhouse-owner')]).toEqual([null, null]);
  }
});
