// The situations of a subscription, each reached by the commands that lead to it.
import type { GivenBack } from '../../ledger/subscriptions/subscription.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import { DEARER, SubscriptionWorld } from './subscription-world.ts';
import { DAY, HOUR } from './world.ts';

/** Of the first period. */
export const END = Date.UTC(2026, 1, 28, 12);
export const iso = (at: number): string => new Date(at).toISOString();

/** What every event of it carries before anything has happened to it. */
export const DATA = {
  subscriptionId: 'sub',
  bundleId: 'bundle',
  planName: 'pro-monthly',
  phaseName: 'pro-monthly-evergreen',
  priceListName: 'DEFAULT',
  productId: 'product',
  status: 'active',
  cancelAtPeriodEnd: false,
  cancellationEffectiveAt: null,
  currentPeriodEnd: iso(END),
  priceId: 'monthly',
  amount: '30.00',
  currency: 'USD',
  quantity: 1,
  resumesAt: null,
  keepInvoices: false,
  pendingChange: null,
  clientReferenceId: 'ref',
  metadata: { seat: 'a' },
  externalCustomerId: 'u_42',
  customerEmail: 'a@example.com',
};

export const cancel = (mode: 'at_period_end' | 'immediate'): Command => ({ kind: 'cancel', mode });
export const pause = (keepInvoices = false, resumesAt: number | null = null): Command => ({
  kind: 'pause',
  keepInvoices,
  resumesAt,
});
export const change = (plan = DEARER, givenBack: readonly GivenBack[] = []): Command => ({
  kind: 'change',
  plan,
  allowances: [],
  givenBack,
});

/** An hour into a period that is paid. */
export function active(): SubscriptionWorld {
  const world = new SubscriptionWorld();
  world.start();
  world.paid();
  world.wait(HOUR);
  return world;
}

export function trial(): SubscriptionWorld {
  const world = new SubscriptionWorld();
  world.start({ trialDays: 14 });
  world.wait(HOUR);
  return world;
}

export function after(...commands: readonly Command[]): SubscriptionWorld {
  const world = active();
  for (const command of commands) {
    world.do(command);
    world.wait(1);
  }
  return world;
}

export function unpaid(days: number): SubscriptionWorld {
  const world = active();
  world.goTo(world.state.periodEnd);
  world.failed({ hard: true });
  world.wait(days * DAY);
  return world;
}

export function pausedTooLong(): SubscriptionWorld {
  const world = after(pause());
  world.goTo(END + DAY);
  return world;
}

export function waitingToResume(): SubscriptionWorld {
  const world = pausedTooLong();
  world.do({ kind: 'resume' });
  return world;
}

function firstCharge(): SubscriptionWorld {
  const world = new SubscriptionWorld();
  world.start();
  return world;
}

export const SITUATIONS = {
  trial: trial,
  active: active,
  'charge under way': firstCharge,
  'scheduled cancel': () => after(cancel('at_period_end')),
  paused: () => after(pause()),
  'paused, invoices': () => after(pause(true)),
  'paused past its end': pausedTooLong,
  'overdue warning': () => unpaid(1),
  'overdue blocked': () => unpaid(15),
  'waiting to change': () => after(change()),
  'waiting to resume': waitingToResume,
  ended: () => after(cancel('immediate')),
  'ended, charge under way': () => {
    const world = firstCharge();
    world.do(cancel('immediate'));
    return world;
  },
} satisfies Record<string, () => SubscriptionWorld>;
