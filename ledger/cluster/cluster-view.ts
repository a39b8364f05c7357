import type { OwnershipSessionDeps } from '../actor/ownership-session.ts';
import type { Peers } from '../ports.ts';
import type { SeatedNode, Survey } from '../storage.ts';
import type { Look } from './messages.ts';
import { stayers } from './placement.ts';

/**
 * What this node sees of the others: who lives, who owns which slot, and which of them hear it.
 *
 * Holds: it is what the database said at the last look, never what another node says: a node that is told of a change looks again.
 * Does not: serve anything. Whose slots are served here, and what is done about what is seen, is `member.ts`.
 */
export class ClusterView {
  readonly #deps: ClusterViewDeps;
  #survey: Survey = { nodes: [], owners: [] };
  /** The other nodes that live, by their seat. */
  #addressOf: ReadonlyMap<number, string> = new Map();
  /** Of their addresses, those at which we were heard. */
  readonly #reached = new Set<string>();
  #lookedAt = -Infinity;
  #version = 0;
  /** Since when no look failed; null where the last one did. */
  #seesSince: number | null = -Infinity;

  constructor(deps: ClusterViewDeps) {
    this.#deps = deps;
  }

  get survey(): Survey {
    return this.#survey;
  }

  /** Another one when who owns what, or who can be asked, is not as before. */
  get version(): number {
    return this.#version;
  }

  /** Whether the database was found to be behind some node: until an operator accepts that, nobody joins. */
  get isHalted(): boolean {
    return this.#survey.nodes.some(({ halted }) => halted);
  }

  nodeOf(id: number): SeatedNode | undefined {
    return this.#survey.nodes.find(({ node }) => node === id);
  }

  /** Where the node is that owns the slot, if it can be asked and is another one. */
  addressOf(slot: number): string | undefined {
    return this.#addressOf.get(this.#survey.owners[slot] ?? 0);
  }

  /** The other nodes that are alive and can be asked. */
  addresses(): readonly string[] {
    return [...this.#addressOf.values()];
  }

  /** Whether there is anybody else to ask. */
  get hasOthers(): boolean {
    return this.#addressOf.size > 0;
  }

  /** Who may be given slots: a node that does not hear us would own what nobody here could ask of it. */
  takers(): readonly number[] {
    return stayers(this.#survey).filter((node) =>
      this.#reached.has(this.#addressOf.get(node) ?? ''),
    );
  }

  get isBlind(): boolean {
    return this.#seesSince === null;
  }

  /** The last look failed, or the lease could not be renewed. */
  blind(): void {
    this.#seesSince = null;
  }

  /** Where the database was away, all leases are over: who is back first gives the others time to renew theirs. */
  isSureOfTheDead(): boolean {
    const { clock, leaseMs } = this.#deps;
    return this.#seesSince !== null && clock.monotonic() - this.#seesSince >= leaseMs / 2;
  }

  /** In milliseconds: every fifth of a lease, and when the next one would be over: whoever lives renews it long before. */
  untilNext(): number {
    const leases = this.#survey.nodes.flatMap(({ alive, leaseMs }) => (alive ? leaseMs : []));
    return Math.min(this.#deps.leaseMs / 5, ...leases) + LEASE_OVER_MS;
  }

  /** In milliseconds. However many say that something has changed: the database has other work, too. */
  untilSoonest(): number {
    return Math.max(0, this.#lookedAt + LOOK_MS_MIN - this.#deps.clock.monotonic());
  }

  /** Who lives and owns what. */
  async look(): Promise<Survey> {
    const { storage, peers, clock } = this.#deps;
    this.#lookedAt = clock.monotonic();
    const before = addressesOf(this.#survey);
    const survey = await storage.survey();
    const addressOf = this.#askable(survey);
    if (!this.#knows(survey, addressOf)) this.#version += 1;
    this.#survey = survey;
    this.#addressOf = addressOf;
    this.#seesSince ??= clock.monotonic();
    const now = addressesOf(survey);
    for (const address of before.difference(now)) {
      peers?.giveUp(address);
      this.#reached.delete(address);
    }
    for (const address of this.addresses()) if (!this.#reached.has(address)) this.#tell(address);
    this.#sayWho(before, now);
    return survey;
  }

  #knows({ owners }: Survey, addressOf: ReadonlyMap<number, string>): boolean {
    const known = this.#survey.owners;
    return (
      owners.every((node, slot) => node === known[slot]) &&
      addressOf.size === this.#addressOf.size &&
      [...addressOf].every(([node, address]) => this.#addressOf.get(node) === address)
    );
  }

  /** To look again. Who does not hear it looks by itself, a little later. */
  notifyPeers(): void {
    for (const address of this.addresses()) this.#tell(address);
  }

  #tell(address: string): void {
    const look: Look = [this.#deps.orgClock.wall(), 'look'];
    this.#deps.peers?.ask(address, look, { withinMs: 1000 }).then(
      () => this.#hears(address),
      () => this.#reached.delete(address),
    );
  }

  #hears(address: string): void {
    if (this.#reached.has(address)) return;
    this.#reached.add(address);
    this.#deps.onReached();
  }

  /** The other nodes that are alive and can be asked, with where. */
  #askable({ nodes }: Survey): ReadonlyMap<number, string> {
    const others = new Map<number, string>();
    // A node that is alone waits beside those that are not.
    if (this.#deps.peers === null) return others;
    for (const { node, alive, address } of nodes) {
      // At our own address there was somebody before us.
      if (alive && address !== null && address !== this.#deps.address) others.set(node, address);
    }
    return others;
  }

  #sayWho(before: ReadonlySet<string>, now: ReadonlySet<string>): void {
    const { log, address: own } = this.#deps;
    for (const peer of now)
      if (peer !== own && !before.has(peer)) log.info({ peer }, 'a node is there');
    for (const peer of before)
      if (peer !== own && !now.has(peer)) log.info({ peer }, 'a node is gone');
  }
}

export type ClusterViewDeps = Pick<
  OwnershipSessionDeps,
  'storage' | 'clock' | 'orgClock' | 'leaseMs' | 'log'
> & {
  /** Where other nodes reach this one, and they it; null where it is alone. */
  readonly address: string | null;
  readonly peers: Peers | null;
  /** A node hears us that did not before. */
  readonly onReached: () => void;
};

/** Where those are that live. */
function addressesOf({ nodes }: Survey): ReadonlySet<string> {
  return new Set(
    nodes.flatMap(({ alive, address }) => (alive && address !== null ? [address] : [])),
  );
}

/** A lease is over after its last millisecond. */
const LEASE_OVER_MS = 2;
/** Between two looks, when something is said to have changed. */
const LOOK_MS_MIN = 10;
