import type { OwnershipSessionDeps } from '../actor/ownership-session.ts';
import type { Peers } from '../ports.ts';
import type { SeatedNode, Survey } from '../storage.ts';
import type { Look } from './messages.ts';
import { stayers } from './placement.ts';

/**
 * The other nodes as this node sees them: which are alive, who owns which slot, and which of them
 * can hear this node.
 *
 * How: it reads nodes and slots from the database, every fifth of a lease and when a node says that
 * something changed.
 * Holds: it shows what the database said at the last look. It never believes another node: a
 * message only makes it look again.
 * Does not: serve slots or move them (`member.ts`).
 */
export class ClusterView {
  readonly #deps: ClusterViewDeps;
  #survey: Survey = { nodes: [], owners: [] };
  /** The addresses of the other live nodes, by their seat. */
  #addressOf: ReadonlyMap<number, string> = new Map();
  /** The addresses that answered this node. */
  readonly #reached = new Set<string>();
  #lookedAt = -Infinity;
  #version = 0;
  /** The time since which every look succeeded; null where the last one failed. */
  #seesSince: number | null = -Infinity;

  constructor(deps: ClusterViewDeps) {
    this.#deps = deps;
  }

  get survey(): Survey {
    return this.#survey;
  }

  /** Changes when owners, or the nodes that can be asked, change. */
  get version(): number {
    return this.#version;
  }

  /**
   * Whether the database lacks writes of some node. Then no node joins until an operator accepts
   * that.
   */
  get isHalted(): boolean {
    return this.#survey.nodes.some(({ halted }) => halted);
  }

  nodeOf(id: number): SeatedNode | undefined {
    return this.#survey.nodes.find(({ node }) => node === id);
  }

  /** The number of the slot's owner, if it is another node that can be asked. */
  ownerOf(slot: number): number | null {
    const owner = this.#survey.owners[slot] ?? 0;
    return this.#addressOf.has(owner) ? owner : null;
  }

  /** The address of the slot's owner, if it is another node that can be asked. */
  addressOf(slot: number): string | undefined {
    return this.#addressOf.get(this.#survey.owners[slot] ?? 0);
  }

  /** The other nodes that are alive and can be asked. */
  addresses(): readonly string[] {
    return [...this.#addressOf.values()];
  }

  /** Whether there is another node to ask. */
  get hasOthers(): boolean {
    return this.#addressOf.size > 0;
  }

  /**
   * The nodes that may get slots. Slots of a node that does not hear us could not be reached from
   * here.
   */
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

  /**
   * Whether an expired lease means a dead node. While the database was away all leases expired: the
   * first node back gives the others time to renew.
   */
  isSureOfTheDead(): boolean {
    const { clock, leaseMs } = this.#deps;
    return this.#seesSince !== null && clock.monotonic() - this.#seesSince >= leaseMs / 2;
  }

  /**
   * Milliseconds until the next look: a fifth of a lease, or until the next lease would end. A live
   * node renews it long before.
   */
  untilNext(): number {
    const leases = this.#survey.nodes.flatMap(({ alive, leaseMs }) => (alive ? leaseMs : []));
    return Math.min(this.#deps.leaseMs / 5, ...leases) + LEASE_OVER_MS;
  }

  /** Milliseconds until the soonest look: messages of changes must not flood the database. */
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

  /** Asks the others to look again. A node that misses it looks by itself a little later. */
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
    // A node without peers asks no other node.
    if (this.#deps.peers === null) return others;
    for (const { node, alive, address } of nodes) {
      // At our own address was an earlier process.
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
  /** The address of this node for the others; null where it is alone. */
  readonly address: string | null;
  readonly peers: Peers | null;
  /** A node answered for the first time. */
  readonly onReached: () => void;
};

/** The addresses of the live nodes. */
function addressesOf({ nodes }: Survey): ReadonlySet<string> {
  return new Set(
    nodes.flatMap(({ alive, address }) => (alive && address !== null ? [address] : [])),
  );
}

/** A lease is over after its last millisecond. */
const LEASE_OVER_MS = 2;
/** Between two looks, when something is said to have changed. */
const LOOK_MS_MIN = 10;
