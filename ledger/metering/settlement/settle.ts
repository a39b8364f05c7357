import { boundary, periodIndex } from '../../kernel/calendar.ts';
import type { Ids } from '../../ports.ts';
import { cutUses } from '../cut-periods.ts';
import { type CutUse, type Grant, hasSameTerms, isLapsed } from '../grants.ts';
import type { Period } from '../meter.ts';
import { countUntil } from '../in-order.ts';
import { rolloverGrant } from '../rollover.ts';
import type { Reservation } from '../reservation.ts';
import type { Span } from '../span.ts';
import type { CarriedFrom, Settlement, Used } from './settlement.ts';
import { heldSince, type StretchMark, timeOf } from '../stretch.ts';
import {
  beginOf,
  type Chain,
  chainsOf,
  closeOf,
  endOf,
  type Facts,
  holdsOf,
  renewalAfter,
  renewalsOf,
  restsOf,
  rolloverMaxOf,
  sizeOf,
  startOf,
} from './facts.ts';
import { inOrder, type Moment, RANK, type Told } from './moments.ts';
import { cappedTo, room, type Source, sourceOf, Walk } from './walk.ts';

type Asked = {
  readonly now: number;
  readonly ids: Pick<Ids, 'derive'>;
  /** Whether a pool pays for what is beyond the limit. */
  readonly isMember: boolean;
};

/**
 * Settles periods from their facts, stretch by stretch in the order of time (balance.md 1). It is a
 * function: when a fact became known does not matter.
 */
export function settle(facts: Facts, asked: Asked): Settlement {
  return new Settling(facts, asked).run();
}

class Settling {
  readonly #walk = new Walk();
  readonly #facts: Facts;
  readonly #chains: readonly Chain[];
  readonly #asked: Asked;
  #moments: Moment[] = [];
  #taken = 0;
  readonly #pots = new Map<Chain, Source>();
  readonly #renewals = new Map<Chain, ReadonlySet<number>>();
  /** Subscriptions. */
  readonly #resting = new Set<string>();
  readonly #rollovers: { readonly source: Source; readonly isNew: boolean }[] = [];
  readonly #once = new Map<string, Source>();
  readonly #carried = new Map<string, CarriedFrom>();
  readonly #limits = new Map<string, bigint>();
  readonly #spanLimits = new Map<string, bigint>();
  readonly #spans: ReadonlyMap<string, readonly Sold[]>;
  readonly #marks: ReadonlyMap<string, readonly StretchMark[]>;
  readonly #start: number;
  /** Until when it is settled. */
  readonly #now: number;
  readonly #holds: ReadonlyMap<string, readonly Reservation[]>;
  /** Of the period, so far: how many holds, and what they hold. */
  #held = { count: 0, units: 0n };
  #period: Period | null;
  #from: number;
  #aggregate = 0n;

