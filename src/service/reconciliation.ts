// The reconciliation of connected accounts, each night.
import type { Payments } from '../payments/payments.ts';
import type { BackgroundWork } from '../platform/background/background-work.ts';
import { timers } from '../platform/clock.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import { ids } from '../platform/ids.ts';
import { booksOpener } from '../reconciliation/open.ts';
import { reconciler } from '../reconciliation/reconciler.ts';
import type { Mend } from '../reconciliation/check.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';

/** Begins to look for what is due. */
export function openReconciliation(
  { settings, log }: ServiceOptions,
  { sql, clock }: Connections,
  { secrets, payments }: { readonly secrets: Secrets; readonly payments: Payments },
): BackgroundWork {
  const { stripeApiUrl: apiUrl = null } = settings;
  const booksOf = booksOpener({ secrets, apiUrl });
  const nightly = reconciler({
    sql,
    ids,
    clock,
    timers,
    log,
    booksOf,
    mend: mendBy(payments),
  });
  nightly.start();
  return nightly;
}

/** How our side learns what it does not know. */
export function mendBy(payments: Payments): Mend {
  return {
    async charge(scope, paymentId) {
      await payments.pollCharge(scope, paymentId);
    },
    async refund(scope, refundId) {
      await payments.pollRefund(scope, refundId);
    },
    async disputes(scope, paymentId) {
      await payments.pollDisputes(scope, paymentId);
    },
  };
}
