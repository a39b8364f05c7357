// Assembles the subscriptions API.
import type { Ledger } from '../../ledger/ledger.ts';
import { Batcher } from '../../ledger/kernel/batcher.ts';
import { type PlanAllowance, subscriptionDue } from '../../ledger/subscriptions/subscription.ts';
import {
  listFeaturesOfProducts,
  type ProductFeature,
  type SoldProduct,
} from '../records/product-features.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { act } from './act.ts';
import { Billing, type BillingDeps } from './billing.ts';
import type { OpenDeps } from './deps.ts';
import { createSubscription } from './create.ts';
import { listReturnsOf } from '../records/followups.ts';
import { makeInvoiceVoid, payInvoice } from '../invoices/actions.ts';
import { methodHinted, methodReturned, replaceMethod } from './methods.ts';
import { allowancesOf } from './plans.ts';
import { tellGivenBack } from './given-back.ts';
import { settlePayment } from './settling.ts';
import { previewAction } from './preview.ts';
import type { Subscriptions } from './subscriptions.ts';

type Asked = SoldProduct & { readonly subscriptionId: string };
type Catalogue = Batcher<Asked, readonly ProductFeature[]>;

/** More than alarms that may ring at once (ledger/actor/alarms.ts). */
const ASKED_MAX = 4096;
const ASKED_TOGETHER_MAX = 200;
const QUERIES_MAX = 2;

export function openSubscriptions(deps: OpenDeps): Subscriptions {
  const { ledger } = deps;
  const billing = new Billing(deps);
  const all = { ...deps, billing };
  const catalogue = openCatalogue(deps);
  const returns = openReturns(deps);
  const due: Subscriptions['due'] = async (scope, { customerId, id }) => {
    const terms = await currentTerms(ledger, catalogue, { scope, customerId, id });
    // What a bill would credit may have gone back, and its follow-up may be left behind.
    const unheard = await returns.get(id, scope.organisationId);
    for (const paymentId of unheard ?? []) await tellGivenBack(deps, paymentId);
    await ledger.subscriptions.command(customerId, id, { kind: 'tick', ...terms });
    await billing.carryOut(id);
  };
  billing.start();
  return {
    create: (scope, wish) => createSubscription(all, scope, wish),
    act: (target, wanted, keyed = null) => act({ ...all, due }, target, { wanted, keyed }),
    preview: (target, wanted) => previewAction({ ...all, due }, target, wanted),
    replaceMethod: (scope, change) => replaceMethod(all, scope, change),
    methodReturned: (scope, change) => methodReturned(all, scope, change),
    methodHinted: (scope, key) => methodHinted(all, scope, key),
    payInvoice: (scope, id, retry) => payInvoice({ ...all, due }, scope, { id, ...retry }),
    voidInvoice: (scope, id) => makeInvoiceVoid(all, scope, id),
    async paymentSettled(scope, paymentId) {
      const subscriptionId = await settlePayment(deps, scope, paymentId);
      if (subscriptionId !== null) await billing.carryOut(subscriptionId);
    },
    async usageGivenBack(paymentId) {
      const { subscriptionId, owes } = await tellGivenBack(deps, paymentId);
      if (owes) await billing.carryOut(subscriptionId);
    },
    due,
    carryOut: (scope) => billing.carryOutAll(scope),
    carryOutOf: (id) => billing.carryOut(id),
    close: () => billing.close(),
  };
}

/** Of all renewals that ask at the same moment, in one statement. */
function openCatalogue({ sql, timers }: BillingDeps): Catalogue {
  return new Batcher<Asked, readonly ProductFeature[]>({
    timers,
    // One question of each: an answer to an earlier one may be of before a change.
    nameOf: ({ subscriptionId }) => subscriptionId,
    async load(asked) {
      const features = await listFeaturesOfProducts(sql, asked);
      return asked.map((one, n) => [one.subscriptionId, features[n] ?? []]);
    },
    keysMax: ASKED_TOGETHER_MAX,
    concurrentMax: QUERIES_MAX,
    waitingMax: ASKED_MAX,
  });
}

/**
 * Payments of which money went back that their subscriptions have not heard of, asked for together.
 */
function openReturns({ sql, timers }: BillingDeps): Batcher<string, readonly string[]> {
  return new Batcher<string, readonly string[]>({
    timers,
    nameOf: (subscriptionId) => subscriptionId,
    async load(asked) {
      const returns = await listReturnsOf(sql, asked);
      return asked.map((id, n) => [id, returns[n] ?? []]);
    },
    keysMax: ASKED_TOGETHER_MAX,
    concurrentMax: QUERIES_MAX,
    waitingMax: ASKED_MAX,
  });
}

/** A new period gives what its product gives at that time. */
async function currentTerms(
  ledger: Ledger,
  catalogue: Catalogue,
  due: { readonly scope: Tenant; readonly customerId: string; readonly id: string },
): Promise<{ readonly allowances?: readonly PlanAllowance[] }> {
  const { scope, customerId, id } = due;
  const subscription = await ledger.subscriptions.find(customerId, id);
  if (subscription === null || subscriptionDue(subscription) < subscription.periodEnd) return {};
  const { plan } = subscription;
  const { productId, currency } = plan;
  const asked = { ...scope, productId, currency, subscriptionId: id };
  const features = await catalogue.get(asked, scope.organisationId);
  return { allowances: allowancesOf(features ?? [], plan) };
}
