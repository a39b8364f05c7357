// Where the webhooks of a connected account come to: an endpoint that is made there, or the
// merchant's own.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Log } from '../../ledger/ports.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  forgetWebhookEndpoint,
  type NewProcessorAccount,
  type ProcessorAccount,
} from '../records/processor-accounts.ts';
import type { StripeAccounts } from './stripe/account.ts';

export type Hook = Pick<NewProcessorAccount, 'sealedWebhookSecret' | 'webhookEndpointId'>;

export type HooksDeps = {
  readonly sql: Sql;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly stripe: StripeAccounts;
  /** The address of this installation, without a slash at the end. */
  readonly baseUrl: string;
};

const NONE: Hook = { sealedWebhookSecret: null, webhookEndpointId: null };

/**
 * Where the webhooks of an account come to from now on: nowhere, where its key may not register an
 * endpoint and the merchant names none.
 */
export async function hookOf(
  { secrets, stripe, baseUrl }: HooksDeps,
  { organisationId, mode }: Tenant,
  options: {
    /** Of its row. */
    readonly id: string;
    readonly before: ProcessorAccount | null;
    readonly secretKey: string;
    readonly webhookSecret: string | null;
  },
): Promise<Hook | 'away'> {
  const { id, before, secretKey, webhookSecret } = options;
  const kept = before === null || before.endedAt !== null ? NONE : ofAccount(before);
  const isOwn = kept.sealedWebhookSecret !== null && kept.webhookEndpointId === null;
  if (webhookSecret !== null) {
    if (isOwn && isSealed(secrets, kept.sealedWebhookSecret, [webhookSecret, id])) return kept;
    return { sealedWebhookSecret: secrets.seal(webhookSecret, id), webhookEndpointId: null };
  }
  // The merchant's own endpoint stays until another secret is given or the account is ended.
  if (isOwn) return kept;
  const url = `${baseUrl}/processors/stripe/${organisationId}/${mode}`;
  const registered = await stripe.register(secretKey, { url, known: kept.webhookEndpointId });
  if (registered.kind === 'away') return 'away';
  // A restricted key may not look. What a key before it registered goes on.
  if (registered.kind !== 'registered') return kept;
  const { endpointId, secret } = registered;
  return { sealedWebhookSecret: secrets.seal(secret, id), webhookEndpointId: endpointId };
}

/**
 * Removes the endpoint of an ended account. Where that fails its webhooks go on to be taken: they
 * are hints about what it took.
 */
export async function endHook(
  { sql, log, secrets, stripe }: HooksDeps,
  account: ProcessorAccount,
): Promise<void> {
  const { id, organisationId, mode, sealedKey, webhookEndpointId } = account;
  if (webhookEndpointId === null) return;
  const key = opened(secrets, sealedKey, id);
  if (key !== null && (await stripe.remove(key, webhookEndpointId))) {
    return forgetWebhookEndpoint(sql, account);
  }
  log.warn(
    { organisationId, mode, webhookEndpointId },
    'a webhook endpoint at Stripe was not removed',
  );
}

/** Whether this text was sealed for this owner. One that does not open is another. */
export function isSealed(
  secrets: Pick<Secrets, 'open'>,
  sealed: Buffer | null,
  [text, ownerId]: readonly [string, string],
): boolean {
  return sealed !== null && opened(secrets, sealed, ownerId) === text;
}

/** null where it was sealed with another SECRETS_KEY. */
function opened(secrets: Pick<Secrets, 'open'>, sealed: Buffer, ownerId: string): string | null {
  try {
    return secrets.open(sealed, ownerId);
  } catch {
    return null;
  }
}

const ofAccount = ({ sealedWebhookSecret, webhookEndpointId }: ProcessorAccount): Hook => ({
  sealedWebhookSecret,
  webhookEndpointId,
});
