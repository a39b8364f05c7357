// Carries a run on: page after page and step after step, until it is finished, somebody wants to
// pause, or the processor does not answer.
//
// Holds: after each page the place behind it is stored, so whatever is killed, the run goes on
// there. A page that is read twice changes nothing the second time.
import { must } from '../../ledger/kernel/assert.ts';
import type { Clock, Ids, Log } from '../../ledger/ports.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  finishRun,
  type Progress,
  releaseRun,
  type Run,
  saveProgress,
} from '../records/reconciliation-runs.ts';
import { type AccountBooks, BooksFailed, BooksRefused } from './account-books.ts';
import type { Mend } from './check.ts';
import { STEPS } from './steps.ts';

export type RunDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** @throws where its key cannot be decrypted */
  readonly booksOf: (run: Run) => AccountBooks;
  readonly mend: Mend | null;
};

/** `taken`: it was held for too long, and another goes on with it. */
export type Ended = 'finished' | 'paused' | 'failed' | 'taken';

/** Well within a hold. */
const KEEP_MS = 20_000;

export const FIRST_STEP = must(STEPS[0], 'a step').name;

/** Works on a run that `holder` holds. @throws where the database does not answer */
export async function carryOn(
  deps: RunDeps,
  {
    run,
    holder,
    isOver,
  }: { readonly run: Run; readonly holder: string; readonly isOver: () => boolean },
): Promise<Ended> {
  const { sql, log } = deps;
  const of = { id: run.id, holder };
  const { organisationId, mode, processor } = run;
  const whose = { organisationId, mode, processor };
  try {
    const ended = await new Work(deps, run, holder).go(isOver);
    if (ended === 'finished') log.info({ ...whose, until: run.until }, 'an account is reconciled');
    return ended;
  } catch (error) {
    if (!(error instanceof BooksFailed)) {
      await releaseRun(sql, { ...of, error: 'a fault of ours: see the log' });
      throw error;
    }
    log.warn({ ...whose, reason: error.message }, 'an account could not be reconciled');
    // Its key is gone for good: nothing of it can be asked any more.
    const isGone = error instanceof BooksRefused && run.isEnded;
    await (isGone ? finishRun : releaseRun)(sql, { ...of, error: error.message });
    return 'failed';
  }
}

class Lost extends Error {}

class Work {
  readonly #deps: RunDeps;
  readonly #run: Run;
  readonly #holder: string;
  #at: Progress;
  #keptAt: number;

  constructor(deps: RunDeps, run: Run, holder: string) {
    this.#deps = deps;
    this.#run = run;
    this.#holder = holder;
    this.#at = run;
    this.#keptAt = deps.clock.monotonic();
  }

  async go(isOver: () => boolean): Promise<Ended> {
    const { sql } = this.#deps;
    const of = { id: this.#run.id, holder: this.#holder, error: null };
    const books = this.#deps.booksOf(this.#run);
    try {
      while (await this.#page(books)) {
        if (!isOver()) continue;
        await releaseRun(sql, of);
        return 'paused';
      }
    } catch (error) {
      if (error instanceof Lost) return 'taken';
      throw error;
    }
    await finishRun(sql, of);
    return 'finished';
  }

  /** Whether there is more to do. */
  async #page(books: AccountBooks): Promise<boolean> {
    const { step: name, cursor, compared, notOurs } = this.#at;
    const place = STEPS.findIndex((step) => step.name === name);
    const step = must(STEPS[place], 'a step of this release');
    const keep = () => this.#keep();
    const deps = { ...this.#deps, books, account: this.#run, run: this.#run, keep };
    const done = await step.page(deps, cursor);
    const following = done.next === null ? STEPS[place + 1] : step;
    await this.#save({
      step: following?.name ?? name,
      cursor: done.next,
      compared: compared + BigInt(done.compared ?? 0),
      notOurs: notOurs + BigInt(done.notOurs ?? 0),
    });
    return following !== undefined;
  }

  async #keep(): Promise<void> {
    if (this.#deps.clock.monotonic() - this.#keptAt > KEEP_MS) await this.#save(this.#at);
  }

  async #save({ step, cursor, compared, notOurs }: Progress): Promise<void> {
    const { id } = this.#run;
    const at = { step, cursor, compared, notOurs };
    if (!(await saveProgress(this.#deps.sql, { id, holder: this.#holder, ...at })))
      throw new Lost();
    this.#at = at;
    this.#keptAt = this.#deps.clock.monotonic();
  }
}
