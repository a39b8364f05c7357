// bun run admin reconcile: what it prints and how it exits; differences that an operator accepts;
// accounts that are not connected any more, or whose key is refused; what Prometheus reads.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { TEST_SECRETS_KEY } from '../support/settings.ts';
import { runAdmin } from '../support/admin.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(120_000);

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.open();
  // The command has no margin that a test could wait for: what it sees is from before.
  await bed.buy();
});
afterAll(() => bed.close());

const admin = (...args: string[]) =>
  runAdmin(args, bed.shop.server.databaseUrl, {
    SECRETS_KEY: Buffer.from(TEST_SECRETS_KEY).toString('base64'),
    STRIPE_API_URL: bed.fake.url,
  });

async function reconcile(...args: string[]) {
  const { exitCode, stdout } = await admin('reconcile', '--json', ...args);
  return { exitCode, ...JSON.parse(stdout) };
}

const metric = async (name: string): Promise<string | undefined> => {
  const { text } = await bed.shop.server.call('GET', '/metrics', { key: null });
  return text.split('\n').find((line) => line.startsWith(`tollhouse_reconciliation_${name}`));
};

test('admin reconcile prints the account, its window, and no difference', async () => {
  const { exitCode, accounts, differences } = await reconcile();
  expect([exitCode, differences]).toEqual([0, []]);
  expect(accounts).toEqual([
    {
      organization_id: bed.shop.server.organisation.id,
      mode: 'test',
      processor: `stripe:${bed.account.id}`,
      ended: 'finished',
      since: expect.any(String),
      until: expect.any(String),
      compared: expect.any(Number),
      not_ours: 0,
      error: null,
    },
  ]);
});

test('admin reconcile from a day on', async () => {
  const { accounts } = await reconcile('--since', '2026-01-31');
  expect(accounts[0].since).toBe('2026-01-31T00:00:00.000Z');
});

test('admin reconcile of one organisation', async () => {
  expect((await reconcile('--org', bed.shop.server.other.id)).accounts).toEqual([]);
  expect((await reconcile('--org', bed.shop.server.organisation.id)).accounts).toHaveLength(1);
});

test.each([
  ['--since', 'yesterday'],
  ['--since', '2999-01-01'],
  ['--since', '2026-1-1'],
  ['--org', 'x'],
])('admin reconcile refuses %s %s', async (option, value) => {
  const { exitCode, stderr } = await admin('reconcile', option, value);
  expect([exitCode, stderr.includes('must be')]).toEqual([2, true]);
});

test('admin reconcile exits with 1 for a difference, until it is accepted', async () => {
  const payment = await bed.buy();
  await bed.stripe.refunds.create({ payment_intent: bed.intentOf(payment), amount: 250 });
  await bed.night();
  const { exitCode, differences } = await reconcile();
  const organization_id = bed.shop.server.organisation.id;
  const [difference] = differences;
  expect([exitCode, differences]).toEqual([
    1,
    [
      expect.objectContaining({
        organization_id,
        kind: 'extra',
        subject: 'refund',
        payment_id: payment.id,
        ours: null,
        theirs: '2.50 USD succeeded',
      }),
    ],
  ]);
  expect(await metric('differences{kind="extra"}')).toEndWith(' 1');
  const accepted = await admin('differences', 'accept', difference.id, '--json');
  expect([accepted.exitCode, JSON.parse(accepted.stdout)]).toEqual([
    0,
    { accepted: difference.id },
  ]);
  expect(await reconcile()).toMatchObject({ exitCode: 0, differences: [] });
  await bed.night();
  expect(await reconcile()).toMatchObject({ exitCode: 0, differences: [] });
  expect(await metric('differences{kind="extra"}')).toEndWith(' 0');
  const again = await admin('differences', 'accept', difference.id);
  expect([again.exitCode, again.stderr]).toEqual([1, `no difference ${difference.id} is open\n`]);
});

test('admin reconcile of an account that is away, then of one whose key is refused', async () => {
  bed.fake.away(true);
  await bed.dayPasses();
  const away = await reconcile();
  expect([away.exitCode, away.accounts[0].ended]).toEqual([1, 'failed']);
  expect(away.accounts[0].error).toMatch(/^StripeConnectionError/);
  bed.fake.away(false);
  expect(await reconcile()).toMatchObject({ exitCode: 0 });
  await bed.dayPasses();
  const was = bed.account.testKey;
  bed.account.rollKey('test');
  const refused = await admin('reconcile', '--json');
  expect(JSON.parse(refused.stdout).accounts[0].error).toMatch(/^StripeAuthenticationError/);
  expect([refused.exitCode, refused.stdout.includes(was), refused.stderr.includes(was)]).toEqual([
    1,
    false,
    false,
  ]);
});

test('admin reconcile gives up a disconnected account once its key is refused', async () => {
  const { server } = bed.shop;
  expect(Number((await metric('oldest_seconds'))?.split(' ')[1])).toBeGreaterThan(0);
  expect((await server.call('DELETE', '/organization/processor')).status).toBe(204);
  await bed.untilReconciled(bed.reconciler());
  const [run] = await server.sql`
    select finished_at is not null as finished, error from reconciliation_runs order by begun_at desc limit 1`;
  expect(run).toEqual({
    finished: true,
    error: expect.stringMatching(/^StripeAuthenticationError/),
  } as never);
  const count = async () => (await server.sql`select from reconciliation_runs`).length;
  const runs = await count();
  await bed.night();
  expect(await count()).toBe(runs);
  // Nobody waits for it.
  expect(await metric('oldest_seconds')).toEndWith(' 0');
});
