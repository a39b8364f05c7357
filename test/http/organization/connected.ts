// A server beside a fake of Stripe, and organisations of its own to connect.
import type { Settings } from '../../../src/config.ts';
import { clock } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { createOrganisation, type FirstKeys } from '../../../src/accounts/onboarding.ts';
import { openStripeFake, type StripeFake } from '../../processors/stripe/fake.ts';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';

export type Mode = 'test' | 'live';

export type Bank = {
  readonly server: TestServer;
  readonly fake: StripeFake;
  /** Another organisation. */
  merchant(): Promise<Merchant>;
  stop(): Promise<void>;
};

export type Merchant = FirstKeys & {
  put(body: object, mode?: Mode): Promise<Reply>;
  connect(secret_key: string, mode?: Mode): Promise<Reply>;
  get(mode?: Mode): Promise<Reply>;
  remove(mode?: Mode): Promise<Reply>;
  /** Its rows, the current one first, as they are stored. */
  rows(): Promise<readonly Record<string, unknown>[]>;
  /** What was told of its processors in a mode, in order. */
  told(mode?: Mode): Promise<readonly { changes: string[]; actor: string }[]>;
  /** Where Stripe sends its webhooks. */
  hook(mode?: Mode): string;
};

const PATH = '/organization/processor';

export async function openBank({
  settings,
}: { readonly settings?: Partial<Settings> } = {}): Promise<Bank> {
  const fake = await openStripeFake();
  const server = await startServer({
    own: true,
    settings: (url) => ({ baseUrl: url, stripeApiUrl: new URL(fake.url), ...settings }),
  });
  const bank: Bank = {
    server,
    fake,
    merchant: () => merchantOf(server),
    async stop() {
      await server.stop();
      await fake.close();
    },
  };
  return bank;
}

async function merchantOf(server: TestServer): Promise<Merchant> {
  const setting = { sql: server.sql, ids, now: clock.now() };
  const made = (await createOrganisation(setting, { name: 'Mine', groupId: null })) as FirstKeys;
  const keyOf = (mode: Mode) => (mode === 'test' ? made.testKey : made.liveKey);
  const put = (body: object, mode: Mode = 'test') =>
    server.call('PUT', PATH, { body, key: keyOf(mode) });
  return {
    ...made,
    put,
    connect: (secret_key, mode) => put({ type: 'stripe', secret_key }, mode),
    get: (mode = 'test') => server.call('GET', PATH, { key: keyOf(mode) }),
    remove: (mode = 'test') => server.call('DELETE', PATH, { key: keyOf(mode) }),
    rows: () => server.sql`
      select * from processor_accounts where organisation_id = ${made.id} order by ended_at desc nulls first`,
    async told(mode = 'test') {
      const path = `/events?type=organization.config_changed&object_id=${made.id}&limit=200`;
      const { json } = await server.call('GET', path, { key: keyOf(mode) });
      const events = json.data.map((event: { data: { key: string } }) => event.data);
      return events.toReversed();
    },
    hook: (mode = 'test') => `${server.url}/processors/stripe/${made.id}/${mode}`,
  };
}
