// Mail servers that are down, hang or refuse, and the effect on other organisations. There is no
// Redis here: the mailer does not use it.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { clock } from '../../src/platform/clock.ts';
import { openLog } from '../../src/platform/log.ts';
import { openMailer, type OpenMailer } from '../../workers/mail/open.ts';
import { Shop } from '../payments/shop.ts';
import { freePort } from '../support/free-port.ts';
import { TEST_SECRETS_KEY, TEST_SETTINGS } from '../support/settings.ts';
import { until } from '../support/until.ts';
import { mailSettings, openPostOffice, type PostOffice } from './post-office.ts';

setDefaultTimeout(60_000);

let shop: Shop;
let logged: string[] = [];
let mailer: OpenMailer | null = null;
const offices: PostOffice[] = [];
beforeAll(async () => {
  const mail = { server: { host: '127.0.0.1', port: 1, secure: false, login: null } };
  const from = { name: null, address: 'billing@tollhouse.example' };
  // It has pending mails, and leaves them to others.
  shop = await Shop.open({ deliver: false, settings: { mail: { ...mail, from } } });
});
afterEach(async () => {
  await mailer?.close();
  mailer = null;
  for (const office of offices.splice(0)) await office.stop();
  await shop.server.sql`delete from mails`;
  logged = [];
});
afterAll(() => shop.close());

async function open(port?: number): Promise<PostOffice> {
  const office = await openPostOffice(port);
  offices.push(office);
  return office;
}

async function mailTo(office: Pick<PostOffice, 'url'>, timeoutMs?: number): Promise<OpenMailer> {
  mailer = await openMailer({
    databaseUrl: shop.server.databaseUrl,
    secretsKey: TEST_SECRETS_KEY,
    clock,
    bounds: TEST_SETTINGS.bounds,
    mail: mailSettings(office as PostOffice),
    appUrl: 'http://localhost',
    log: openLog('info', (line) => logged.push(line)),
    onAttempt: () => undefined,
    ...(timeoutMs !== undefined && { deadlineMs: timeoutMs }),
  });
  return mailer;
}

async function buy(): Promise<string> {
  const to = `${ids.next()}@example.com`;
  await shop.buy({ checkout: { customer_email: to } });
  return to;
}

/** As if they were due. */
async function due(): Promise<void> {
  await shop.server
    .sql`update mails set next_at = now() where status = 'pending' and claim is null`;
}

/** Each mail's status and attempts; `in hand` while a worker tries to send it. */
async function states(): Promise<string[]> {
  const rows = await shop.server.sql`select status, attempts, claim from mails order by id`;
  return rows.map(({ status, attempts, claim }) =>
    status === 'pending' && claim !== null ? 'in hand' : `${status} ${attempts}`,
  );
}

test('a mail server that is away is tried again, and one log line says so', async () => {
  const port = await freePort();
  const buyers = [await buy(), await buy(), await buy()];
  await mailTo({ url: `smtp://127.0.0.1:${port}` });
  await until('each was tried', async () =>
    (await states()).every((state) => state === 'pending 1'),
  );
  const waits = await shop.server.sql`
    select extract(epoch from next_at - now())::float8 as seconds from mails where claim is null`;
  for (const { seconds } of waits) expect(seconds).toBeLessThan(15.1);
  const office = await open(port);
  await due();
  for (const to of buyers) await office.to(to);
  await until('it is written down', async () =>
    (await states()).every((state) => state === 'sent 2'),
  );
  expect(logged.filter((line) => line.includes('deferred'))).toHaveLength(1);
  expect(logged.join('')).not.toContain('@example.com');
});

test('a mail refused for good is not tried again, and its address is not logged', async () => {
  const office = await open();
  const [unknown, tooLarge, later] = [await buy(), await buy(), await buy()];
  office.rcpt = (to) => (to === unknown ? 550 : to === later ? 450 : 250);
  office.data = (to) => (to === tooLarge ? 554 : 250);
  await mailTo(office);
  await until(
    'each was tried',
    async () =>
      (await states()).length === 3 && (await states()).every((state) => state.endsWith(' 1')),
  );
  await until(
    'each is judged',
    async () => (await states()).toSorted().join() === 'pending 1,refused 1,refused 1',
  );
  office.rcpt = () => 250;
  office.data = () => 250;
  await due();
  await office.to(later);
  await office.read();
  expect(office.taken).toHaveLength(1);
  expect(logged.filter((line) => line.includes('a mail is refused'))).toHaveLength(2);
  expect(logged.join('')).not.toContain('@example.com');
});

