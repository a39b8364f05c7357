// The addresses of the service, and which of them had better be asked about a customer.
//
// Any node answers any call; the one that owns the customer saves a hop. Where there are several
// addresses, each request asks for hints, and an answer tells the number of the node that gave it
// and of those that own the customers. They are hints and no more: what proves wrong is replaced by
// the next answer. A node that fails is left alone for a second, and for longer each time that it
// is silent again: to ask it costs a call a part of its time.
import { baseOf } from './options.ts';

const AWAY_MS = 1000;
const AWAY_MS_MAX = 16_000;
/** Customers whose owner is remembered: up to twice as many. */
const OWNERS_MAX = 50_000;

const NODE_HEADER = 'tollhouse-node';
const OWNER_HEADER = 'tollhouse-owner';

export type Node = {
  readonly baseUrl: string;
  number: number | null;
  awayUntil: number;
  /** Times that it was silent since it answered. */
  silences: number;
};

type Named = { readonly customer: string };

export class Nodes {
  readonly #nodes: readonly Node[];
  #turn = 0;
  /** The numbers of owners. The older half is forgotten when the newer is full. */
  #owners = new Map<string, number>();
  #formerOwners = new Map<string, number>();

  constructor(baseUrls: readonly string[]) {
    if (baseUrls.length === 0) throw new TypeError('baseUrl must name at least one address');
    const urls = [...new Set(baseUrls.map(baseOf))];
    this.#nodes = urls.map((baseUrl) => ({ baseUrl, number: null, awayUntil: 0, silences: 0 }));
  }

  get areSeveral(): boolean {
    return this.#nodes.length > 1;
  }

  /** Asks for hints, where they are of use. */
  get headers(): Readonly<Record<string, string>> {
    return this.areSeveral ? { 'tollhouse-hints': '1' } : {};
  }

  /** The node for the next attempt: the preferred one, else each in turn, while it is not away. */
  pick(prefer: Node | null, now: number): Node {
    if (prefer !== null && prefer.awayUntil <= now) return prefer;
    const nodes = this.#nodes;
    this.#turn = (this.#turn + 1) % nodes.length;
    let soonest: Node | undefined;
    for (let step = 0; step < nodes.length; step += 1) {
      const node = nodes[(this.#turn + step) % nodes.length] as Node;
      if (node.awayUntil <= now) return node;
      if (soonest === undefined || node.awayUntil < soonest.awayUntil) soonest = node;
    }
    return soonest as Node;
  }

  /** The node is unavailable, or cannot be reached: it says so at once. */
  failed(node: Node, now: number): void {
    node.awayUntil = Math.max(node.awayUntil, now + AWAY_MS);
  }

  /** The node let an attempt's time go by. */
  wasSilent(node: Node, now: number): void {
    // Several attempts that end together are one silence.
    if (node.awayUntil <= now) node.silences += 1;
    node.awayUntil = now + Math.min(AWAY_MS * 2 ** (node.silences - 1), AWAY_MS_MAX);
  }

  /** Whether one is there to be asked: another than this one, if it is given. */
  isAnyThere(now: number, beside?: Node): boolean {
    return this.#nodes.some((node) => node !== beside && node.awayUntil <= now);
  }

  answered(node: Node, headers: Headers): void {
    node.awayUntil = 0;
    node.silences = 0;
    if (this.areSeveral) node.number = numberOf(headers.get(NODE_HEADER)) ?? node.number;
  }

  /** The node that owns the customer, as far as it is known. */
  ownerOf(customer: string): Node | null {
    const owner = this.#owners.get(customer) ?? this.#formerOwners.get(customer);
    if (owner === undefined) return null;
    for (const node of this.#nodes) if (node.number === owner) return node;
    return null;
  }

  /** From the answer about these customers: one number for each of them. */
  learnOwners(customers: readonly Named[], headers: Headers): void {
    if (!this.areSeveral) return;
    const owners = headers.get(OWNER_HEADER)?.split(',');
    if (owners?.length !== customers.length) return;
    for (const [at, { customer }] of customers.entries()) {
      const owner = numberOf(owners[at] ?? null);
      if (owner !== null) this.#learn(customer, owner);
    }
  }

  #learn(customer: string, owner: number): void {
    if (this.#owners.get(customer) === owner) return;
    if (this.#owners.size >= OWNERS_MAX) {
      this.#formerOwners = this.#owners;
      this.#owners = new Map();
    }
    this.#owners.set(customer, owner);
  }
}

function numberOf(text: string | null): number | null {
  if (text === null || text.trim() === '') return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}
