import { NotHere } from '../actor/own-slots.ts';
import type { Term } from '../actor/term.ts';
import { assert } from '../assert.ts';
import { type Clock, LedgerUnavailable, PeerFailure, type Peers } from '../ports.ts';
import { LOOK, type Member } from './member.ts';
import { ONCE, OPS, type OpAnswer, type OpArguments, type OpName } from './ops.ts';

/**
 * Runs what is asked where its slot is served: here, or on the node that serves it.
 *
 *     run ─▶ here: the op itself
 *         ─▶ there: one request to the owner ─▶ its answer, or `moved`: look again, ask again
 *         ─▶ nowhere: wait for what moves or is taken over, within a bound
 *
 * Holds: a request takes one hop at most, because what a node asks of another is never passed on. An op whose answer was lost is run
 * again only where that is the same as once (`ONCE`). A stale map costs a hop, never a wrong answer: the owner knows what it owns.
 */
export class Router {
  readonly #member: Member;
  readonly #peers: Peers | null;
  readonly #clock: Clock;
  readonly #stats = { forwarded: 0, answeredForOthers: 0, movedAnswers: 0, heldCalls: 0 };

  constructor(deps: { member: Member; peers: Peers | null; clock: Clock }) {
    this.#member = deps.member;
    this.#peers = deps.peers;
    this.#clock = deps.clock;
  }

  get stats(): Readonly<Record<string, number>> {
    return this.#stats;
  }

  /** @throws LedgerUnavailable */
  async run<N extends OpName>(
    slot: number,
    name: N,
    ...args: OpArguments<N>
  ): Promise<OpAnswer<N>> {
    const waits = this.waits();
    for (;;) {
      const found = await this.attempt(slot, name, args);
      if (found !== null) return found.answer;
      await waits();
    }
  }

  /** Once, where the slot is served as far as is known: the answer; null where it was not run, or may be run again. */
  async attempt<N extends OpName>(
    slot: number,
    name: N,
    args: OpArguments<N>,
  ): Promise<{ readonly answer: OpAnswer<N> } | null> {
    const place = this.#member.place(slot);
    if (place.kind === 'nowhere') return null;
    if (place.kind === 'there') {
      const answer = await this.#ask(place.address, { slot, name, args });
      return answer === null ? null : { answer: answerOf<N>(answer) };
    }
    try {
      return { answer: await runHere(place.term, name, args) };
    } catch (error) {
      if (error instanceof NotHere) return null;
      throw error;
    }
  }

  /** What waits between the attempts of one call. It throws LedgerUnavailable where that has taken too long, or nothing can change. */
  waits(): () => Promise<void> {
    const began = this.#clock.monotonic();
    let tries = 0;
    return () => {
      tries += 1;
      return this.#wait(began, tries);
    };
  }

  /** What a peer asks of this node. Without a promise where the answer is in memory. */
  answer(request: unknown): unknown {
    if (request === LOOK) {
      this.#member.poke();
      return null;
    }
    const [slot, name, args] = request as Asked;
    this.#stats.answeredForOthers += 1;
    const place = this.#member.place(slot);
    if (place.kind !== 'here') {
      // It may be ours since a moment ago.
      this.#member.poke();
      return MOVED;
    }
    try {
      const result: unknown = runHere(place.term, name, args);
      return result instanceof Promise ? later(result) : [result];
    } catch (error) {
      return refused(error);
    }
  }

  /** The answer; null where the op was not run and may be asked for again. */
  async #ask(
    address: string,
    { slot, name, args }: { slot: number; name: OpName; args: readonly unknown[] },
  ): Promise<Answer | null> {
    assert(this.#peers !== null, 'only who has peers finds a slot there');
    this.#stats.forwarded += 1;
    try {
      const asked: Asked = [slot, name, args];
      const answer = await this.#peers.ask(address, asked, { withinMs: ANSWER_MS_MAX });
      if (answer === MOVED) {
        this.#stats.movedAnswers += 1;
        this.#member.poke();
        return null;
      }
      return answer as Answer;
    } catch (error) {
      if (!(error instanceof PeerFailure)) throw error;
      if (error.maybeDone && ONCE.has(name)) {
        throw new LedgerUnavailable('what became of it is not known: another node was lost');
      }
      this.#member.poke();
      return null;
    }
  }

  async #wait(began: number, tries: number): Promise<void> {
    const left = began + HELD_MS_MAX - this.#clock.monotonic();
    const { reason = 'what this is about is on its way to another node' } =
      this.#member.readiness();
    if (!this.#member.hasOthers) throw new LedgerUnavailable(reason);
    // One that was sent and lost has waited already: it gets one more try.
    if (left <= 0 && tries > 1) throw new LedgerUnavailable(reason);
    this.#stats.heldCalls += 1;
    await this.#member.changed(Math.min(Math.max(left, 1), RETRY_MS_MIN << Math.min(tries, 6)));
  }
}

function runHere<N extends OpName>(
  term: Term,
  name: N,
  args: readonly unknown[],
): Promise<OpAnswer<N>> {
  const op = OPS[name] as unknown as (
    term: Term,
    ...args: readonly unknown[]
  ) => Promise<OpAnswer<N>>;
  return op(term, ...args);
}

type Asked = readonly [slot: number, name: OpName, args: readonly unknown[]];

/** `[value]`; why the owner cannot answer now; or what went wrong there, a bug or lost I/O. */
type Answer = readonly [value: unknown] | string | Failed;
type Failed = { readonly message: string; readonly code: unknown };

/** The slot is not that node's. */
const MOVED = 0;

async function later(result: Promise<unknown>): Promise<Answer | typeof MOVED> {
  try {
    return [await result];
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): Answer | typeof MOVED {
  if (error instanceof NotHere) return MOVED;
  if (error instanceof LedgerUnavailable) return error.message;
  const { message, code } = error as Failed;
  return { message, code: typeof code === 'string' ? code : null };
}

function answerOf<N extends OpName>(answer: Answer): OpAnswer<N> {
  if (typeof answer === 'string') throw new LedgerUnavailable(answer);
  if ('message' in answer) throw Object.assign(new Error(answer.message), { code: answer.code });
  return answer[0] as OpAnswer<N>;
}

/** For how long a call waits for a slot that nobody serves now: a planned move takes milliseconds, a takeover longer than anybody waits. */
const HELD_MS_MAX = 2000;
/** A node that is alive and does not answer: its lease is over before. */
const ANSWER_MS_MAX = 15_000;
const RETRY_MS_MIN = 4;
