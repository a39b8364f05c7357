// A proxy to PostgreSQL that stops one flush at a chosen point and can cut the connection there.
//
//     client ──Bind Execute──┬──Sync──▶ server ──reply──▶ client
//                 'before' ──┘    │                │
//                         'sync' ─┘       'reply' ─┘
//
// At 'before' the server has seen nothing. At 'sync' it has executed the statement and holds its
// locks, but the transaction is open. At 'reply' it has committed.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { ClientMessages, type ClientMessage, endsReady, firstTexts } from './wire-messages.ts';

export type Point = 'before' | 'sync' | 'reply';

export type Held = {
  /** Sends what was held to the server, and lets everything pass again. */
  release(): void;
  /**
   * Cuts the client's connection. What was held may still be released to the server, which sees no
   * cut.
   */
  cutClient(): void;
  /** Cuts both connections; what was held is lost. */
  cut(): void;
};

export type Gate = {
  /** The same database through the proxy. */
  readonly url: string;
  /** Resolves when the next flush that records usage is held at this point. */
  hold(point: Point): Promise<Held>;
  /** Cuts every connection on both sides, like a router that restarts. */
  cutAll(): void;
  /** Releases all that is held. */
  open(): void;
  stop(): Promise<void>;
};

type Armed = { readonly point: Point; readonly held: (held: Held) => void };

const FLUSH = 'UPDATE nodes SET seq = seq + 1';
/** The type of a binary array of uuids; its length follows. The first one is of the transfers. */
const UUIDS = Buffer.from([0, 0, 0x0b, 0x86]);

export async function startGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target);
  const links = new Set<Link>();
  let armed: Armed | undefined;
  const takeArmed = (): Armed | undefined => {
    const taken = armed;
    armed = undefined;
    return taken;
  };
  const server = createServer((client) => {
    const link = new Link(client, connect(Number(port), hostname), takeArmed);
    links.add(link);
    client.on('close', () => links.delete(link));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const through = new URL(target);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    hold: (point) =>
      new Promise((held) => {
        armed = { point, held };
      }),
    cutAll() {
      for (const link of links) link.cut();
    },
    open() {
      armed = undefined;
      for (const link of links) link.release();
    },
    async stop() {
      for (const link of links) link.cut();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

class Link implements Held {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #takeArmed: () => Armed | undefined;
  readonly #messages = new ClientMessages();
  readonly #flushes = new Set<string>();
  #toServer: Buffer[] | null = null;
  #toClient: Buffer[] | null = null;
  /** Its flush has been seen; it waits for the point. */
  #holding: Armed | undefined;
  #clientCut = false;

  constructor(client: Socket, server: Socket, takeArmed: () => Armed | undefined) {
    this.#client = client;
    this.#server = server;
    this.#takeArmed = takeArmed;
    client.on('data', (chunk: Buffer) => {
      for (const message of this.#messages.take(chunk)) this.#fromClient(message);
    });
    server.on('data', (chunk: Buffer) => this.#fromServer(chunk));
    client.on('error', () => undefined);
    server.on('error', () => undefined);
    client.on('close', () => this.#clientCut || server.destroy());
    server.on('close', () => client.destroy());
  }

  release(): void {
    const [toServer, toClient] = [this.#toServer, this.#toClient];
    this.#toServer = null;
    this.#toClient = null;
    for (const bytes of toServer ?? []) this.#server.write(bytes);
    for (const bytes of toClient ?? []) if (!this.#clientCut) this.#client.write(bytes);
  }

  cutClient(): void {
    this.#clientCut = true;
    // With a TCP reset, as after a network crash: no Terminate message of the client arrives.
    this.#client.resetAndDestroy();
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #fromClient(message: ClientMessage): void {
    if (message.type === 'P') {
      const [name, query] = firstTexts(message);
      if (query.includes(FLUSH)) this.#flushes.add(name);
    }
    if (message.type === 'B' && this.#isUsage(message)) this.#meet(this.#takeArmed());
    if (message.type === 'S' && this.#holding?.point === 'sync') {
      this.#toServer = [];
      this.#arrive();
    }
    if (this.#toServer === null) this.#server.write(message.bytes);
    else this.#toServer.push(message.bytes);
  }

  #fromServer(chunk: Buffer): void {
    if (this.#clientCut) return;
    if (this.#toClient === null) {
      this.#client.write(chunk);
      return;
    }
    this.#toClient.push(chunk);
    if (endsReady(Buffer.concat(this.#toClient))) this.#arrive();
  }

  #isUsage(bind: ClientMessage): boolean {
    const [, name] = firstTexts(bind);
    if (!this.#flushes.has(name)) return false;
    const at = bind.bytes.indexOf(UUIDS);
    // A heartbeat has none.
    return at >= 0 && bind.bytes.readInt32BE(at + UUIDS.length) > 0;
  }

  #meet(armed: Armed | undefined): void {
    this.#holding = armed;
    if (armed?.point === 'reply') this.#toClient = [];
    if (armed?.point !== 'before') return;
    this.#toServer = [];
    this.#arrive();
  }

  #arrive(): void {
    this.#holding?.held(this);
    this.#holding = undefined;
  }
}
