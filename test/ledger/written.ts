// What the ledger's own RowBuilder makes of one customer's decisions, kept as the store would keep
// it.
//
// Holds: every account here is the fold of those rows, and refuses what the store refuses: an
// account that is opened twice, and totals that are not what the decision believed. What is in
// memory was written.
import { isDeepStrictEqual } from 'node:util';
import { RowBuilder } from '../../ledger/actor/rows.ts';
import type { LedgerEvent } from '../../ledger/event.ts';
import {
  NO_TOTALS,
  type Totals,
  type Transfer,
  applyTransfer,
} from '../../ledger/kernel/transfers.ts';
import type { Grant } from '../../ledger/metering/grants.ts';
import type { MeterContext } from '../../ledger/metering/meter-draft.ts';
import type { MeterEffects } from '../../ledger/metering/meter-effects.ts';
import type { Meter, MeterState, Period } from '../../ledger/metering/meter.ts';
import type { Reservation } from '../../ledger/metering/reservation.ts';
import type { Span } from '../../ledger/metering/span.ts';
import type { StretchMark } from '../../ledger/metering/stretch.ts';

/** Of one meter, as last written. */
type OfMeter = {
  state: MeterState;
  /** The live ones. */
  readonly spans: Map<string, Span>;
  readonly open: Map<string, Reservation>;
};

export class Written {
  readonly transfers: Transfer[] = [];
  readonly events: LedgerEvent[] = [];
  /** As last written, with the ended ones. */
  readonly grants = new Map<string, Grant>();
  readonly accounts = new Map<string, Totals>();
  /** As last written, with the resolved ones. */
  readonly reservations = new Map<string, Reservation>();
  readonly members = new Set<string>();
  /** As last written, by account and start. */
  readonly marks = new Map<string, StretchMark>();
  readonly #rows = new RowBuilder();
  readonly #periods = new Map<string, Period>();
  /** What a pool asks, by account. */
  readonly #rates = new Map<string, bigint>();
  readonly #meters = new Map<string, OfMeter>();
  readonly #emptyOf: (meter: Meter) => MeterState;
  readonly #books: ReadonlySet<string>;

  constructor(books: readonly MeterContext['books'][], emptyOf: (meter: Meter) => MeterState) {
    this.#books = new Set(books.flatMap(({ usage, grants }) => [usage, grants]));
    this.#emptyOf = emptyOf;
  }

  take(effects: MeterEffects): void {
    const rows = this.#rows.build([effects]);
    for (const { id, delta, kind } of rows.opened) {
      if (this.accounts.has(id)) throw new Error(`${kind} account ${id} is opened twice`);
      if ((kind === 'meter') === this.#books.has(id)) {
        throw new Error(`account ${id} is no ${kind} account`);
      }
      this.accounts.set(id, sumOf(NO_TOTALS, delta));
    }
    for (const { id, delta, expected } of rows.touched) {
      const before = this.accounts.get(id);
      if (before === undefined) throw new Error(`account ${id} does not exist`);
      const believed = expected ?? before;
      if (
        believed.debitsPosted !== before.debitsPosted ||
        believed.creditsPosted !== before.creditsPosted
      ) {
        throw new Error(`account ${id} is not what the decision believed`);
      }
      this.accounts.set(id, sumOf(before, delta));
    }
    this.#rows.committed(rows);
    for (const { grant } of rows.grants) this.grants.set(grant.id, grant);
    for (const { mark } of rows.marks) this.marks.set(keyOf(mark), mark);
    for (const { reservation } of rows.reservations) this.#keep(reservation);
    for (const { accountId, member } of rows.members) {
      if (this.members.has(`${accountId} ${member}`)) throw new Error(`${member} counts twice`);
      this.members.add(`${accountId} ${member}`);
    }
    for (const { accountId, rate } of rows.pooled) {
      if (this.#rates.has(accountId)) throw new Error(`${accountId} is paid for twice`);
      this.#rates.set(accountId, rate);
    }
    this.#takeMeter(effects);
  }

  /** As last written, ascending. */
  get periods(): Period[] {
    return [...this.#periods.values()].sort((a, b) => a.start - b.start);
  }

  /** Recomputes every account from every transfer, without the code that folded them before. */
  refold(): Map<string, Totals> {
    const totals = new Map<string, Totals>();
    for (const transfer of this.transfers) {
      if (transfer.kind === 'refused') continue;
      for (const side of ['debit', 'credit'] as const) {
        const before = totals.get(transfer[side]) ?? NO_TOTALS;
        totals.set(transfer[side], applyTransfer(before, transfer, side));
      }
    }
    return totals;
  }

  #takeMeter(effects: MeterEffects): void {
    this.transfers.push(...effects.transfers);
    this.events.push(...effects.events);
    const known = this.#meters.get(effects.meter.id) ?? {
      state: this.#emptyOf(effects.meter),
      spans: new Map<string, Span>(),
      open: new Map<string, Reservation>(),
    };
    this.#expectWritten(effects, known);
    known.state = effects.state;
    this.#meters.set(effects.meter.id, known);
    for (const other of effects.beside) this.#takeMeter(other);
  }

