// A proxy to a server that can fall silent, as a network partition: nothing is closed, nothing
// comes through. It can be cut, too.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Proxy = {
  /** The address of the proxy. */
  readonly url: string;
  freeze(): void;
  /** Requests arrive, but no answer comes back. */
  deafen(): void;
  /** A connection falls silent once its client sends this. */
  deafenAfter(bytes: string | Buffer): void;
  /** How many have. */
  readonly silenced: number;
  /** Nothing passes on open connections; new ones work. */
  silence(): void;
  thaw(): void;
  /** Cuts every connection, like a router that restarts. */
  cut(): void;
  /** The backend is gone: open connections are cut, new ones are accepted and closed. */
  detach(): void;
  attach(): void;
  /** How many have connected. */
  readonly accepted: number;
  stop(): Promise<void>;
};

/** In the place of a proxy, where there is none. */
export const UNCUT = new Proxy({} as Proxy, {
  get() {
    throw new Error('a server that files share has no proxy: startServer({ own: true })');
  },
});

/** `next` gives the target of each connection, where that is not always the same. */
export async function startProxy(target: string, next = () => target): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  /** The connections to the server. */
  const answering = new Set<Socket>();
  let deaf = false;
  let lastHeard: Buffer | null = null;
  let detached = false;
  let accepted = 0;
  let silenced = 0;

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    if (frozen) from.pause();
    from.on('data', (chunk) => to.write(chunk));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const server = createServer((client) => {
    accepted += 1;
    if (detached) {
      client.on('error', () => undefined);
      client.resume().end();
      return;
    }
    const { hostname, port } = new URL(next());
    const upstream = connect(Number(port), hostname);
    client.on('data', (chunk: Buffer) => {
      if (lastHeard === null || !chunk.includes(lastHeard)) return;
      upstream.pause();
      silenced += 1;
    });
    join(client, upstream);
    join(upstream, client);
    answering.add(upstream);
    upstream.on('close', () => answering.delete(upstream));
    if (deaf) upstream.pause();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const through = new URL(target);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    deafen() {
      deaf = true;
      for (const socket of answering) socket.pause();
    },
    deafenAfter(bytes) {
      lastHeard = Buffer.from(bytes);
    },
    silence() {
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      deaf = false;
      lastHeard = null;
      for (const socket of sockets) socket.resume();
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    detach() {
      detached = true;
      for (const socket of sockets) socket.destroy();
    },
    attach() {
      detached = false;
    },
    get silenced() {
      return silenced;
    },
    get accepted() {
      return accepted;
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
