// The processors of all tenants: the sandbox, and an adapter for each account that one connected.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { watchProcessors } from '../metrics/processors.ts';
import { timers } from '../platform/clock.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import type { Processor, Processors } from '../processors/processor.ts';
import { type OpenedAccount, openProcessors } from '../processors/registry.ts';
import { openSandbox, type Sandbox } from '../processors/sandbox.ts';
import { Lines } from '../processors/stripe/line.ts';
import { openStripe } from '../processors/stripe/stripe.ts';
import { failProcessorAccount, listProcessorAccounts } from '../records/processor-accounts.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';

export type OpenedProcessors = {
  /** On the wall clock, for its own pages. */
  readonly sandbox: Sandbox;
  /** Each in its tenant's time; Stripe in its own. */
  readonly processors: Processors;
};

/** @throws where the database does not answer */
export async function openServiceProcessors(
  options: ServiceOptions,
  connections: Connections,
  secrets: Secrets,
): Promise<OpenedProcessors> {
  const { settings, log } = options;
  const { sql, clock, orgClock, changes } = connections;
  const { baseUrl, sandboxSettleMs: settleMs } = settings;
  const challengeUrl = (key: string): string => `${baseUrl}/sandbox/challenges/${key}`;
  const { origin } = new URL(baseUrl);
  const sandboxOn = openSandbox({ sql, timers, settleMs, origin, challengeUrl });
  const sandboxFor = (tenant: Tenant) =>
    sandboxOn({ now: () => orgClock.now(tenant) }, tenant.organisationId);
  const processors = await openProcessors({
    sandboxFor,
    list: (organisationId) => listProcessorAccounts(sql, organisationId),
    open: stripeAccounts(options, connections),
    secrets,
    changes,
    timers,
    log,
  });
  return { sandbox: sandboxOn(clock), processors };
}

/** The adapter of an account. */
function stripeAccounts(
  { settings, log }: ServiceOptions,
  { sql, clock, metrics }: Connections,
): (account: OpenedAccount) => Processor {
  const { stripeApiUrl: apiUrl = null } = settings;
  const lines = new Lines({ clock, timers, log });
  watchProcessors(metrics.registry, lines);
  return ({ id, tenant, name, key }) => {
    const failing = (error: unknown) =>
      log.error({ err: error, processor: name }, 'an account is not marked as failing');
    return openStripe({
      sql,
      clock,
      log,
      apiUrl,
      account: { name, key, organisationId: tenant.organisationId },
      line: lines.of({ id, name }),
      onFailing: () => void failProcessorAccount(sql, { id, key, now: clock.now() }).catch(failing),
    });
  };
}