  constructor(facts: Facts, asked: Asked) {
    this.#facts = facts;
    this.#chains = chainsOf(facts.grants);
    this.#asked = asked;
    this.#marks = Map.groupBy(facts.marks, ({ accountId }) => accountId);
    this.#holds = holdsOf(facts.holds);
    const sold = facts.spans.map((span) => ({
      span,
      end: closeOf(this.#marksOf(span.accountId), span),
    }));
    this.#spans = Map.groupBy(sold, ({ span }) => span.accountId);
    const [first = null] = facts.periods;
    this.#period = first;
    this.#start = first === null ? 0 : beginOf(this.#marksOf(first.accountId), first);
    this.#from = this.#start;
    const { periods, isWhole } = facts;
    this.#now = isWhole ? asked.now : (periods.at(-1)?.start ?? asked.now);
  }

  run(): Settlement {
    const { isWhole } = this.#facts;
    this.#periods();
    this.#rests();
    this.#grantsOnce();
    for (const chain of this.#chains) this.#chain(chain);
    for (const period of this.#facts.periods) {
      for (const span of this.#spans.get(period.accountId) ?? []) this.#span(span, period);
    }
    this.#moments = this.#moments
      .filter(({ at }) => at > this.#start && timeOf(at) <= this.#now)
      .toSorted(inOrder);
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const { at } = next;
      if (next.isSame === true && this.#moments[this.#taken]?.at !== at) {
        next.happen();
        continue;
      }
      this.#use(at);
      for (let also: Moment | undefined = next; also !== undefined; also = this.#take(at)) {
        also.happen();
        // Of what begins at one time what is older covers first.
        if (also.rank === RANK.start) this.#walk.cover();
      }
      this.#walk.cover();
    }
    if (isWhole) this.#use(Infinity);
    return this.#settlement();
  }

  /** The next one, or the next one at that time. */
  #take(at?: number): Moment | undefined {
    const next = this.#moments[this.#taken];
    if (next === undefined || (at !== undefined && next.at !== at)) return undefined;
    this.#taken += 1;
    return next;
  }

  #settlement(): Settlement {
    const { settled } = this.#walk;
    const { periods, isWhole, holds } = this.#facts;
    const last = periods.at(-1);
    if (last !== undefined && isWhole) {
      this.#limits.set(last.accountId, this.#walk.limit(false));
    }
    const used = new Map<string, Used>();
    const tell = (source: Source): void => {
      const { used: its, before, grown, cut } = source;
      used.set(source.grant.id, { used: its, before, grown, cut });
    };
    for (const source of this.#once.values()) tell(source);
    for (const source of this.#pots.values()) tell(source);
    const rolled = new Map<string, Grant>();
    for (const { source, isNew } of this.#rollovers) {
      tell(source);
      if (isNew) rolled.set(source.grant.id, cappedTo(source));
    }
    return {
      limits: this.#limits,
      spanLimits: this.#spanLimits,
      carried: this.#carried,
      used,
      rolled,
      settled,
      open: new Map(
        [...this.#walk.sources].map(({ grant, used: its, size, cut }) => [
          grant.id,
          { used: its, size, cut },
        ]),
      ),
      isWhole,
      work: this.#moments.length + periods.length + Math.ceil(holds.length / HOLDS_OF_MOMENT),
    };
  }

  #enter(source: Source): void {
    this.#walk.rest(source, this.#resting.has(source.grant.subscriptionId ?? ''));
    this.#walk.enter(source);
  }

  /** All that a subscription gives is suspended at once. */
  #rests(): void {
    for (const [subscriptionId, rests] of restsOf(this.#facts.grants)) {
      const turn = (isResting: boolean) => (): void => {
        if (isResting) this.#resting.add(subscriptionId);
        else this.#resting.delete(subscriptionId);
        for (const source of this.#walk.sources) {
          if (source.grant.subscriptionId === subscriptionId) this.#walk.rest(source, isResting);
        }
      };
      for (const { from, until } of rests) {
        if (from <= this.#start && (until ?? Infinity) > this.#start) turn(true)();
        this.#at(from, RANK.renewal, turn(true));
        this.#at(until ?? Infinity, RANK.renewal, turn(false));
      }
    }
  }

  #at(at: number, rank: number, happen: () => void): void {
    this.#moments.push({ at, rank, happen });
  }

  #begin(by: Told, at: number, happen: () => void): void {
    this.#moments.push({ at, rank: RANK.start, happen, by });
  }

  #periods(): void {
    const { periods } = this.#facts;
    for (const [index, period] of periods.entries()) {
      const next = periods[index + 1];
      if (next === undefined) return;
      const begin = beginOf(this.#marksOf(next.accountId), next);
      const end = period.end === null || period.end === next.start ? begin : period.end;
      this.#at(end, RANK.period, () => this.#close(period, timeOf(end)));
      this.#at(begin, RANK.period, () => this.#open(next, begin));
    }
  }

