// A service of which a test decides each answer: it counts what it records, once for each key, and
// loses, refuses or breaks what it is told to.

/** What becomes of a request. */
export type Fate =
  | 'answered'
  /** Recorded, and the answer is lost. */
  | 'lost'
  /** Not recorded, and no answer. */
  | 'cut'
  | 'unavailable'
  /** Recorded, and the answer is no JSON. */
  | 'garbage'
  /** The first half is recorded; the others are told to come again. */
  | 'half';

type Track = {
  readonly external_customer_id: string;
  readonly value: number;
  readonly idempotency_key: string;
};

export type Recorded = { readonly customer: string; readonly value: number };

/** A value that the service refuses. */
export const REFUSED = 13;

export class ServiceModel {
  readonly #fates: Fate[];
  readonly #keys = new Set<string>();
  readonly recorded: Recorded[] = [];
  readonly sizes: number[] = [];
  /** The most items that a request may have: more are 413. */
  readonly itemsMax: number;

  constructor(fates: readonly Fate[], itemsMax: number) {
    this.#fates = [...fates];
    this.itemsMax = itemsMax;
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    // Answers come later, as over a network.
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    const { tracks } = JSON.parse(init.body as string) as { tracks: Track[] };
    this.sizes.push(tracks.length);
    if (tracks.length > this.itemsMax) return Response.json({ error: {} }, { status: 413 });
    const fate = this.#fates.shift() ?? 'answered';
    if (fate === 'cut') throw new TypeError('connection refused');
    if (fate === 'unavailable') return Response.json({ error: {} }, { status: 503 });
    const upTo = fate === 'half' ? tracks.length >> 1 : tracks.length;
    const results = tracks.map((track, at) => (at < upTo ? this.#record(track) : COME_AGAIN));
    if (fate === 'lost') throw new TypeError('connection reset');
    if (fate === 'garbage') {
      return new Response('{"results":[', { headers: { 'content-type': 'application/json' } });
    }
    return Response.json({ results }, { headers: this.#hints(url, tracks) });
  };

  /** Of two nodes, between which the customers move all the time. */
  #hints(url: string, tracks: readonly Track[]): Record<string, string> {
    const turn = this.sizes.length;
    const owners = tracks.map(({ external_customer_id: name }) => (name.charCodeAt(0) + turn) % 2);
    return {
      'tollhouse-node': url.includes('service-1') ? '1' : '0',
      'tollhouse-owner': owners.join(),
    };
  }

  #record({ external_customer_id: customer, value, idempotency_key: key }: Track): object {
    if (value === REFUSED) return { error: { type: 'invalid_request', message: 'refused' } };
    const duplicate = this.#keys.has(key);
    if (!duplicate) this.recorded.push({ customer, value });
    this.#keys.add(key);
    return { external_customer_id: customer, value, duplicate };
  }
}

const COME_AGAIN = { error: { type: 'service_unavailable', message: 'again' } };
