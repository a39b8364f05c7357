import { assert } from '../kernel/assert.ts';
import type { Settled } from '../actor/journal-unit.ts';
import { OwnershipSession, type OwnershipSessionDeps } from '../actor/ownership-session.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { Handover, Survey } from '../storage.ts';
import { HandoverUnit } from './handover-unit.ts';
import { handovers, slotsOf, takeovers } from './placement.ts';
import { ClusterView, type ClusterViewDeps } from './cluster-view.ts';

/**
 * This node's seat in the cluster, and the slots that it serves.
 *
 *     claim a seat ─▶ ( survey ─▶ take over dead nodes ─▶ hand over slots )* ─▶ leave ─▶ release
 *
 * How: a session begins when the node takes a seat and ends when it loses it. Then all of its
 * memory is dropped, unanswered calls are refused as unavailable, and the node claims a seat again.
 *
 * Holds:
 * - A slot is served from the survey that shows it as ours until it is handed over, and only under
 *   a valid lease. The steps run one after the other, so no survey shows a slot that was handed
 *   over since.
 * - Before a handover the node drops the actors of the slot. Their decisions are in the journal
 *   before it.
 * - Only PostgreSQL's clock says whether a lease is over.
 *
 * Does not: see which nodes are alive (`cluster-view.ts`), forward calls (`router.ts`), or choose
 * owners (`placement.ts`).
 */
export class Member {
  readonly #deps: MemberDeps;
  readonly #view: ClusterView;
  #session: OwnershipSession | null = null;
  /** One object for all calls while the session lasts. */
  #here: Extract<SlotLocation, { kind: 'here' }> | null = null;
  #closed = false;
  #isLeaving = false;
  /** The reason why it will not serve again. */
  #stopped: string | null = null;
  #waitingSince: number;
  #cancelStep: () => void = () => undefined;
  /** The step in progress. It counts as in progress until `open`. */
  #stepping: Promise<void> | null = Promise.resolve();
  #isPoked = false;
  /** Whether test clocks may have moved without its knowledge. */
  #isBehind = false;
  /** The number of slots in the last log line. */
  #slotsSaid = 0;
  /** The version of the view that waiting calls know. */
  #notified = 0;
  #change = Promise.withResolvers<undefined>();

  constructor(deps: MemberDeps) {
    this.#deps = deps;
    this.#view = new ClusterView({ ...deps, onReached: () => this.#seeReached() });
    this.#waitingSince = deps.clock.now();
  }

  /**
   * Tries for a seat now, and then until it has one. Throws where the database cannot be reached
   * the first time.
   */
  async open(): Promise<void> {
    const first = this.#step();
    // Other nodes may poke it meanwhile: one step at a time.
    this.#stepping = first.then(
      () => undefined,
      () => undefined,
    );
    await first;
    this.#stepping = null;
    if (this.#isPoked) this.#soon();
    else this.#later();
  }

  /** Null between sessions. */
  get session(): OwnershipSession | null {
    return this.#session;
  }

  /** Where the slot is served, as far as this node knows. */
  locate(slot: number): SlotLocation {
    const session = this.#session;
    if (session !== null && session.store.slots.has(slot)) {
      return !this.#closed && session.journal.isLeaseValid() ? (this.#here ?? NOWHERE) : NOWHERE;
    }
    const address = this.#view.addressOf(slot);
    return address === undefined ? NOWHERE : { kind: 'there', address };
  }

  /** The number of this node's seat; null without one. */
  get number(): number | null {
    return this.#session?.journal.node ?? null;
  }

  /** The number of the node that serves the slot, as far as this node knows. */
  ownerOf(slot: number): number | null {
    const location = this.locate(slot);
    if (location.kind === 'here') return this.number;
    return location.kind === 'there' ? this.#view.ownerOf(slot) : null;
  }

  /** Whether there is another node to ask. */
  get hasOthers(): boolean {
    return this.#view.hasOthers;
  }