  #open(period: Period, begin: number): void {
    const { accountId, start } = period;
    this.#period = period;
    this.#from = begin;
    this.#aggregate = 0n;
    this.#held = { count: 0, units: 0n };
    const used = new Map<string, bigint>();
    for (const source of this.#walk.sources) {
      if (source.used > 0n && source.size !== null && !this.#isRenewing(source, start)) {
        used.set(source.grant.id, source.used);
      }
    }
    this.#carried.set(accountId, { start: begin, used });
  }

  /** Whether it is an allowance that is given anew then. */
  #isRenewing(source: Source, at: number): boolean {
    return this.#chains.some(
      (chain) => this.#pots.get(chain) === source && this.#renewals.get(chain)?.has(at) === true,
    );
  }

  #close(period: Period, at: number): void {
    const { accountId } = period;
    const { isMember } = this.#asked;
    let limit = this.#walk.covered(isMember);
    // What goes on is in the limit of the next period.
    for (const [chain, pot] of this.#pots) {
      if (this.#renewals.get(chain)?.has(at) === true) limit += room(pot) ?? 0n;
    }
    this.#limits.set(accountId, limit);
    this.#walk.begin();
    this.#period = null;
  }

  /** Grants that are given once, and what had rolled over when the first period began. */
  #grantsOnce(): void {
    for (const grant of this.#facts.grants) {
      const isRollover = grant.source === 'rollover';
      if (isRollover && grant.effectiveAt > this.#start) continue;
      if (!isRollover && (grant.recurs !== null || grant.source === 'subscription')) continue;
      const source = this.#sourceOf(grant, grant.amount);
      if (isRollover) this.#rollovers.push({ source, isNew: false });
      else this.#once.set(grant.id, source);
      this.#inForce(source, { from: startOf(grant), until: endOf(grant) });
    }
  }

  #sourceOf(grant: Grant, size: bigint | null): Source {
    const [period] = this.#facts.periods;
    const [first] = period === undefined ? NONE : this.#marksOf(period.accountId);
    const carried = first?.start === this.#start ? first.carried : [];
    // What was used up before goes on as that.
    const isUsedUp = grant.ended?.how === 'used_up' && grant.ended.at <= timeOf(this.#start);
    const before = isUsedUp ? grant.used : 0n;
    const used = carried.find(({ id }) => id === grant.id)?.used ?? before;
    const source = sourceOf(grant, size, used);
    this.#cut(source, grant.cut);
    return source;
  }

  #inForce(
    source: Source,
    { from, until }: { readonly from: number; readonly until: number },
  ): void {
    if (until <= this.#start) return;
    if (until <= from) {
      // It covers what was uncovered when it began, and no more.
      this.#begin(source.grant, from, () => {
        this.#enter(source);
        this.#walk.cover();
        this.#walk.leave(source);
      });
      return;
    }
    this.#at(until, RANK.end, () => this.#walk.leave(source));
    if (from <= this.#start) this.#enter(source);
    else this.#begin(source.grant, from, () => this.#enter(source));
  }

  #chain(chain: Chain): void {
    const { rows, until } = chain;
    const id = rows[0]?.id ?? '';
    for (const [index, row] of rows.entries()) {
      const from = startOf(row);
      const before = rows[index - 1];
      if (from > this.#start) {
        const isSame = before !== undefined && hasSameTerms(before, row);
        // Plans that follow each other within a moment keep their order.
        const by = index === 0 ? row : { id, createdAt: timeOf(from) };
        const happen = (): void => this.#give(chain, row);
        this.#moments.push({ at: from, rank: RANK.start, happen, isSame, by });
      } else {
        const source = this.#sourceOf(row, sizeOf(row));
        this.#pots.set(chain, source);
        this.#enter(source);
        this.#cap(row);
      }
    }
    // What ends where it begins ends after that.
    const isNone = rows.some((row) => startOf(row) >= until);
    this.#at(until, isNone ? RANK.span : RANK.end, () => this.#end(chain));
    const now = this.#now;
    const renewals = rows.flatMap((row) =>
      renewalsOf(row, this.#start, Math.min(now + 1, until, endOf(row) + 1)),
    );
    for (const at of renewals) this.#at(at, RANK.renewal, () => this.#renew(chain, at));
    this.#renewals.set(chain, new Set(renewals));
  }

  #give(chain: Chain, row: Grant): void {
    const pot = this.#pots.get(chain);
    if (pot === undefined) {
      const source = sourceOf(row, sizeOf(row));
      this.#pots.set(chain, source);
      this.#enter(source);
    } else {
      const at = timeOf(startOf(row));
      const [ends, renewsAt] = [renewalAfter(pot.grant, at), renewalAfter(row, at)];
      this.#cut(pot, cutUses({ cut: pot.cut, renewsAt: ends }, pot.used, renewsAt));
      this.#walk.resize(pot, row, sizeOf(row));
    }
    this.#cap(row);
  }

  /** What was used in a period that a change has cut short counts until that would have ended. */
  #cut(source: Source, cut: readonly CutUse[]): void {
    const known = source.cut;
    source.cut = cut;
    for (const one of cut) {
      const { until, units } = one;
      if (known.some((other) => other.until === until)) continue;
      const happen = (): void => {
        source.cut = source.cut.filter((other) => other.until !== until);
        this.#walk.forget(source, units);
      };
      this.#insert({ at: until, rank: RANK.renewal, happen });
    }
  }

  /** The plan of now says how much of what rolled over may be used. */
  #cap(row: Grant): void {
    if (row.subscriptionId === null) return;
    let most = 0n;
    for (const { grant, isIn } of this.#pots.values()) {
      const isIts = isIn && grant.subscriptionId === row.subscriptionId && !isLapsed(grant);
      if (isIts && rolloverMaxOf(grant) > most) most = rolloverMaxOf(grant);
    }
    for (const { source } of this.#rollovers) {
      const { grant } = source;
      if (grant.subscriptionId !== row.subscriptionId || grant.amount === null) continue;
      const size = grant.amount < most ? grant.amount : most;
      if (source.isIn && size !== source.size) this.#walk.resize(source, grant, size);
      else source.size = size;
    }
  }

  #renew(chain: Chain, at: number): void {
    const pot = this.#pots.get(chain);
    if (pot === undefined) return;
    this.#walk.leave(pot);
    const { grant: row } = pot;
    this.#rollOver(chain, pot, at);
    const source = sourceOf(row, sizeOf(row));
    this.#pots.set(chain, source);
    this.#enter(source);
  }

  /** What it has left at the end of its period, as far as the cap of the plan in force goes. */
  #rollOver(chain: Chain, pot: Source, at: number): void {
    const { grant: row, size, used, isResting } = pot;
    const { recurs } = row;
    if (recurs === null || recurs.rollover === null || size === null || isResting) return;
    const { max, expiresAfterPeriods } = recurs.rollover;
    let held = 0n;
    for (const { source } of this.#rollovers) {
      const isOther = source.isIn && source.grant.subscriptionId === row.subscriptionId;
      if (isOther) held += room(source) ?? 0n;
    }
    const rest = size > used ? size - used : 0n;
    const amount = rest < max - held ? rest : max - held;
    if (amount <= 0n) return;
    const { cycle } = recurs;
    const expiresAt = boundary(cycle, periodIndex(cycle, at) + expiresAfterPeriods);
    const id = this.#asked.ids.derive('rollover', row.id, String(at));
    const grant = rolloverGrant(row, { id, at, amount, expiresAt });
    const source = sourceOf(grant, amount);
    this.#rollovers.push({ source, isNew: true });
    this.#enter(source);
    const end = row.subscriptionId === null ? expiresAt : Math.min(expiresAt, chain.until);
    this.#insert({ at: end, rank: RANK.end, happen: () => this.#walk.leave(source) });
  }

  /** Among those that are still to come. */
  #insert(moment: Moment): void {
    if (timeOf(moment.at) > this.#now || moment.at <= this.#from) return;
    const isAfter = ({ at, rank }: Moment): boolean =>
      at > moment.at || (at === moment.at && rank > moment.rank);
    let index = this.#taken;
    while (index < this.#moments.length && !isAfter(this.#moments[index] ?? moment)) index += 1;
    this.#moments.splice(index, 0, moment);
  }

  /** What has rolled over of a subscription's allowance ends with it. */
  #end(chain: Chain): void {
    const pot = this.#pots.get(chain);
    if (pot === undefined) return;
    const { subscriptionId } = pot.grant;
    const { ended = null, endedIn = 0 } = chain.rows.at(-1) ?? {};
    for (const { source } of subscriptionId === null ? NONE : this.#rollovers) {
      if (!source.isIn || source.grant.subscriptionId !== subscriptionId) continue;
      this.#walk.leave(source);
      source.grant = { ...source.grant, ended, endedIn };
    }
    this.#walk.leave(pot);
    this.#pots.delete(chain);
  }

  #span({ span: { id, subscriptionId }, end }: Sold, period: Period): void {
    if (end === Infinity) return;
    this.#at(end, RANK.end - 1, () => this.#spanLimits.set(id, this.#walk.limit(false)));
    if (period.end === null || end < period.end) {
      this.#at(end, RANK.bill, () => this.#walk.bill(subscriptionId, this.#held.units));
    }
  }

  #marksOf(accountId: string): readonly StretchMark[] {
    return this.#marks.get(accountId) ?? NONE;
  }

  /** The stretch until then. */
  #use(until: number): void {
    const period = this.#period;
    if (period === null) return;
    const from = this.#from;
    this.#from = until;
    const aggregate = this.#aggregateAt(period, until);
    const net = aggregate - this.#aggregate + this.#heldUntil(period, until);
    this.#aggregate = aggregate;
    const sellerId = this.#sellerAt(period, from);
    if (net !== 0n) this.#walk.use(net, { from, sellerId });
  }

  /** What is held of the stretch until then: it counts as use of it. */
  #heldUntil({ accountId }: Period, until: number): bigint {
    const holds = this.#holds.get(accountId);
    if (holds === undefined) return 0n;
    let { count, units } = this.#held;
    const before = units;
    for (let one = holds[count]; one !== undefined && heldSince(one) < until; one = holds[count]) {
      units += one.amount;
      count += 1;
    }
    this.#held = { count, units };
    return units - before;
  }

  #aggregateAt({ accountId, aggregate, end }: Period, at: number): bigint {
    if (at === Infinity || (end !== null && timeOf(at) >= end)) return aggregate;
    const marks = this.#marksOf(accountId);
    return marks[countUntil(marks, at) - 1]?.aggregate ?? 0n;
  }

  #sellerAt({ accountId }: Period, at: number): string | null {
    const its = this.#spans.get(accountId);
    const sold = its?.findLast(({ span, end }) => span.start <= at && end > at);
    return sold?.span.subscriptionId ?? null;
  }
}

/** So many cost as much as a moment. */
const HOLDS_OF_MOMENT = 16;

/** A span, and the moment in which it closed; Infinity while it runs. */
type Sold = { readonly span: Span; readonly end: number };

const NONE: readonly never[] = [];
