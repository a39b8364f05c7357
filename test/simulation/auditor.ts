// The allowed answers of each call, computed without the code that answers it.
//
// Every usage carries a mark that is stored with it, and all other ids follow from the caller's
// choice. So each row of the database belongs to one operation that a client wanted, and the rows
// are in the order of execution.
import type { Fence } from '../../ledger/storage.ts';
import { alertProblems } from './alerts.ts';
import { POISONED } from './hard.ts';
import { type Database, type Written, totalsOf } from './database.ts';

/**
 * An operation that a client wants done once: all attempts with one key belong to one operation.
 */
export type Wanted = {
  readonly what: string;
  readonly accountId: string;
  /** When the first attempt began. */
  readonly startedAt: number;
  /** When each attempt began, and when its answer came. */
  readonly tries: { readonly from: number; to: number }[];
  /** When the first answer came that confirms it; null while none did. */
  doneAt: number | null;
  /** How much it takes from the account's balance; negative where it adds. */
  readonly takes: bigint;
};

/** An answer about a balance. */
export type Seen = {
  readonly what: string;
  readonly accountId: string;
  /** When it was asked for, and when the answer came. */
  readonly from: number;
  readonly to: number;
  /** The answer: exactly this, or less than this. */
  readonly balance: bigint;
  readonly says: 'is' | 'is below';
  /** Whether it may include writes that are not durable yet and may never be. */
  readonly tentative: boolean;
};

export class Auditor {
  readonly problems: string[] = [];
  /**
   * Whether the database has lost acknowledged writes: then only processes that go on writing there
   * are wrong.
   */
  isLossy = false;
  /**
   * Processes that acknowledged such writes, and the seat that they had; until another process has
   * it.
   */
  readonly behind = new Map<string, Fence>();
  readonly #now: () => number;
  /** By mark. */
  readonly #wanted = new Map<string, Wanted>();
  readonly #seen: Seen[] = [];
  /** Marks of rows that carry none. */
  readonly #marks = new Map<string, string>();
  /** The first answer to each key. */
  readonly #answers = new Map<string, string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Something is wrong. After lost writes, only what `matters` even then counts. */
  report(problem: string, matters: 'always' | null = null): void {
    if (this.isLossy && matters === null) return;
    this.problems.push(`${this.#now().toFixed(3)} ms: ${problem}`);
  }

  demand(condition: boolean, problem: string): void {
    if (!condition) this.report(problem);
  }

