// A receiver that answers as it is told, and remembers what came.

export type Arrival = {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly headers: Record<string, string>;
};

/** The answer to one request; 'hang' never answers. */
export type Answer = Response | Promise<Response> | 'hang';

export class Sink {
  readonly arrivals: Arrival[] = [];
  /** Requests that it has not answered yet. */
  hanging = 0;
  answer: (arrival: Arrival) => Answer = () => new Response();
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: (request) => this.#receive(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook`;
  }

  /** The ids of the received events, in order. */
  get ids(): string[] {
    return this.arrivals.map(({ id }) => id);
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }

  async #receive(request: Request): Promise<Response> {
    const arrival = {
      id: request.headers.get('webhook-id') ?? '',
      url: request.url,
      body: await request.text(),
      headers: Object.fromEntries(request.headers),
    };
    this.arrivals.push(arrival);
    const answer = this.answer(arrival);
    if (answer !== 'hang') return answer;
    this.hanging += 1;
    return Promise.withResolvers<Response>().promise;
  }
}
