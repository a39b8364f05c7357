// The accounts that organisations connect at Stripe, and what Stripe tells about them.
import { Hints } from '../payments/hints.ts';
import type { Payments } from '../payments/payments.ts';
import { timers } from '../platform/clock.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import { newToken } from '../platform/crypto/tokens.ts';
import { ids } from '../platform/ids.ts';
import { openConnecting, type ProcessorAccounts } from '../processors/connecting.ts';
import { openIncoming, type ProcessorWebhooks } from '../processors/incoming.ts';
import { openStripeAccounts } from '../processors/stripe/account.ts';
import { stripeClient } from '../processors/stripe/client.ts';
import { findKeyOfIntent } from '../processors/stripe/store.ts';
import { listProcessorAccounts } from '../records/processor-accounts.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';

export type Connected = {
  readonly processorAccounts: ProcessorAccounts;
  readonly processorWebhooks: ProcessorWebhooks;
  readonly hints: Hints;
};

/** Starts to follow the hints that there are. */
export function openConnected(
  { settings, log }: ServiceOptions,
  { sql, clock, orgClock, keyLocks, changes }: Connections,
  {
    secrets,
    payments,
    subscriptions,
  }: {
    readonly secrets: Secrets;
    readonly payments: Payments;
    readonly subscriptions: Subscriptions;
  },
): Connected {
  const { baseUrl, stripeApiUrl: apiUrl = null } = settings;
  const list = (organisationId: string) => listProcessorAccounts(sql, organisationId);
  const clientOf = (key: string) => stripeClient({ key, apiUrl });
  const hints = new Hints({
    sql,
    timers,
    log,
    payments,
    pollMethod: (scope, key) => subscriptions.methodHinted(scope, key),
  });
  hints.start();
  return {
    hints,
    processorAccounts: openConnecting({
      sql,
      ids,
      clock,
      orgClock,
      log,
      secrets,
      stripe: openStripeAccounts({ clientOf, log }),
      alone: (key, task) => keyLocks.alone(key, task),
      tell: (organisationId) => changes.publish('processor', organisationId),
      baseUrl,
    }),
    processorWebhooks: openIncoming({
      clock,
      log,
      secrets,
      list,
      hint: (tenant, hint) => hints.take(tenant, hint),
      keyOf: (of) => findKeyOfIntent(sql, of),
      decoy: newToken(),
    }),
  };
}