  /** Neither this node nor any other can answer. */
  refusal(): LedgerUnavailable | null {
    if (this.hasOthers || this.#session?.journal.isLeaseValid() === true) return null;
    return new LedgerUnavailable(this.readiness().reason ?? 'this node cannot answer now');
  }

  /** Whether it can serve; if not, why. */
  readiness(): { readonly ready: boolean; readonly reason?: string } {
    if (this.#closed || this.#isLeaving) return { ready: false, reason: 'shutting down' };
    if (this.#stopped !== null) return { ready: false, reason: this.#stopped };
    if (this.#session === null && this.#view.isHalted) return { ready: false, reason: HALTED };
    const isServed =
      this.#session !== null && (this.#session.store.slots.size > 0 || this.hasOthers);
    if (!isServed) {
      const seconds = Math.round((this.#deps.clock.now() - this.#waitingSince) / 1000);
      return { ready: false, reason: `waiting ${seconds} s for another node to give up its lease` };
    }
    if (this.#session?.journal.isLeaseValid() !== true)
      return { ready: false, reason: 'the lease is not renewed' };
    return { ready: true };
  }

  /** Whether an operator must decide before it serves again. */
  get isStopped(): boolean {
    return this.#stopped !== null || (this.#session === null && this.#view.isHalted);
  }

  /** Whether its process is about to end: waiting cannot help any more. */
  get isClosed(): boolean {
    return this.#closed;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  get stats(): Readonly<Record<string, number>> {
    return {
      ...this.#session?.stats,
      liveNodes: this.#view.survey.nodes.filter((node) => node.alive).length,
    };
  }

  /** The other nodes that are alive and can be asked. */
  addresses(): readonly string[] {
    return this.#view.addresses();
  }

  /** Something has changed since the last survey. */
  poke(): void {
    this.#isPoked = true;
    if (this.#stepping === null && !this.#closed) this.#soon();
  }

  /** Resolves when the view changes, or after `ms`. */
  async changed(ms: number): Promise<void> {
    const late = Promise.withResolvers<undefined>();
    const cancel = this.#deps.timers.after(ms, () => late.resolve(undefined));
    await Promise.race([this.#change.promise, late.promise]);
    cancel();
  }

  /** From now on all slots go to the other nodes, if there are any. */
  leave(): void {
    this.#isLeaving = true;
    this.poke();
  }

  /** Resolves when no slot is left that another node would take. */
  async left(): Promise<void> {
    this.leave();
    for (;;) {
      const { session } = this;
      const isHeld = session !== null && session.store.slots.size > 0;
      if (!isHeld || this.#view.takers().length === 0 || this.#closed) return;
      await this.changed(this.#deps.leaseMs / 5);
    }
  }

  /** Takes no new work, writes what is queued, and releases the seat. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelStep();
    await this.#stepping;
    await this.#session?.journal.close();
    this.#end();
    this.#saySlots();
    this.#view.notifyPeers();
  }

  /** Refuses all unanswered calls: the process must end, and the database does not answer. */
  abandon(): void {
    this.#closed = true;
    this.#cancelStep();
    this.#session?.journal.abandon();
    this.#notify();
  }

  get #slots(): number {
    return this.#session?.store.slots.size ?? 0;
  }

  #saySlots(): void {
    const [before, slots] = [this.#slotsSaid, this.#slots];
    if (slots !== before) this.#deps.log.info({ before, slots }, 'slots moved');
    this.#slotsSaid = slots;
  }

  #later(ms = this.#view.untilNext()): void {
    this.#cancelStep();
    if (this.#closed) return;
    this.#cancelStep = this.#deps.timers.after(ms, () => {
      this.#isPoked = false;
      this.#stepping = this.#stepOn();
    });
  }

  /** Never rejects; sets up the next one. */
  async #stepOn(): Promise<void> {
    const before = this.#slots;
    let isMore = false;
    try {
      isMore = await this.#step();
      // Slots move a few at a time: logs one line after a step that moved none.
      if (this.#slots === before) this.#saySlots();
    } catch (error) {
      if (!this.#closed && !this.#view.isBlind)
        this.#deps.log.warn({ err: error }, 'this node cannot see the others now');
      this.#view.blind();
    }
    this.#stepping = null;
    if (isMore) this.#later(HANDOVER_PAUSE_MS);
    else if (this.#isPoked) this.#soon();
    else this.#later();
  }

  #soon(): void {
    this.#later(this.#view.untilSoonest());
  }

  /** Whether there is more to do at once. */
  async #step(): Promise<boolean> {
    if (this.#session === null && this.#stopped === null && !this.#isLeaving) await this.#claim();
    if (this.#isBehind) await this.#deps.orgClock.catchUp();
    this.#isBehind = false;
    await this.#look();
    if (this.#session === null) return false;
    const { fence } = this.#session.journal;
    if (this.#isLeaving && this.#view.nodeOf(fence.node)?.leaving === false)
      await this.#deps.storage.leave(fence);
    await this.#takeOver();
    return this.#handOver();
  }

  async #claim(): Promise<void> {
    const { storage, clock, log } = this.#deps;
    const askedAt = { monotonic: clock.monotonic(), wall: clock.now() };
    const fence = await storage.claim();
    if (fence === null) return;
    assert(this.#session === null, 'a node has one seat');
    // The node closed meanwhile: the next node must not wait for the lease.
    if (this.#closed) return storage.release(fence);
    log.info({ node: fence.node, epoch: String(fence.epoch) }, 'took a seat');
    const session: OwnershipSession = new OwnershipSession(this.#deps, {
      fence,
      askedAt,
      onLost: (why, howLong) => this.#lost(session, { why, howLong }),
    });
    this.#session = session;
    this.#here = { kind: 'here', session };
    // A node that moves a clock has either seen this seat and told us, or its row is read now.
    this.#isBehind = true;
  }

  #lost(
    session: OwnershipSession,
    { why, howLong }: { why: string; howLong: 'for now' | 'for good' },
  ): void {
    if (this.#session !== session) return;
    this.#end();
    if (howLong === 'for good') this.#stopped = why;
    this.#waitingSince = this.#deps.clock.now();
    this.#notify();
    this.poke();
  }

  /** Actors that calls still hold decide nothing any more. */
  #end(): void {
    const session = this.#session;
    this.#session = null;
    this.#here = null;
    session?.store.lose(session.store.slots.list());
  }

  async #look(): Promise<void> {
    const survey = await this.#view.look();
    const before = this.#slots;
    this.#gain(survey);
    // Waiting calls would ask a dead node again at each look, so wakes them only after a change.
    if (this.#slots === before && this.#view.version === this.#notified) return;
    this.#notified = this.#view.version;
    this.#notify();
  }

  #gain(survey: Survey): void {
    const session = this.#session;
    if (session === null) return;
    const { node, epoch } = session.journal.fence;
    if (this.#view.nodeOf(node)?.epoch !== epoch) {
      // The epoch was raised by us after an unknown flush, or by a node that took over. In the
      // second case the slots have another owner, and the journal is told at once.
      if (session.store.slots.list().some((slot) => survey.owners[slot] !== node))
        session.journal.lose();
      return;
    }
    const gained = slotsOf(survey, node).filter((slot) => !session.store.slots.has(slot));
    if (gained.length > 0) session.store.slots.gain(gained);
  }

  async #takeOver(): Promise<void> {
    const { storage, log } = this.#deps;
    if (this.#session?.journal.isLeaseValid() !== true) this.#view.blind();
    if (!this.#view.isSureOfTheDead()) return;
    let isOver = false;
    for (const { dead, to } of takeovers(this.#view.survey, this.#session?.journal.node ?? 0)) {
      const { node, address } = dead;
      // Every node that sees it dead tries; one of them succeeds.
      const isOurs = await storage.takeOver(dead, to);
      if (isOurs) log.warn({ node, peer: address, slots: to.length }, 'took over from a dead node');
      isOver = true;
    }
    if (!isOver) return;
    await this.#look();
    this.#view.notifyPeers();
  }

  /** Whether there is more to hand over. */
  async #handOver(): Promise<boolean> {
    const session = this.#session;
    if (session === null) return false;
    const { journal, store } = session;
    const own = { me: journal.node, isLeaving: this.#isLeaving, own: store.slots.list() };
    const going = handovers({ ...own, others: this.#view.takers() });
    // Earlier decisions must be written first, so the journal has to accept the handover.
    if (going.length === 0 || !journal.isLeaseValid()) return false;
    session.store.lose(going.map(({ slot }) => slot));
    const unit = new HandoverUnit(going);
    journal.submit(unit);
    const how = await this.#settled(session, unit, going);
    // The database says where the slots are: at their new node, or still here where that node died.
    await this.#look();
    this.#view.notifyPeers();
    assert(how !== 'duplicate', 'a handover has no keys');
    return how === 'committed';
  }

  /**
   * The outcome of the handover. While the journal cannot write, the seat may be taken: then it
   * stops waiting. Nothing is gained meanwhile: the survey may still show a moving slot as ours.
   */
  async #settled(
    session: OwnershipSession,
    unit: HandoverUnit,
    going: readonly Handover[],
  ): Promise<Settled> {
    for (;;) {
      const how = await Promise.race([unit.done, this.changed(this.#deps.leaseMs / 5)]);
      if (how !== undefined) return how;
      if (session.journal.isLeaseValid()) continue;
      const survey = await this.#view.look().catch(() => null);
      const { node, epoch } = session.journal.fence;
      if (survey === null || this.#view.nodeOf(node)?.epoch === epoch) continue;
      const ours = [...session.store.slots.list(), ...going.map(({ slot }) => slot)];
      if (ours.some((slot) => survey.owners[slot] !== node)) session.journal.lose();
    }
  }

  #seeReached(): void {
    this.poke();
    this.#notify();
  }

  #notify(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve(undefined);
  }
}

export type MemberDeps = Omit<OwnershipSessionDeps, 'onLost'> & Omit<ClusterViewDeps, 'onReached'>;

export type SlotLocation =
  | { readonly kind: 'here'; readonly session: OwnershipSession }
  | { readonly kind: 'there'; readonly address: string }
  /** No node serves it: its owner is dead, it is moving, or this node lost its lease. */
  | { readonly kind: 'nowhere' };

/** Between two handovers: the new owner loads what moved. */
const HANDOVER_PAUSE_MS = 10;

const HALTED = 'the database is behind a node that was here: a stale copy was promoted';

const NOWHERE = { kind: 'nowhere' } as const;
