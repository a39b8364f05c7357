import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { GOOD, openPortal, type Portal, subscribe } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
let id: string;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ appUrl: url }) });
  portal = await openPortal(server);
  await portal.saveCard(GOOD);
  ({ id } = await subscribe(server, portal.customer));
});
afterAll(() => server.stop());

const after = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

// prettier-ignore
const BODIES: [string, string, object, string][] = [
  // what                        action      body beside the id                  at
  ['no subscription',            'cancel',   { subscription_id: undefined },     'subscription_id'],
  ['an id that is none',         'cancel',   { subscription_id: 'mine' },        'subscription_id'],
  ['null for an id',             'resume',   { subscription_id: null },          'subscription_id'],
  ['another mode',               'cancel',   { mode: 'now' },                    'mode'],
  ['the mode of another action', 'uncancel', { mode: 'immediate' },              'mode'],
  ['a pause of a cancel',        'cancel',   { keep_invoices: true },            'keep_invoices'],
  ['the past',                   'pause',    { resumes_at: after(-1) },          'resumes_at'],
  ['more than a year',           'pause',    { resumes_at: after(400) },         'resumes_at'],
  ['a day without a time',       'pause',    { resumes_at: after(9).slice(0, 10) }, 'resumes_at'],
  ['no time',                    'pause',    { resumes_at: 'soon' },             'resumes_at'],
  ['an empty time',              'pause',    { resumes_at: '' },                 'resumes_at'],
  ['a number for a time',        'pause',    { resumes_at: 1 },                  'resumes_at'],
  ['a text for a flag',          'pause',    { keep_invoices: 'true' },          'keep_invoices'],
  ['an unknown field',           'resume',   { at: after(1) },                   'at'],
];

test.each(BODIES)('the portal refuses: %s', async (_what, action, body, at) => {
  const reply = await portal.post(action, { subscription_id: id, ...body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map(({ path }: { path: string[] }) => path.join('.'));
  expect(paths).toEqual([at]);
  const rows = await server.sql`
    select 1 from events where object_id = ${id} and type <> 'subscription.created' and type like 'subscription.%'`;
  expect(rows).toHaveLength(0);
});

test.each(['cancel', 'pause', 'resume', 'uncancel'])(
  'the portal refuses %s without a body, or with half of one',
  async (action) => {
    for (const raw of ['', '{"subscription_id":']) {
      const { status, json } = await portal.post(action, undefined, { raw });
      expect([status, json.error.type, json.error.issues[0].path]).toEqual([
        400,
        'invalid_request',
        [],
      ]);
    }
  },
);
