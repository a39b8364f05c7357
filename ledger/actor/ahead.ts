import { HOUR_MS } from '../kernel/durations.ts';
import { decideTick } from '../metering/advance.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import { type BillableSpan, billableSpans, isSoldBy } from '../metering/spans.ts';
import { dueOf, type Meter, type MeterState } from '../metering/meter.ts';
import type { Rest } from '../kernel/long-work.ts';
import type { UpcomingInvoice } from '../subscriptions/upcoming.ts';
import type { SubscriptionDraft } from '../subscriptions/subscription-draft.ts';
import type { Actor } from './actor.ts';
import type { Contexts, Known } from './contexts.ts';
import type { KnownCosts } from './costs.ts';
import { metersOf, ordered } from './orders.ts';

/**
 * How far a meter is moved at once, in hours: each of its grants may have a step in each, and so
 * may those of all that share credits with it.
 */
const HOP_HOURS = 24;

/** An answer, and the states that it follows from: while these are the customer's, so is it. */
export type KnownUpcoming = {
  readonly facts: readonly unknown[];
  readonly at: number;
  readonly upcoming: UpcomingInvoice;
};

type MeterAhead = { readonly meter: Meter; durable: MeterState };

/**
 * What was durable of a customer at one moment, to be asked what time makes of it. The actor goes
 * on meanwhile: states are immutable, so a copy has them and not their contents.
 */
export class Ahead implements Known {
  readonly customer: Actor['customer'];
  billing: Actor['billing'];
  readonly alerts: Actor['alerts'];
  readonly customerMeters = new Map<string, MeterAhead>();
  now: number;
  readonly costs: KnownCosts = { tentative: null, durable: null };

  constructor(actor: Actor, now: number) {
    const { durable } = actor.billing;
    this.customer = actor.customer;
    this.billing = { tentative: durable, durable };
    this.alerts = actor.alerts;
    this.now = now;
    for (const { meter, durable: state } of actor.customerMeters.values()) {
      if (state !== undefined) this.customerMeters.set(meter.id, { meter, durable: state });
    }
  }

  /** None ever goes. */
  get metersVersion(): number {
    return this.customerMeters.size;
  }

  /**
   * The spans of a subscription as they are at a time, if nothing more is recorded: its meters are
   * moved as their alarms would move them.
   */
  async spansAt(
    contexts: Contexts,
    { at, subscriptionId, rest }: { at: number; subscriptionId: string; rest: Rest },
  ): Promise<readonly BillableSpan[]> {
    const its = this.#soldBy(subscriptionId);
    const groups = this.#groupsOf(contexts, its);
    const moved = [...new Set(groups.flat())];
    for (let due = firstDueOf(moved); due <= at; due = firstDueOf(moved)) {
      this.now = Math.min(at, due + hopOf(groups));
      for (const one of moved) {
        if (dueOf(one.durable) > this.now) continue;
        const context = contexts.ofMeter(this, one.meter, 'durable');
        this.#apply(decideTick(context, one.durable));
        await rest();
      }
    }
    this.now = at;
    return its.flatMap(({ meter, durable }) =>
      billableSpans(meter, durable).filter((span) => span.subscriptionId === subscriptionId),
    );
  }

  /** Does what a decision wants written: to its subscription, and to the meters. */
  carryOut(contexts: Contexts, draft: SubscriptionDraft): boolean {
    const effects = draft.effects();
    if (effects === null) return false;
    this.billing = { tentative: effects.state, durable: effects.state };
    for (const order of draft.orders) {
      const known = [...this.customerMeters].map(
        ([id, { meter, durable: tentative }]) => [id, { meter, tentative }] as const,
      );
      for (const meter of metersOf(new Map(known), order)) {
        const context = contexts.ofMeter(this, meter, 'durable');
        const state =
          this.customerMeters.get(meter.id)?.durable ?? contexts.emptyState(this, meter);
        const { effects: changed } = ordered(context, state, order);
        if (changed !== null) this.#apply(changed);
      }
    }
    return true;
  }

  /** The states that they follow from. `isOfAll`: they follow from all meters. */
  factsOf(
    contexts: Contexts,
    { id, isOfAll }: { readonly id: string; readonly isOfAll: boolean },
  ): readonly unknown[] {
    const its = this.#soldBy(id);
    const isPooled = its.some(({ meter }) => contexts.ofMeter(this, meter).credits !== null);
    const meters = isPooled || isOfAll ? [...this.customerMeters.values()] : its;
    return [this.billing.durable, ...meters.map(({ durable }) => durable)];
  }

  #soldBy(subscriptionId: string): readonly MeterAhead[] {
    return [...this.customerMeters.values()].filter(({ durable }) =>
      isSoldBy(durable, subscriptionId),
    );
  }

  /** Each with those that it shares credits with: these have alarms of their own. */
  #groupsOf(contexts: Contexts, meters: readonly MeterAhead[]): readonly (readonly MeterAhead[])[] {
    return meters.map((one) => {
      const { credits } = contexts.ofMeter(this, one.meter, 'durable');
      const others = credits?.others() ?? [];
      return [one, ...others.flatMap(({ meterId }) => this.customerMeters.get(meterId) ?? [])];
    });
  }

  #apply({ meter, state, beside }: MeterEffects): void {
    this.costs.durable = null;
    const known = this.customerMeters.get(meter.id);
    if (known === undefined) this.customerMeters.set(meter.id, { meter, durable: state });
    else known.durable = state;
    for (const other of beside) this.#apply(other);
  }
}

function firstDueOf(meters: readonly MeterAhead[]): number {
  return Math.min(...meters.map(({ durable }) => dueOf(durable)));
}

/** All of them are moved to the same time: what one of them uses of a pool is used then. */
function hopOf(groups: readonly (readonly MeterAhead[])[]): number {
  const sizes = groups.map((group) => {
    const most = Math.max(1, ...group.map(({ durable }) => durable.grants.length));
    return group.length * most;
  });
  return HOUR_MS * Math.max(1, Math.floor(HOP_HOURS / Math.max(1, ...sizes)));
}
