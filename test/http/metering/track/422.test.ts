import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('other');
  customer = await setting.customer();
  await setting.grant(customer, 'api', { amount: 100 });
});
afterAll(() => setting.stop());

const FIRST = { value: 3, metadata: { a: '1' } };

// prettier-ignore
const OTHERS: [string, Fields][] = [
  ['another value',          { value: 4 }],
  ['other metadata',         { metadata: { a: '2' } }],
  ['more metadata',          { metadata: { a: '1', b: '' } }],
  ['no metadata',            { metadata: undefined }],
  ['another feature',        { feature_key: 'other' }],
  ['overage: reject',        { overage: 'reject' }],
];

const KEYS = ['idempotency_key', 'header'] as const;

test.each(OTHERS.flatMap((other) => KEYS.map((by) => [...other, by] as const)))(
  "a track's key that was used for another body is 422: %s %p, by %s",
  async (what, fields, by) => {
    const key = `${what} ${by}`;
    const call = by === 'header' ? { headers: { 'idempotency-key': key } } : {};
    const body = { ...FIRST, ...(by !== 'header' && { idempotency_key: key }) };
    expect((await setting.track(customer, 'api', body, call)).status).toBe(200);
    const request = () => setting.track(customer, 'api', { ...body, ...fields }, call);
    expect(refusal(await setting.withoutTrace(request))).toEqual([422, 'idempotency_key_reused']);
  },
);

testBooksClose(() => setting);
