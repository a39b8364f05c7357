// Assembles the payments API.
import type { Ledger } from '../../ledger/ledger.ts';
import type { Ids, Log, OrgClock, Timers } from '../../ledger/ports.ts';
import type { Settings } from '../config.ts';
import type { Changes } from '../platform/postgres/changes.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import type { RateLimiter } from '../platform/redis/rate-limit.ts';
import type { Processors } from '../processors/processor.ts';
import { Charges } from './charges.ts';
import { Disputes } from './disputes.ts';
import { Followups } from './followups.ts';
import { pay } from './pay.ts';
import type { Payments } from './payments.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { Refunds } from './refunds.ts';

export type PaymentsDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly log: Log;
  readonly changes: Changes;
  readonly ledger: Ledger;
  readonly limiter: RateLimiter;
  readonly processors: Processors;
  readonly settings: Settings;
  /** Whether buyers get mails. */
  readonly sendsMail: boolean;
  /** A charge of a subscription is decided. It may be repeated. */
  readonly onSubscriptionPayment: (scope: Tenant, paymentId: string) => Promise<void>;
  /** Money of an invoice of a subscription went back, or has come again. It may be repeated. */
  readonly onUsageGivenBack: (paymentId: string) => Promise<void>;
  /** A charge of an automatic top-up is decided. It may be repeated. */
  readonly onTopUpPayment: (scope: Tenant, paymentId: string) => Promise<void>;
};

export function openPayments(deps: PaymentsDeps): Payments {
  const { ledger, orgClock, settings, limiter } = deps;
  const { checkoutUrl, limits } = settings;
  const followups = new Followups(deps);
  const charges = new Charges({ ...deps, followups });
  const disputes = new Disputes({ ...deps, followups, charges });
  const refunds = new Refunds({
    ...deps,
    followups,
    limits: {
      perOrganisation: limiter.limit('refunds-of-organisation', limits.refundsPerOrg),
      perPayment: limiter.limit('refunds-of-payment', limits.refundsPerPayment),
    },
  });
  const attemptsMax = limits.cardAttempts;
  followups.start();
  return {
    pay: (token, order) => pay({ ...deps, charges, checkoutUrl, attemptsMax }, token, order),
    async refresh(paymentId) {
      // A webhook and its buyer arrive together: what that question learns is shown at once.
      await charges.asked(paymentId);
      const state = await ledger.payments.load(paymentId);
      return { actionUrl: await charges.again(state, { isDue: false }) };
    },
    giveUp: (paymentId) => charges.giveUp(paymentId),
    refund: (scope, call) => refunds.refund(scope, call),
    release: (paymentId) => charges.release(paymentId),
    giveBack: (scope, paymentId) => refunds.giveBack(scope, paymentId),
    async pollCharge(scope, paymentId) {
      const state = await ledger.payments.find(scope, paymentId);
      if (state !== null) await charges.again(state, { isDue: false });
      return state !== null;
    },
    async pollRefund(scope, refundId) {
      const stored = await ledger.payments.findRefund(refundId);
      if (stored?.kind !== 'refund') return;
      const state = await ledger.payments.find(scope, stored.payment.id);
      if (state !== null) await refunds.look(state, refundId);
    },
    pollDisputes: (scope, paymentId) => disputes.look(scope, paymentId),
    async due(paymentId) {
      const state = await ledger.payments.load(paymentId);
      const now = orgClock.now(state.payment);
      const isDue = state.askAt !== null && state.askAt <= now;
      await Promise.all([
        isDue ? charges.again(state, { isDue }) : undefined,
        refunds.again(state, now),
        disputes.again(state, now),
      ]);
    },
    collect: (paymentId) => charges.collect(paymentId),
    carryOut: (scope) => followups.carryOut(scope),
    close: () => followups.close(),
  };
}
