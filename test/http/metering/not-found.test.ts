// A missing object, and one of another organisation or mode, give the same 404 everywhere, and no
// trace of the call is stored.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Call, Reply } from '../../support/server.ts';
import { NOT_FOUND, refusal, Setting, testBooksClose } from './setting.ts';

let setting: Setting;
let customer: string;
let grant: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('feature');
  customer = await setting.customer({ external_customer_id: 'mine' });
  grant = (await setting.grant(customer, 'feature'))['id'] as string;
  // The other organisation and mode have a feature of the same name and a customer of their own.
  const { organisation, other } = setting.server;
  for (const key of [organisation.liveKey, other.testKey, other.liveKey]) {
    await setting.meter('feature', {}, { key });
    await setting.customer({ external_customer_id: 'theirs' }, { key });
  }
});
afterAll(() => setting.stop());

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

type Request = (call: Call) => Promise<Reply>;

/** Requests about a customer and a grant. */
const requestsOf = (id: string, grantId: string): [string, Request][] => [
  ['POST /check', (call) => setting.check(id, 'feature', {}, call)],
  ['POST /check consume', (call) => setting.check(id, 'feature', { consume: true }, call)],
  ['POST /track', (call) => setting.track(id, 'feature', {}, call)],
  [
    'POST /track reject, keyed',
    (call) => setting.track(id, 'feature', { overage: 'reject', idempotency_key: 'k' }, call),
  ],
  ['GET balances', (call) => setting.server.call('GET', `/customers/${id}/balances`, call)],
  [
    'POST grants',
    (call) => setting.post(`/customers/${id}/grants`, { feature_key: 'feature', amount: 1 }, call),
  ],
  ['POST void', (call) => setting.server.call('POST', `/grants/${grantId}/void`, call)],
];

const NAMES = requestsOf('', '').map(([name]) => name);
const requestOf = (name: string, id: string, grantId: string): Request =>
  requestsOf(id, grantId).find(([other]) => other === name)![1];

test.each(NAMES)('%s of a customer with an unknown id is 404', async (name) => {
  const reply = await setting.withoutTrace(() => requestOf(name, UNKNOWN, UNKNOWN)({}));
  expect(refusal(reply)).toEqual(NOT_FOUND);
});

const CALLERS = ['organisation.liveKey', 'other.testKey', 'other.liveKey'] as const;
const keyOf = (caller: (typeof CALLERS)[number]): string => {
  const [who, mode] = caller.split('.') as ['organisation' | 'other', 'testKey' | 'liveKey'];
  return setting.server[who][mode];
};

test.each(NAMES.flatMap((name) => CALLERS.map((caller) => [name, caller] as const)))(
  '%s of a customer by %s is as if it did not exist',
  async (name, caller) => {
    const call = { key: keyOf(caller) };
    const unknown = await requestOf(name, UNKNOWN, UNKNOWN)(call);
    const reply = await setting.withoutTrace(() => requestOf(name, customer, grant)(call));
    expect([reply.status, reply.text]).toEqual([404, unknown.text]);
  },
);

test.each(CALLERS)(
  '%s cannot reach a customer by the external id that its merchant gave it',
  async (caller) => {
    const call = { key: keyOf(caller) };
    const body = { feature_key: 'feature', external_customer_id: 'mine' };
    const replies = [
      await setting.withoutTrace(() => setting.post('/check', body, call)),
      await setting.withoutTrace(() => setting.post('/track', body, call)),
    ];
    expect(replies.map(refusal)).toEqual([NOT_FOUND, NOT_FOUND]);
    const balances = await setting.server.call('GET', '/customers/mine/balances', call);
    expect(refusal(balances)).toEqual(NOT_FOUND);
  },
);

test.each(CALLERS)('%s sees an issue for the customer in a batch of events', async (caller) => {
  const events = [{ name: 'feature', customer_id: customer }];
  const reply = await setting.withoutTrace(() => setting.ingest(events, { key: keyOf(caller) }));
  expect(reply.status).toBe(400);
  expect(reply.json.error.issues[0].path).toEqual(['events', '0', 'customer_id']);
});

// prettier-ignore
const FEATURES: [string, string][] = [
  ['unknown',              'nothing'],
  ['no slug at all',       'NOT a slug'],
  ['in capitals',          'FEATURE'],
  ['with a new line',      'feature\n'],
  ['of another script',    'féature'],
];

test.each(FEATURES)('usage of a feature that is %s is 404', async (_what, feature) => {
  const replies = [
    () => setting.check(customer, feature),
    () => setting.check(customer, feature, { consume: true }),
    () => setting.track(customer, feature),
    () => setting.post(`/customers/${customer}/grants`, { feature_key: feature, amount: 1 }),
  ];
  for (const request of replies) {
    expect(refusal(await setting.withoutTrace(request))).toEqual(NOT_FOUND);
  }
});

test('usage of a feature whose meter was archived or deleted is 404', async () => {
  await setting.meter('gone');
  await setting.server.call('PATCH', '/meters/gone', { body: { status: 'archived' } });
  expect(refusal(await setting.track(customer, 'gone'))).toEqual(NOT_FOUND);
  await setting.server.call('DELETE', '/meters/gone');
  expect(refusal(await setting.track(customer, 'gone'))).toEqual(NOT_FOUND);
});

// prettier-ignore
const REFERENCES: [string, string][] = [
  ['an unknown name',      'nobody'],
  ['NUL',                  'a%00b'],
  ['a broken escape',      '%zz'],
  ['broken UTF-8',         '%ff'],
  ['a slash',              'a%2Fb'],
  ['a very long one',      'x'.repeat(5000)],
  ['SQL',                  "'%20or%201=1--"],
  ['an array of SQL',      '%7B%22a%22,NULL%7D'],
];

test.each(REFERENCES)('a customer in the path that is %s is 404', async (_what, reference) => {
  const path = `/customers/${reference}`;
  expect(refusal(await setting.server.call('GET', `${path}/balances`))).toEqual(NOT_FOUND);
  const body = { feature_key: 'feature', amount: 1 };
  expect(refusal(await setting.post(`${path}/grants`, body))).toEqual(NOT_FOUND);
});

test.each(REFERENCES)('a grant in the path that is %s is 404', async (_what, reference) => {
  const reply = await setting.server.call('POST', `/grants/${reference}/void`);
  expect(refusal(reply)).toEqual(NOT_FOUND);
});

test.each(REFERENCES.filter(([, text]) => !text.includes('%00')))(
  'an external_customer_id in a body that is %s is 404',
  async (_what, reference) => {
    const name = reference.slice(0, 255);
    const body = { feature_key: 'feature', external_customer_id: name };
    expect(refusal(await setting.post('/check', body))).toEqual(NOT_FOUND);
    expect(refusal(await setting.post('/track', body))).toEqual(NOT_FOUND);
  },
);

test("no refused call left a trace on the other tenant's customer", async () => {
  expect(await setting.balance(customer, 'feature')).toMatchObject({ balance: 10, consumed: 0 });
});

testBooksClose(() => setting);
