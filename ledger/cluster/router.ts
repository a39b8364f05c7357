import { NotOwner } from '../actor/own-slots.ts';
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
  type PeerRequest,
  MOVED,
  type Request,
  replyTo,
  valueOf,
} from './messages.ts';
import { NON_IDEMPOTENT, type OpAnswer, type OpArguments, type OpName, runOp } from './ops.ts';

/**
 * Runs an operation on the node that owns its slot.
 *
 *     run ─▶ here:    runs the op
 *         ─▶ there:   sends one request to the owner; on `moved`, refreshes the map and retries
 *         ─▶ nowhere: waits until the slot has moved or was taken over, within a bound
 *
 * Holds:
 * - A request takes one hop at most: a node does not forward what another node asks.
 * - An op whose reply was lost runs again only if that counts once (`NON_IDEMPOTENT`).
 * - A stale map costs a hop and never gives a wrong answer: the owner knows what it owns.
 * - Requests and replies carry the sender's time, so a node never decides on a stamp of another
 *   node with an earlier clock.
 *
 * Does not: choose owners (`placement.ts`) or move slots (`member.ts`).
 */
export class Router {
  readonly #member: Member;
  readonly #peers: Peers | null;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #orgClock: SharedClock;
  readonly #onTold: (what: unknown) => unknown;
  /** Calls that wait for a slot now. */
  #held = 0;
  readonly #stats = { forwarded: 0, answeredForOthers: 0, movedAnswers: 0, heldCalls: 0 };

  constructor(deps: {
    member: Member;
    peers: Peers | null;
    clock: Clock;
    leaseMs: number;
    orgClock: SharedClock;
    /** Takes in what another node publishes (`Broadcast`); its return value is the reply. */
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
    const waiting = this.startWaiting();
    for (let isRepeat = false; ;) {
      const attempt: Attempt<N> = await this.attempt(slot, name, { args, isRepeat });
      if (attempt.kind === 'answered') return attempt.answer;
      isRepeat ||= attempt.kind === 'lost';
      await this.wait(waiting, 'planned_move');
    }
  }

  /** Runs the op once, on the node that owns the slot as far as this node knows. */
  async attempt<N extends OpName>(
    slot: number,
    name: N,
    { args, isRepeat }: Call<N>,
  ): Promise<Attempt<N>> {
    const location = this.#member.locate(slot);
    if (location.kind === 'nowhere') return NOT_RUN;
    if (location.kind === 'there') {
      const at = this.#orgClock.wall();
      return this.#ask<N>(location.address, [at, slot, name, args, isRepeat]);
    }
    try {
      const answer = await runOp(location.session, name, { args, isRepeat });
      return { kind: 'answered', answer };
    } catch (error) {
      if (error instanceof NotOwner) return NOT_RUN;
      throw error;
    }
  }

  /** For `wait`: when a call began. */
  startWaiting(): Waiting {
    return { began: this.#clock.monotonic(), tries: 0 };
  }

  /**
   * Waits between two attempts of one call, until the owners of slots change or a short time
   * passes.
   * @throws LedgerUnavailable where the call has waited too long, or where waiting cannot help
   */
  async wait(waiting: Waiting, patience: Patience): Promise<void> {
    waiting.tries += 1;
    const { began, tries } = waiting;
    const isTakeover = patience === 'takeover';
    const heldMsMax = isTakeover ? 2 * this.#leaseMs + HELD_MS_MAX : HELD_MS_MAX;
    const left = began + heldMsMax - this.#clock.monotonic();
    const { reason = 'this customer is moving to another node; retry' } = this.#member.readiness();
    if (this.#member.isClosed) throw new LedgerUnavailable(reason);
    // Without other nodes this one can answer: the last other one has just left it its slots.
    const refusal = isTakeover ? null : this.#member.refusal();
    if (refusal !== null) throw refusal;
    // A request that was sent and lost has waited already: it gets one more attempt.
    if ((left <= 0 && tries > 1) || this.#held >= MAILBOX_MAX) throw new LedgerUnavailable(reason);
    this.#stats.heldCalls += 1;
    this.#held += 1;
    try {
      await this.#member.changed(Math.min(Math.max(left, 1), RETRY_MS_MIN << Math.min(tries, 6)));
    } finally {
      this.#held -= 1;
    }
  }

  /** Replies to another node. Synchronous where the answer is in memory. */
  answer(message: unknown): unknown {
    const request = message as Request;
    this.#orgClock.observe(request[0]);
    if (request[1] === 'look') {
      this.#member.poke();
      return null;
    }
    if (request[1] === 'told') {
      const [, , what] = request;
      return replyTo(this.#orgClock, () => this.#onTold(what));
    }
    const [, slot, name, args, isRepeat] = request;
    this.#stats.answeredForOthers += 1;
    const location = this.#member.locate(slot);
    if (location.kind !== 'here') {
      // This node may own it since a moment ago: read the owners again.
      this.#member.poke();
      return MOVED;
    }
    return replyTo(this.#orgClock, () => runOp(location.session, name, { args, isRepeat }));
  }

  async #ask<N extends OpName>(address: string, request: PeerRequest<N>): Promise<Attempt<N>> {
    assert(this.#peers !== null, 'only a node with peers finds a slot there');
    this.#stats.forwarded += 1;
    let reply: PeerReply | typeof MOVED;
    try {
      const options = { withinMs: ANSWER_MS_MAX };
      reply = (await this.#peers.ask(address, request, options)) as typeof reply;
    } catch (error) {
      if (!(error instanceof PeerFailure)) throw error;
      const [, , name] = request;
      if (error.maybeDone && NON_IDEMPOTENT.has(name)) {
        throw new LedgerUnavailable('the outcome is unknown: another node was lost');
      }
      this.#member.poke();
      return error.maybeDone ? LOST : NOT_RUN;
    }
    if (reply === MOVED) {
      this.#stats.movedAnswers += 1;
      this.#member.poke();
      return NOT_RUN;
    }
    return { kind: 'answered', answer: valueOf(reply, this.#orgClock) as OpAnswer<N> };
  }
}

/** What became of one attempt. */
export type Attempt<N extends OpName> =
  | { readonly kind: 'answered'; readonly answer: OpAnswer<N> }
  /** The slot is not served where it was asked for: nothing was done. */
  | { readonly kind: 'not_run' }
  /** The owner was lost: the op may have run. The next attempt is a repeat. */
  | { readonly kind: 'lost' };

/** `isRepeat`: it was asked for before, and the reply was lost. */
type Call<N extends OpName> = { readonly args: OpArguments<N>; readonly isRepeat: boolean };

export type Waiting = { readonly began: number; tries: number };

/**
 * How long a call waits for its slots. `planned_move`: 2 s. `takeover`: two leases more, also where
 * this node is the one that takes over; for a call of which another part may be recorded.
 */
export type Patience = 'planned_move' | 'takeover';

const NOT_RUN = { kind: 'not_run' } as const;
const LOST = { kind: 'lost' } as const;

/** A planned move takes milliseconds; no call waits for a takeover with this. */
const HELD_MS_MAX = 2000;
/** For a node that is alive and does not reply: its lease ends before. */
const ANSWER_MS_MAX = 15_000;
const RETRY_MS_MIN = 4;
