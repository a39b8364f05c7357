// Assembles the subscriptions API.
import { type PlanAllowance, subscriptionDue } from '../../ledger/subscriptions/subscription.ts';
import { listEntitlementsWithMeters } from '../records/entitlements.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { act } from './act.ts';
import { Billing, type BillingDeps } from './billing.ts';
import { createSubscription } from './create.ts';
import { makeInvoiceVoid, payInvoice } from '../invoices/actions.ts';
import { methodReturned, replaceMethod } from './methods.ts';
import { allowancesOf } from './plans.ts';
import { settlePayment } from './settling.ts';
import type { Subscriptions } from './subscriptions.ts';

export function openSubscriptions(deps: BillingDeps): Subscriptions {
  const { ledger } = deps;
  const billing = new Billing(deps);
  const all = { ...deps, billing };
  billing.start();
  return {
    create: (scope, wish) => createSubscription(all, scope, wish),
    act: (target, wanted) => act(all, target, wanted),
    replaceMethod: (scope, change) => replaceMethod(all, scope, change),
    methodReturned: (scope, change) => methodReturned(all, scope, change),
    payInvoice: (scope, id) => payInvoice(all, scope, id),
    voidInvoice: (scope, id) => makeInvoiceVoid(all, scope, id),
    async paymentSettled(scope, paymentId) {
      const subscriptionId = await settlePayment(deps, scope, paymentId);
      if (subscriptionId !== null) await billing.carryOut(subscriptionId);
    },
    async due(scope, { customerId, id }) {
      const terms = await currentTerms(deps, scope, { customerId, id });
      await ledger.subscriptions.command(customerId, id, { kind: 'tick', ...terms });
      await billing.carryOut(id);
    },
    carryOut: (scope) => billing.carryOutAll(scope),
    close: () => billing.close(),
  };
}

/** A new period gives what its product gives at that time. */
async function currentTerms(
  { sql, ledger }: BillingDeps,
  scope: Tenant,
  { customerId, id }: { readonly customerId: string; readonly id: string },
): Promise<{ readonly allowances?: readonly PlanAllowance[] }> {
  const subscription = await ledger.subscriptions.find(customerId, id);
  if (subscription === null || subscriptionDue(subscription) < subscription.periodEnd) return {};
  const { productId, quantity } = subscription.plan;
  return {
    allowances: allowancesOf(await listEntitlementsWithMeters(sql, scope, productId), quantity),
  };
}
