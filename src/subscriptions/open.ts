// Subscriptions, put together.
import { act } from './act.ts';
import { Billing, type BillingDeps } from './billing.ts';
import { createSubscription } from './create.ts';
import { makeInvoiceVoid, payInvoice } from './invoices.ts';
import { methodReturned, replaceMethod } from './methods.ts';
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
    async due(customerId, subscriptionId) {
      await ledger.subscriptions.command(customerId, subscriptionId, { kind: 'tick' });
      await billing.carryOut(subscriptionId);
    },
    carryOut: (scope) => billing.carryOutAll(scope),
    close: () => billing.close(),
  };
}