  #keep(reservation: Reservation): void {
    const before = this.reservations.get(reservation.id)?.status ?? 'open';
    const isLate = before === 'expired' && reservation.late;
    if (before !== 'open' && !isLate) throw new Error(`${reservation.id} is resolved twice`);
    this.reservations.set(reservation.id, reservation);
  }

  /** A crash now leaves what is in memory. */
  #expectWritten(effects: MeterEffects, known: OfMeter): void {
    const { state, periods, spans, stateChanged } = effects;
    for (const grant of state.grants) {
      if (this.grants.get(grant.id) !== grant) throw new Error(`grant ${grant.id} is not written`);
    }
    for (const grant of state.ended) {
      if (this.grants.get(grant.id) !== grant) throw new Error(`ended ${grant.id} is not written`);
    }
    for (const mark of state.marks) {
      if (!isDeepStrictEqual(this.marks.get(keyOf(mark)), mark)) {
        throw new Error(`mark ${keyOf(mark)} is not written`);
      }
    }
    for (const { after } of periods) this.#periods.set(after.accountId, after);
    for (const period of [state.current, ...state.others]) {
      const written = this.#periods.get(period.accountId);
      const isAsWritten =
        written?.granted === period.granted &&
        written.consumed === period.consumed &&
        written.reserved === period.reserved;
      if (period.opened && !isAsWritten) {
        throw new Error(`period ${period.accountId} is not written`);
      }
      if (period !== state.current && period.opened && written?.end !== period.end) {
        throw new Error(`the end of ${period.accountId} is not written`);
      }
      const rate = this.#rates.get(period.accountId) ?? null;
      if (rate !== period.rate || (rate !== null && !period.opened)) {
        throw new Error(`what ${period.accountId} costs is not written`);
      }
    }
    for (const one of effects.reservations) {
      if (one.status === 'open') known.open.set(one.id, one);
      else known.open.delete(one.id);
    }
    if (!isDeepStrictEqual(new Set(known.open.values()), new Set(state.reservations))) {
      throw new Error('a reservation is not written');
    }
    for (const { span, isLive } of spans) {
      if (isLive) known.spans.set(span.id, span);
      else known.spans.delete(span.id);
    }
    const isWritten = (span: Span): boolean => known.spans.get(span.id) === span;
    if (state.spans.length !== known.spans.size || !state.spans.every(isWritten)) {
      throw new Error('a span is not written');
    }
    // What of periods, spans, reservations and the top-up has changed is in rows of their own.
    const { current, others, spans: before, reservations, topUp, marks, ended } = known.state;
    const { historyLoaded } = known.state;
    const beside = { reservations, topUp, marks, ended, historyLoaded };
    const own = { ...state, current, others, spans: before, ...beside };
    const isMoved =
      current.accountId !== state.current.accountId || current.end !== state.current.end;
    if (!stateChanged && isMoved) throw new Error('where the period ends is not written');
    if (!stateChanged && !isDeepStrictEqual(own, known.state)) {
      throw new Error('the state is not written');
    }
  }
}

const keyOf = ({ accountId, start }: StretchMark): string => `${accountId} ${start}`;

function sumOf(a: Totals, b: Totals): Totals {
  return {
    debitsPosted: a.debitsPosted + b.debitsPosted,
    debitsPending: a.debitsPending + b.debitsPending,
    creditsPosted: a.creditsPosted + b.creditsPosted,
    creditsPending: a.creditsPending + b.creditsPending,
  };
}
