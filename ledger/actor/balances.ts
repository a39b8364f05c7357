import { ASKED_WORK_MAX, BALANCES_A_TURN, DUE_WORK_MAX, GRANTS_A_TURN } from '../limits.ts';
import { advanced } from '../metering/advance.ts';
import { sleepsLong, workBefore } from '../metering/asleep.ts';
import { type Grant, type Placed, liveOrder, placed } from '../metering/grants.ts';
import {
  type Meter,
  type MeterState,
  type Snapshot,
  breakdown,
  snapshotOf,
  withoutLimit,
} from '../metering/meter.ts';
import type { Actor } from './actor.ts';
import { asleep } from './loader.ts';
import type { OwnershipSession } from './ownership-session.ts';

/**
 * A customer's meters and their grants as they are durable, at the current time, in parts: by the
 * slug of the meter, and of one meter in the order in which they are used up.
 *
 * What holds: a part is one turn, which looks at a bounded number of grants, does a bounded part of
 * what is due, and answers with no more grants than it was asked for. The place behind it says
 * where in the order it ended, not how many came before, so the next part has what comes then,
 * whatever has ended meanwhile.
 * What it does not do: see all parts at one moment.
 */

export type MeterPlace = { readonly slug: string; readonly meterId: string };

export type BalancesAsked = {
  /** null: all. */
  readonly slug?: string | null;
  readonly after?: MeterPlace | null;
  /** Grants of one balance that are shown; the others are counted. None by default. */
  readonly grantsMax?: number;
  /** Those whose further usage is sold. */
  readonly soldMax?: number;
};

/** A grant that is live, with what is left of it now; null is unlimited. */
export type GrantLeft = { readonly grant: Grant; readonly remaining: bigint | null };

export type MeterBalance = {
  readonly meter: Meter;
  readonly snapshot: Snapshot;
  /** The first of those that have started. */
  readonly breakdown: readonly GrantLeft[];
  readonly started: number;
  /** Those whose further usage is sold, as many as were asked for. */
  readonly sold: readonly Grant[];
  readonly isBoolean: boolean;
  readonly updatedAt: number;
  /** The ids of the alerts that have fired. */
  readonly fired: readonly string[];
};

export type BalancePart = {
  readonly balances: readonly MeterBalance[];
  /** null: there are no more. */
  readonly next: MeterPlace | null;
};

export type GrantPlace = MeterPlace & { readonly grant: Placed };

export type GrantsAsked = {
  readonly slug: string | null;
  readonly after: GrantPlace | null;
  readonly max: number;
};

export type GrantPart = {
  readonly grants: readonly (GrantLeft & { readonly meter: Meter })[];
  readonly next: GrantPlace | null;
};

export function balancesOf(
  session: OwnershipSession,
  customerId: string,
  { slug = null, after = null, grantsMax = 0, soldMax = 0 }: BalancesAsked,
): Promise<BalancePart> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    (actor) => {
      const balances: MeterBalance[] = [];
      let looked = 0;
      let due = 0;
      let last: MeterPlace | null = null;
      for (const { meter, durable } of metersOf(actor, slug)) {
        if (after !== null && byMeter(placeOf(meter), after) <= 0) continue;
        if (looked >= GRANTS_A_TURN || balances.length >= BALANCES_A_TURN) {
          return { balances, next: last };
        }
        const context = session.contexts.ofMeter(actor, meter, 'durable');
        const sleeper = sleepsLong(context, durable, ASKED_WORK_MAX);
        if (sleeper !== null) {
          return last === null ? asleep(actor, sleeper, false) : { balances, next: last };
        }
        due += workBefore(context, durable);
        if (due > DUE_WORK_MAX) return { balances, next: last };
        const state = advanced(context, durable);
        balances.push(balanceOf(meter, state, { grantsMax, soldMax }));
        looked += state.grants.length;
        last = placeOf(meter);
      }
      return { balances, next: null };
    },
  );
}

/** Those that have started in the order in which they are used up, then those of the future. */
export function grantsOf(
  session: OwnershipSession,
  customerId: string,
  { slug, after, max }: GrantsAsked,
): Promise<GrantPart> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    (actor) => {
      const grants: GrantPart['grants'][number][] = [];
      let looked = 0;
      let due = 0;
      let last: GrantPlace | null = after;
      for (const { meter, durable } of metersOf(actor, slug)) {
        const order = after === null ? 1 : byMeter(placeOf(meter), after);
        if (order < 0) continue;
        if (looked >= GRANTS_A_TURN) return { grants, next: last };
        const context = session.contexts.ofMeter(actor, meter, 'durable');
        const sleeper = sleepsLong(context, durable, ASKED_WORK_MAX);
        if (sleeper !== null) return asleep(actor, sleeper, false);
        due += workBefore(context, durable);
        if (due > DUE_WORK_MAX) {
          // Those before it may have no grant that is live, and no place behind them.
          return last === after ? asleep(actor, meter.id, false) : { grants, next: last };
        }
        const state = advanced(context, durable);
        looked += state.grants.length;
        for (const { grant, remaining } of liveGrants(state)) {
          if (order === 0 && after !== null && liveOrder(grant, after.grant) <= 0) continue;
          if (grants.length === max) return { grants, next: last };
          grants.push({ meter, grant, remaining });
          last = { ...placeOf(meter), grant: placed(grant) };
        }
      }
      return { grants, next: null };
    },
  );
}

function metersOf(actor: Actor, slug: string | null) {
  return [...actor.customerMeters.values()]
    .flatMap(({ meter, durable }) =>
      durable === undefined || (slug !== null && meter.slug !== slug) ? [] : [{ meter, durable }],
    )
    .sort((a, b) => byMeter(placeOf(a.meter), placeOf(b.meter)));
}

const placeOf = ({ slug, id: meterId }: Meter): MeterPlace => ({ slug, meterId });

function byMeter(a: MeterPlace, b: MeterPlace): number {
  if (a.slug !== b.slug) return a.slug < b.slug ? -1 : 1;
  return a.meterId === b.meterId ? 0 : a.meterId < b.meterId ? -1 : 1;
}

function balanceOf(
  meter: Meter,
  state: MeterState,
  { grantsMax, soldMax }: { readonly grantsMax: number; readonly soldMax: number },
): MeterBalance {
  const parts = breakdown(state);
  const snapshot = snapshotOf(state);
  return {
    meter,
    snapshot,
    breakdown: parts.slice(0, grantsMax),
    started: parts.length,
    sold: state.grants.filter(({ price }) => price !== null).slice(0, soldMax),
    isBoolean: snapshot.limit === null && withoutLimit(state) === 'boolean',
    updatedAt: Math.max(state.current.updatedAt, state.eventAt),
    fired: state.fired.map(({ id }) => id),
  };
}

function liveGrants(state: MeterState): readonly GrantLeft[] {
  const later = state.grants
    .filter(({ started }) => !started)
    .sort(liveOrder)
    .map((grant) => ({ grant, remaining: grant.amount }));
  return [...breakdown(state), ...later];
}
