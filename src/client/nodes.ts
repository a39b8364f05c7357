// The addresses of the service. A node that gave no answer is left alone for a moment, while
// another one is there.

const AWAY_MS = 1000;

export type Node = { readonly baseUrl: string; awayUntil: number };

export class Nodes {
  readonly #nodes: Node[];
  #turn = 0;

  constructor(baseUrls: readonly string[]) {
    if (baseUrls.length === 0) throw new TypeError('baseUrl must name at least one address');
    this.#nodes = baseUrls.map((url) => ({ baseUrl: baseOf(url), awayUntil: 0 }));
  }

  /** The node for the next attempt. */
  pick(_owner: number | null, now: number): Node {
    const nodes = this.#nodes;
    let soonest: Node | undefined;
    for (let step = 0; step < nodes.length; step += 1) {
      const node = nodes[(this.#turn + step) % nodes.length] as Node;
      if (node.awayUntil <= now) return node;
      if (soonest === undefined || node.awayUntil < soonest.awayUntil) soonest = node;
    }
    return soonest as Node;
  }

  /** The node gave no answer, or is unavailable. Whether another one may be tried at once. */
  failed(node: Node, now: number): boolean {
    node.awayUntil = now + AWAY_MS;
    this.#turn += 1;
    return this.#nodes.some(({ awayUntil }) => awayUntil <= now);
  }

  answered(node: Node, _headers: Headers): void {
    node.awayUntil = 0;
  }
}

function baseOf(text: string): string {
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`baseUrl must begin with http: or https:, not ${url.protocol}`);
  }
  if (url.search !== '' || url.hash !== '') throw new TypeError('baseUrl has no query, no hash');
  return url.href.replace(/\/$/, '');
}
