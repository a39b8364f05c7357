import { NotOwner } from '../actor/own-slots.ts';
import type { OwnershipSession } from '../actor/ownership-session.ts';
import { assert } from '../kernel/assert.ts';
import { MAILBOX_MAX } from '../limits.ts';
import {
  type Clock,
  LedgerUnavailable,
  type SharedClock,
  PeerFailure,
  type Peers,
} from '../ports.ts';
import type { Member } from './member.ts';
import {
  type PeerReply,
  answering,
  answerOf,
  type PeerRequest,
  MOVED,
  type Request,
} from './messages.ts';
import {
  expectRepeat,
  NON_IDEMPOTENT,
  OPS,
  type OpAnswer,
  type OpArguments,
  type OpName,
} from './ops.ts';

/**
 * Runs what is asked where its slot is served: here, or on the node that serves it.
 *
 *     run ─▶ here: the op itself
 *         ─▶ there: one request to the owner ─▶ its answer, or `moved`: look again, ask again
 *         ─▶ nowhere: wait for what moves or is taken over, within a bound
 *
 * Holds: a request takes one hop at most, because what a node asks of another is never passed on. An op whose answer was lost is run
 * again only where that is the same as once (`ONCE`). A stale map costs a hop, never a wrong answer: the owner knows what it owns. Both
 * say what time it is, so neither is behind the other when it decides on what the other has stamped.
 */
export class Router {
  readonly #member: Member;
  readonly #peers: Peers | null;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #orgClock: SharedClock;
  readonly #onTold: (what: unknown) => unknown;
  /** Calls that wait now. */
  #held = 0;
  readonly #stats = { forwarded: 0, answeredForOthers: 0, movedAnswers: 0, heldCalls: 0 };

  constructor(deps: {
    member: Member;
    peers: Peers | null;
    clock: Clock;
    leaseMs: number;
    orgClock: SharedClock;
    /** What another node tells all (`Others`). */
    onTold: (what: unknown) => unknown;
  }) {
    this.#member = deps.member;
    this.#peers = deps.peers;
    this.#clock = deps.clock;
    this.#leaseMs = deps.leaseMs;
    this.#orgClock = deps.orgClock;
    this.#onTold = deps.onTold;
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
    for (let isRepeat = false; ;) {
      const found: Attempted<N> = await this.attempt(slot, name, { args, isRepeat });
      if ('answer' in found) return found.answer;
      isRepeat ||= found.isLost;
      await waits();
    }
  }

  /** Once, where the slot is served as far as is known. */
  async attempt<N extends OpName>(
    slot: number,
    name: N,
    call: Call<OpArguments<N>>,
  ): Promise<Attempted<N>> {
    const location = this.#member.locate(slot);
    if (location.kind === 'nowhere') return NOT_RUN;
    if (location.kind === 'there') {
      const asked: PeerRequest = [this.#orgClock.wall(), slot, name, call.args, call.isRepeat];
      const answer = await this.#ask(location.address, asked);
      if (answer === MOVED) return NOT_RUN;
      if (answer === LOST) return { isLost: true };
      return { answer: answerOf(answer, this.#orgClock) as OpAnswer<N> };
    }
    try {
      return { answer: await runHere(location.session, name, call) };
    } catch (error) {
      if (error instanceof NotOwner) return NOT_RUN;
      throw error;
    }
  }

  /**
   * What waits between the attempts of one call. It throws LedgerUnavailable where that has taken too long, or nothing can change. A call
   * that `isBegun` has other parts that are done: it waits past a takeover, be it by this node, alone.
   */
  waits(): (call?: { readonly isBegun: boolean }) => Promise<void> {
    const began = this.#clock.monotonic();
    let tries = 0;
    return ({ isBegun } = { isBegun: false }) => {
      tries += 1;
      return this.#wait(began, { tries, isBegun });
    };
  }

  /** What a peer asks of this node. Without a promise where the answer is in memory. */
  answer(request: unknown): unknown {
    const asked = request as Request;
    this.#orgClock.observe(asked[0]);
    if (asked[1] === 'look') {
      this.#member.poke();
      return null;
    }
    if (asked[1] === 'told') {
      const [, , what] = asked;
      return answering(this.#orgClock, () => this.#onTold(what));
    }
    const [, slot, name, args, isRepeat] = asked;
    this.#stats.answeredForOthers += 1;
    const location = this.#member.locate(slot);
    if (location.kind !== 'here') {
      // It may be ours since a moment ago.
      this.#member.poke();
      return MOVED;
    }
    return answering(this.#orgClock, () => runHere(location.session, name, { args, isRepeat }));
  }

  async #ask(address: string, asked: PeerRequest): Promise<PeerReply | typeof MOVED | typeof LOST> {
    assert(this.#peers !== null, 'only who has peers finds a slot there');
    this.#stats.forwarded += 1;
    try {
      const answer = await this.#peers.ask(address, asked, { withinMs: ANSWER_MS_MAX });
      if (answer !== MOVED) return answer as PeerReply;
      this.#stats.movedAnswers += 1;
      this.#member.poke();
      return MOVED;
    } catch (error) {
      if (!(error instanceof PeerFailure)) throw error;
      const [, , name] = asked;
      if (error.maybeDone && NON_IDEMPOTENT.has(name)) {
        throw new LedgerUnavailable('what became of it is not known: another node was lost');
      }
      this.#member.poke();
      return error.maybeDone ? LOST : MOVED;
    }
  }

  async #wait(
    began: number,
    { tries, isBegun }: { readonly tries: number; readonly isBegun: boolean },
  ): Promise<void> {
    const heldMsMax = isBegun ? 2 * this.#leaseMs + HELD_MS_MAX : HELD_MS_MAX;
    const left = began + heldMsMax - this.#clock.monotonic();
    const { reason = 'what this is about is on its way to another node' } =
      this.#member.readiness();
    const isVain = this.#member.isClosed || (!this.#member.hasOthers && !isBegun);
    if (isVain) throw new LedgerUnavailable(reason);
    // One that was sent and lost has waited already: it gets one more try.
    if ((left <= 0 && tries > 1) || this.#held >= MAILBOX_MAX) throw new LedgerUnavailable(reason);
    this.#stats.heldCalls += 1;
    this.#held += 1;
    try {
      await this.#member.changed(Math.min(Math.max(left, 1), RETRY_MS_MIN << Math.min(tries, 6)));
    } finally {
      this.#held -= 1;
    }
  }
}

/** The answer, or that it was not run; `isLost`: it may have been, and is asked for again as a repeat. */
type Attempted<N extends OpName> = { readonly answer: OpAnswer<N> } | { readonly isLost: boolean };

/** `isRepeat`: it was asked for before, and the answer was lost. */
type Call<A extends readonly unknown[]> = { readonly args: A; readonly isRepeat: boolean };

function runHere<N extends OpName>(
  session: OwnershipSession,
  name: N,
  { args, isRepeat }: Call<readonly unknown[]>,
): Promise<OpAnswer<N>> {
  if (isRepeat) expectRepeat(session, name, args);
  const op = OPS[name] as unknown as (
    session: OwnershipSession,
    ...args: readonly unknown[]
  ) => Promise<OpAnswer<N>>;
  return op(session, ...args);
}

const NOT_RUN = { isLost: false } as const;
/** It may have been run. */
const LOST = 1;

/** For how long a call waits for a slot that nobody serves now: a planned move takes milliseconds, a takeover longer than anybody waits. */
const HELD_MS_MAX = 2000;
/** A node that is alive and does not answer: its lease is over before. */
const ANSWER_MS_MAX = 15_000;
const RETRY_MS_MIN = 4;