  /** An attempt begins. Returns a function to call when this attempt is answered. */
  want(mark: string, wanted: Pick<Wanted, 'what' | 'accountId' | 'takes'>): () => void {
    const known = this.#wanted.get(mark);
    const first = { ...wanted, startedAt: this.#now(), tries: [], doneAt: null };
    if (known === undefined) this.#wanted.set(mark, first);
    const one = { from: this.#now(), to: Infinity };
    (known ?? first).tries.push(one);
    return () => {
      one.to = this.#now();
    };
  }

  /** The row with this id belongs to that mark. */
  mark(id: string, mark: string): void {
    this.#marks.set(id, mark);
  }

  /** The confirming answer has come. */
  done(mark: string): void {
    const wanted = this.#wanted.get(mark)!;
    wanted.doneAt ??= this.#now();
  }

  /** All attempts with one key get the same answer. */
  same(key: string, answer: unknown): void {
    const said = Bun.inspect(answer, { sorted: true, compact: true });
    const first = this.#answers.get(key) ?? said;
    this.#answers.set(key, first);
    this.demand(first === said, `key ${key} was answered ${said}, and ${first} before`);
  }

  see(seen: Seen): void {
    this.#seen.push(seen);
  }

  /** What a process must never report of itself. */
  said(name: string, message: string, error: unknown): void {
    const isPlanted = error instanceof Error && error.message === POISONED;
    if (EXPECTED.has(message) || isPlanted) return;
    this.report(`${name} says: ${message} ${error instanceof Error ? error.message : ''}`);
  }

  /** All that can be said at the end. */
  close(db: Database): void {
    const rows = db.transfers.values().sort((a, b) => a.order - b.order);
    this.#checkFold(db, rows);
    for (const problem of alertProblems(db)) this.report(problem);
    const ofAccount = new Map<string, Row[]>();
    const counts = new Map<string, number>();
    for (const written of rows) {
      const mark = this.#markOf(written);
      if (mark !== null) counts.set(mark, (counts.get(mark) ?? 0) + 1);
      for (const { accountId, delta } of changesOf(written)) {
        const list = ofAccount.get(accountId) ?? [];
        ofAccount.set(accountId, list);
        list.push({ mark, delta, at: written.at });
      }
    }
    for (const [mark, { what, doneAt }] of this.#wanted) {
      const count = counts.get(mark) ?? 0;
      this.demand(count <= 1, `${what} was done ${count} times`);
      this.demand(
        this.isLossy || doneAt === null || count === 1,
        `${what} was acknowledged and is lost`,
      );
    }
    for (const seen of this.#seen) this.#checkSeen(seen, ofAccount.get(seen.accountId) ?? []);
  }

  #markOf({ transfer: { id, usage } }: Written): string | null {
    const mark = usage?.metadata?.['mark'];
    return typeof mark === 'string' ? mark : (this.#marks.get(id) ?? null);
  }

  /** I2; and each usage was answered with the account's state right after it. */
  #checkFold(db: Database, rows: readonly Written[]): void {
    const folded = new Map<string, { debits: bigint; credits: bigint }>();
    const fold = (id: string): { debits: bigint; credits: bigint } => {
      const known = folded.get(id) ?? { debits: 0n, credits: 0n };
      folded.set(id, known);
      return known;
    };
    for (const { transfer } of rows) {
      const { id, debit, credit, kind, amount, usage } = transfer;
      const posted = kind === 'reverse' ? -amount : kind === 'pending' ? 0n : amount;
      fold(debit).debits += posted;
      fold(credit).credits += posted;
      if (usage === null || kind === 'refused') continue;
      const { debits, credits } = fold(debit);
      this.demand(usage.consumedAfter === debits, `I2: usage ${id} was counted as another number`);
      const isLimit = usage.limitAfter === null || usage.limitAfter === credits;
      this.demand(isLimit, `I2: usage ${id} had another limit`);
    }
    for (const { id, totals } of db.accounts.values()) {
      const { debits, credits } = fold(id);
      const isFold = totals.debitsPosted === debits && totals.creditsPosted === credits;
      this.demand(isFold, `I2: account ${id} is not the fold of its transfers`);
    }
    const { debits, credits } = totalsOf(db);
    this.demand(debits === credits, 'I1: debits are not equal to credits');
  }

  /**
   * The answer is the sum of some prefix of the account's rows: it includes everything acknowledged
   * before the request, and nothing that was not durable at the answer. A tentative answer may be
   * lower, by what was in flight.
   */
  #checkSeen(seen: Seen, rows: readonly Row[]): void {
    const { from, to } = seen;
    const known = rows.findLastIndex(({ mark }) => this.#isDone(mark, from));
    let balance = 0n;
    const possible: bigint[] = known < 0 ? [0n] : [];
    for (const [place, { delta, at }] of rows.entries()) {
      if (place > known && at > to) break;
      balance += delta;
      if (place >= known) possible.push(balance);
    }
    const least = possible.reduce((a, b) => (b < a ? b : a));
    const most = possible.reduce((a, b) => (b > a ? b : a));
    const isRight =
      seen.says === 'is below'
        ? least < seen.balance
        : possible.includes(seen.balance) ||
          (seen.tentative &&
            seen.balance <= most &&
            seen.balance >= least - this.#underWay(seen, rows));
    if (isRight) return;
    const may = `may be ${possible.slice(0, 8).join(', ')}`;
    this.report(`${seen.what}, asked at ${from.toFixed(3)}: ${seen.says} ${seen.balance}, ${may}`);
  }

  #isDone(mark: string | null, by: number): boolean {
    const wanted = mark === null ? undefined : this.#wanted.get(mark);
    return wanted !== undefined && wanted.doneAt !== null && wanted.doneAt < by;
  }

  /**
   * Everything that had begun to be taken from the account and may never be written, or only later;
   * and retries, until their node finds that they were done before.
   */
  #underWay({ accountId, from, to }: Seen, rows: readonly Row[]): bigint {
    let sum = 0n;
    const written = new Map(rows.map((row) => [row.mark, row.at]));
    for (const [mark, wanted] of this.#wanted) {
      if (wanted.accountId !== accountId || wanted.startedAt > to || wanted.takes < 0n) continue;
      const isTried = wanted.tries.some((one) => one.from <= to && one.to >= from);
      if (isTried || (written.get(mark) ?? Infinity) > to) sum += wanted.takes;
    }
    return sum;
  }
}

type Row = { readonly mark: string | null; readonly delta: bigint; readonly at: number };

function changesOf({ transfer }: Written): { accountId: string; delta: bigint }[] {
  const { kind, amount, debit, credit, hold } = transfer;
  if (kind === 'refused') return [];
  const moved = kind === 'reverse' ? -amount : amount - (hold?.amount ?? 0n);
  return [
    { accountId: debit, delta: -moved },
    { accountId: credit, delta: moved },
  ];
}

/** What fails by itself where processes are killed and cut off. */
const EXPECTED: ReadonlySet<string> = new Set([
  'another node has taken the seat',
  'the database is behind this node: a stale copy was promoted',
  'abandoned',
  'a decision cannot be written',
]);
