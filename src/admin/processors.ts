// Accounts at Stripe, connected by an operator as by PUT, GET and DELETE /organization/processor.
// A key comes on stdin: an argument would stand in the list of processes and in the shell's
// history.
import { unreachable } from '../../ledger/kernel/assert.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Config } from '../config.ts';
import { fromProcessorAccount } from '../http/wire/processors.ts';
import { clock } from '../platform/clock.ts';
import { checkSecrets, findSecretsKey, openSecrets } from '../platform/crypto/secrets.ts';
import { ids } from '../platform/ids.ts';
import { openLog } from '../platform/log.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { openConnecting, type ProcessorAccounts } from '../processors/connecting.ts';
import { openStripeAccounts } from '../processors/stripe/account.ts';
import { stripeClient } from '../processors/stripe/client.ts';
import { findBaseUrl } from '../records/installation.ts';
import { organisationExists } from '../records/organisations.ts';
import { findProcessorAccount, findSealedProcessorKey } from '../records/processor-accounts.ts';
import { listTestClocks } from '../records/test-clocks.ts';
import { findSealedSecret } from '../records/webhook-endpoints.ts';
import {
  type Command,
  CommandRefused,
  idOf,
  modeOf,
  type Options,
  type Run,
  type Terminal,
} from './command.ts';

const OF_TENANT = { usage: '--org ID [--mode test|live]', options: ['org', 'mode'] } as const;

export const PROCESSORS: Readonly<Record<string, Command>> = {
  'processor set': {
    ...OF_TENANT,
    usage: `${OF_TENANT.usage} < FILE (the key; a webhook secret on a second line)`,
    plan: (options) => planOf(options, set),
  },
  'processor show': {
    ...OF_TENANT,
    onlyReads: () => true,
    plan: (options) => planOf(options, show),
  },
  'processor remove': { ...OF_TENANT, plan: (options) => planOf(options, remove) },
};

/** What a command works with. */
type Place = { readonly sql: Sql; readonly config: Config; readonly terminal: Terminal };
type Act = (tenant: Tenant, place: Place) => Promise<object>;

const ACTOR = 'admin';
/**
 * Two secrets of the longest kind, and room for a note of a password manager to be refused by name.
 */
const INPUT_BYTES_MAX = 4096;

function planOf({ org, mode }: Options, act: Act): Run {
  const tenant = { organisationId: idOf('--org', org), mode: modeOf(mode) };
  return async (sql, config, terminal) => {
    if (!(await organisationExists(sql, tenant.organisationId))) {
      throw new CommandRefused(`there is no organisation ${tenant.organisationId}`);
    }
    return { value: await act(tenant, { sql, config, terminal }) };
  };
}

async function set(tenant: Tenant, place: Place): Promise<object> {
  const [secretKey = '', webhookSecret = null] = await readLines(place.terminal);
  const accounts = await openAccounts(tenant, place);
  const reply = await accounts.connect(tenant, { secretKey, webhookSecret, actor: ACTOR });
  switch (reply.kind) {
    case 'connected':
      return fromProcessorAccount(reply.account);
    case 'refused':
      throw new CommandRefused(`${reply.field} ${reply.message}`);
    case 'away':
      throw new CommandRefused('Stripe does not answer; nothing was changed');
    case 'busy':
      throw new CommandRefused('the processor of this organisation is being changed');
    default:
      return unreachable(reply);
  }
}

async function show(tenant: Tenant, { sql }: Place): Promise<object> {
  const account = await findProcessorAccount(sql, tenant);
  if (account === null) throw new CommandRefused('no processor is connected');
  return fromProcessorAccount(account);
}

async function remove(tenant: Tenant, place: Place): Promise<object> {
  const accounts = await openAccounts(tenant, place);
  const done = await accounts.disconnect(tenant, ACTOR);
  if (done !== 'done') throw new CommandRefused('no processor is connected');
  return { organization_id: tenant.organisationId, mode: tenant.mode, disconnected: true };
}

/** The lines of stdin that are not empty. */
async function readLines(terminal: Terminal): Promise<string[]> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of terminal.input()) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > INPUT_BYTES_MAX) throw new CommandRefused('too much on stdin');
  }
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

async function openAccounts(
  tenant: Tenant,
  { sql, config, terminal }: Place,
): Promise<ProcessorAccounts> {
  const key = findSecretsKey(config);
  // One of its own would be read by no server.
  if (key === null) throw new CommandRefused('SECRETS_KEY must be that of the servers');
  const secrets = openSecrets(key);
  checkSecrets(secrets, await findSealedSecret(sql), await findSealedProcessorKey(sql));
  const { isAddressed, stripeApiUrl: apiUrl = null } = config;
  const baseUrl = isAddressed ? config.baseUrl : ((await findBaseUrl(sql)) ?? config.baseUrl);
  const now = await orgTime(sql, tenant);
  const clientOf = (secretKey: string) => stripeClient({ key: secretKey, apiUrl });
  const log = openLog('warn', (line) => terminal.error(line.trimEnd()));
  return openConnecting({
    sql,
    ids,
    clock,
    orgClock: { now: () => now },
    log,
    secrets,
    stripe: openStripeAccounts({ clientOf, log }),
    alone: (lock, task) => alone(sql, lock, task),
    // The servers hear of the commit.
    tell: () => Promise.resolve(),
    baseUrl,
  });
}

async function orgTime(sql: Sql, { organisationId, mode }: Tenant): Promise<number> {
  const [moved] = mode === 'test' ? await listTestClocks(sql, organisationId) : [];
  return moved?.stoppedAt ?? clock.now() + (moved?.aheadMs ?? 0);
}

/** A lock of the session, which is another one's than the task's. */
async function alone<T>(sql: Sql, lock: bigint, task: () => Promise<T>): Promise<T> {
  const session = await sql.reserve();
  try {
    await session`select pg_advisory_lock(${lock})`;
    return await task();
  } finally {
    await session`select pg_advisory_unlock(${lock})`;
    session.release();
  }
}
