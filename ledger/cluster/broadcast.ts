import { type Clock, LedgerUnavailable, pause, type SharedClock } from '../ports.ts';
import type { Peers, Timers } from '../ports.ts';
import type { Storage } from '../storage.ts';
import type { Member } from './member.ts';
import { type PeerReply, type PeerPublication, valueOf } from './messages.ts';

type Deps = {
  readonly member: Member;
  readonly address: string | null;
  readonly peers: Peers | null;
  readonly storage: Storage;
  readonly orgClock: SharedClock;
  readonly clock: Clock;
  readonly timers: Timers;
};

/**
 * Publishes messages that every node must know.
 *
 * How: each node gets one request, and hands it to its `onTold`. The content is not known here.
 * Does not: store messages. A node that does not answer must read them from the database.
 */
export class Broadcast {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * To the nodes that are known here. Resolves when each has taken it in, or its time is over: then
   * it must learn of it from the database.
   */
  async publish(what: unknown): Promise<void> {
    const requests = this.#deps.member
      .addresses()
      .map((address) => this.#ask(address, what, TELL_MS));
    await Promise.allSettled(requests);
  }

  /**
   * To every other node that is alive by the database's clock at the time of the call. Returns
   * their answers when all have answered. A node that joins later must read what it missed, so
   * `what` is in the database before this call.
   * @throws LedgerUnavailable where a node neither answers nor dies
   */
  async publishToAll(what: unknown): Promise<readonly unknown[]> {
    const { peers, clock, timers } = this.#deps;
    if (peers === null) return [];
    const until = clock.monotonic() + TELL_ALL_MS_MAX;
    const answers = new Map<string, unknown>();
    for (;;) {
      const silent = (await this.#living()).filter((address) => !answers.has(address));
      const failures = await Promise.all(
        silent.map(async (address) => {
          try {
            answers.set(address, await this.#ask(address, what, TELL_ALL_MS_MAX));
            return null;
          } catch (error) {
            // Any error: a node that is just starting is not ready to receive (`Late`).
            return error instanceof Error ? error : new Error(String(error));
          }
        }),
      );
      const failure = failures.find((one) => one !== null);
      if (failure === undefined) return [...answers.values()];
      if (clock.monotonic() >= until)
        throw new LedgerUnavailable(`a node does not answer: ${failure.message}`);
      await pause(timers, PAUSE_MS);
    }
  }

  async #living(): Promise<readonly string[]> {
    const { nodes } = await this.#deps.storage.survey();
    return nodes.flatMap(({ alive, address }) =>
      alive && address !== null && address !== this.#deps.address ? [address] : [],
    );
  }

  async #ask(address: string, what: unknown, withinMs: number): Promise<unknown> {
    const { peers, orgClock } = this.#deps;
    if (peers === null) return null;
    const message: PeerPublication = [orgClock.wall(), 'told', what];
    return valueOf((await peers.ask(address, message, { withinMs })) as PeerReply, orgClock);
  }
}

/** A caller waits for this one while it waits for another answer. */
const TELL_MS = 500;
/** By then the lease of a dead node is over. */
const TELL_ALL_MS_MAX = 15_000;
const PAUSE_MS = 50;
