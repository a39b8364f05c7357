// A worker is killed between any two steps of a mail: the mail is sent all the same, and duplicates
// have one Message-ID.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startWorker } from '../chaos/worker-process.ts';
import { Shop } from '../payments/shop.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { FROM, mailSettings, openPostOffice, type PostOffice } from './post-office.ts';

setDefaultTimeout(60_000);

let office: PostOffice;
let shop: Shop;
beforeAll(async () => {
  office = await openPostOffice();
  shop = await Shop.open({ deliver: false, settings: { mail: mailSettings(office) } });
});
afterAll(async () => {
  await shop.close();
  await office.stop();
});

const start = (env: Record<string, string> = {}) =>
  startWorker(shop.server.databaseUrl, { SMTP_URL: office.url, MAIL_FROM: FROM, ...env });

/** As if the claim of the killed worker had ended. */
const endClaims = () => shop.server.sql`update mails set next_at = now() where status = 'pending'`;

async function untilSent(to: string): Promise<void> {
  await until('it is written down', async () => {
    const [mail] = await shop.server.sql`
      select m.status from mails m join invoices i on i.id = m.invoice_id where i.buyer ->> 'email' = ${to}`;
    return mail?.['status'] === 'sent';
  });
}

test('a mail is sent at least once, under one Message-ID, when killed before or after the server has it', async () => {
  const to = 'killed@example.com';
  office.rcpt = () => 'hang';
  await shop.buy({ checkout: { customer_email: to } });
  const before = await start();
  await until('it is named', () => office.named.includes(to));
  await before.kill();
  expect(office.taken).toEqual([]);
  office.rcpt = () => 250;
  await endClaims();
  // The answer is slower than the kill: the server has accepted the mail, and the worker does not
  // know.
  office.data = () => 'hang';
  const during = await start();
  await until('the server has it', () => office.pending.includes(to));
  await during.kill();
  office.data = () => 250;
  await endClaims();
  // Redis has no part in it.
  const after = await start({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
  const [mail] = await office.to(to);
  await untilSent(to);
  // A mail that is logged as sent is not sent again.
  await endClaims();
  const other = 'other@example.com';
  await shop.buy({ checkout: { customer_email: other } });
  await office.to(other);
  expect(office.taken.map(({ recipient }) => recipient)).toEqual([to, other]);
  const [row] = await shop.server.sql`
    select m.id from mails m join invoices i on i.id = m.invoice_id where i.buyer ->> 'email' = ${to}`;
  expect(mail?.messageId).toBe(`<${row?.['id']}@tollhouse.example>`);
  await after.kill();
});