test('a mail whose login is refused is tried again, for the operator to correct', async () => {
  const to = await buy();
  const office = await open();
  mailer = await openMailer({
    databaseUrl: shop.server.databaseUrl,
    secretsKey: TEST_SECRETS_KEY,
    clock,
    bounds: TEST_SETTINGS.bounds,
    mail: {
      ...mailSettings(office),
      server: { ...mailSettings(office).server, login: { user: 'u', pass: 'very secret' } },
    },
    appUrl: 'http://localhost',
    log: openLog('info', (line) => logged.push(line)),
    onAttempt: () => undefined,
  });
  await until('it was tried', async () => (await states())[0] === 'pending 1');
  expect([await states(), office.named]).toEqual([['pending 1'], []]);
  expect(logged.join('')).toContain('EAUTH');
  expect(logged.join('')).not.toContain('very secret');
  expect(to).toContain('@');
});

test.each(['rcpt', 'data'] as const)(
  'a mail server that hangs at %s for one organisation does not hold up another',
  async (stage) => {
    const office = await open();
    const theirs = `hung-${stage}@example.com`;
    office[stage] = (to) => (to === theirs ? 'hang' : 250);
    for (let n = 0; n < 20; n += 1) await shop.buy({ checkout: { customer_email: theirs } });
    const mine = `mine-${stage}@example.com`;
    await owe(shop.server.other.id, mine);
    await mailTo(office, 2000);
    await office.to(mine);
    // Not more than its share, at once.
    expect(office.named.filter((to) => to === theirs).length).toBeLessThanOrEqual(4);
    await until('those that hung are let go', async () => {
      const [row] = await shop.server.sql`
        select count(*)::int as count from mails where claim is null and attempts = 1 and status = 'pending'`;
      return row?.['count'] >= 2;
    });
  },
);

test('a mail that could not be sent for a day is given up, and no later worker sends it', async () => {
  await buy();
  await shop.server.sql`update mails set written_at = now() - interval '25 hours'`;
  const fresh = await buy();
  const office = await open();
  await mailTo(office);
  await office.to(fresh);
  await until(
    'one is given up',
    async () => (await states()).toSorted().join() === 'given_up 0,sent 1',
  );
  await office.read();
  expect(office.taken).toHaveLength(1);
  const [line] = logged.filter((text) => text.includes('mails failed after all retries'));
  expect(line).toContain('"count":1');
  const { rows } = { rows: await shop.server.sql`select recipient from mails` };
  expect(rows.every(({ recipient }) => recipient === null)).toBe(true);
});

test('a mail worker that stops releases what the server still has in hand', async () => {
  const to = await buy();
  const office = await open();
  office.data = () => 'hang';
  const first = await mailTo(office);
  await until('it has it', () => office.pending.includes(to));
  await first.close();
  mailer = null;
  expect(await states()).toEqual(['pending 1']);
  office.data = () => 250;
  await mailTo(office);
  await office.to(to);
});

/** A receipt of another organisation, for an invoice of its own. */
async function owe(organisationId: string, to: string): Promise<void> {
  const { sql, other } = shop.server;
  const key = other.testKey;
  expect(organisationId).toBe(other.id);
  const customer = await shop.server.call('POST', '/customers', { key, body: { email: to } });
  const bill = {
    customer_id: customer.json.id,
    currency: 'USD',
    lines: [{ description: 'x', unit_amount: '0.00' }],
  };
  const invoice = await shop.server.call('POST', '/invoices', { key, body: bill });
  expect([invoice.status, invoice.json.status]).toEqual([201, 'paid']);
  await sql`
    insert into mails (id, organisation_id, mode, kind, invoice_id, recipient, data)
    values (${ids.next()}, ${other.id}, 'test', 'receipt', ${invoice.json.id}, ${to}, '{}')`;
}
