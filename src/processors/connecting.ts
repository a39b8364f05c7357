// Connects an organisation to its account at Stripe: one in each mode takes what is new.
//
//     key ─▶ whose is it? (Stripe) ─▶ have webhooks sent here (Stripe) ─▶ row and event (one commit)
//
// Holds: a key is stored once Stripe has accepted it, encrypted for its row, and is never given
// out. Another key of the same account takes the place of the first in one commit. An account that
// is ended or replaced keeps its key, for what it took; its endpoint at Stripe is removed.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Clock, Ids, OrgClock } from '../../ledger/ports.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { announcePart } from '../records/organisations.ts';
import {
  endProcessorAccount,
  findProcessorAccount,
  findProcessorAccountOf,
  type ProcessorAccount,
  putProcessorAccount,
} from '../records/processor-accounts.ts';
import { endHook, type Hook, type HooksDeps, hookOf, isSealed } from './hooks.ts';
import { keyFault, webhookSecretFault } from './stripe/key.ts';

export type ConnectRequest = {
  readonly secretKey: string;
  /** Of an endpoint that the merchant has made; null to have one made. */
  readonly webhookSecret: string | null;
  /** Who does it: the id of an API key, or `admin`. */
  readonly actor: string;
};

export type ConnectReply =
  | { readonly kind: 'connected'; readonly account: ProcessorAccount }
  | {
      readonly kind: 'refused';
      readonly field: 'secret_key' | 'webhook_secret';
      /** For the merchant to read, after the name of the field. */
      readonly message: string;
    }
  /** Stripe did not answer. Nothing was changed. */
  | { readonly kind: 'away' }
  /** Another call of the same organisation is at it. */
  | { readonly kind: 'busy' };

export type ProcessorAccounts = {
  connect(tenant: Tenant, request: ConnectRequest): Promise<ConnectReply>;
  /** The account that takes what is new; null for none. */
  find(tenant: Tenant): Promise<ProcessorAccount | null>;
  /** Ends the account that takes what is new. */
  disconnect(tenant: Tenant, actor: string): Promise<'done' | 'none' | 'busy'>;
};

export type ConnectingDeps = HooksDeps & {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly orgClock: OrgClock;
  /** Runs a task while no other one of this key runs, anywhere; null where one runs for long. */
  readonly alone: <T>(key: bigint, task: () => Promise<T>) => Promise<T | null>;
  /** Tells the other processes before the call is answered. */
  readonly tell: (organisationId: string) => Promise<void>;
};

const REFUSED = {
  unknown_key: 'is refused by Stripe: it is no key of an account, or not any more',
  not_permitted: 'may not read its account at Stripe: give it that permission there',
} as const;

export function openConnecting(deps: ConnectingDeps): ProcessorAccounts {
  const { sql, ids, alone, tell } = deps;
  const lockOf = ({ organisationId, mode }: Tenant): bigint =>
    ids.fingerprint(`processor ${organisationId} ${mode}`);

  return {
    async connect(tenant, request) {
      const fault = faultOf(tenant, request);
      if (fault !== null) return fault;
      const reply = await alone(lockOf(tenant), () => connect(deps, tenant, request));
      if (reply?.kind === 'connected') await tell(tenant.organisationId);
      return reply ?? { kind: 'busy' };
    },

    find: (tenant) => findProcessorAccount(sql, tenant),

    async disconnect(tenant, actor) {
      const done = await alone(lockOf(tenant), () => disconnect(deps, tenant, actor));
      if (done === 'done') await tell(tenant.organisationId);
      return done ?? 'busy';
    },
  };
}

function faultOf({ mode }: Tenant, request: ConnectRequest): ConnectReply | null {
  const { secretKey, webhookSecret } = request;
  const ofKey = keyFault(secretKey, mode);
  if (ofKey !== null) return { kind: 'refused', field: 'secret_key', message: ofKey };
  const ofSecret = webhookSecret === null ? null : webhookSecretFault(webhookSecret);
  if (ofSecret === null) return null;
  return { kind: 'refused', field: 'webhook_secret', message: ofSecret };
}

async function connect(
  deps: ConnectingDeps,
  tenant: Tenant,
  request: ConnectRequest,
): Promise<ConnectReply> {
  const { sql, ids, clock, secrets, stripe } = deps;
  const { secretKey: key } = request;
  const identified = await stripe.identify(key);
  if (identified.kind === 'away') return identified;
  if (identified.kind !== 'account') {
    return { kind: 'refused', field: 'secret_key', message: REFUSED[identified.kind] };
  }
  const { account } = identified;
  const before = await findProcessorAccountOf(sql, tenant, account);
  const id = before?.id ?? ids.next();
  const hook = await hookOf(deps, tenant, { ...request, id, before });
  if (hook === 'away') return { kind: 'away' };
  const sealedKey = secrets.seal(key, id);
  const put = { id, account, sealedKey, last4: key.slice(-4), ...hook };
  const changes = changesOf(deps, before, { key, hook });
  const done = await sql.begin(async (transaction) => {
    const now = clock.now();
    const result = await putProcessorAccount(transaction, tenant, { put, now });
    const { actor } = request;
    if (changes.length > 0) await announce(deps, transaction, { tenant, actor, changes });
    return result;
  });
  // Endpoints whose secret is not kept any more, or whose account has ended.
  const former = before?.webhookEndpointId ?? null;
  if (former !== null && former !== hook.webhookEndpointId) await stripe.remove(key, former);
  if (done.replaced !== null) await endHook(deps, done.replaced);
  return { kind: 'connected', account: done.account };
}

async function disconnect(
  deps: ConnectingDeps,
  tenant: Tenant,
  actor: string,
): Promise<'done' | 'none'> {
  const { sql, clock } = deps;
  const ended = await sql.begin(async (transaction) => {
    const row = await endProcessorAccount(transaction, tenant, clock.now());
    const changes = ['account'];
    if (row !== null) await announce(deps, transaction, { tenant, actor, changes });
    return row;
  });
  if (ended === null) return 'none';
  await endHook(deps, ended);
  return 'done';
}

/** The names of what changes; none where the same is sent again. */
function changesOf(
  { secrets }: ConnectingDeps,
  before: ProcessorAccount | null,
  { key, hook }: { readonly key: string; readonly hook: Hook },
): string[] {
  const current = before !== null && before.endedAt === null ? before : null;
  const isKeySame = current !== null && isSealed(secrets, current.sealedKey, [key, current.id]);
  const known = current?.sealedWebhookSecret ?? null;
  return [
    ...(current === null ? ['account'] : []),
    ...(isKeySame ? [] : ['secretKey']),
    ...(hook.sealedWebhookSecret === known ? [] : ['webhookSecret']),
  ];
}

function announce(
  { ids, orgClock }: ConnectingDeps,
  transaction: Transaction,
  told: { readonly tenant: Tenant; readonly actor: string; readonly changes: readonly string[] },
): Promise<void> {
  const { tenant, actor, changes } = told;
  const part = { key: 'processor' as const, changes };
  const newEventId = () => ids.next();
  return announcePart(transaction, tenant, { part, actor, newEventId, now: orgClock.now(tenant) });
}
