// A way to a server that can fall silent, as a network that loses us: nothing is closed, nothing comes through. It can be cut, too.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Proxy = {
  /** The same address, through the proxy. */
  readonly url: string;
  freeze(): void;
  /** What is sent arrives, and no answer comes back. */
  deafen(): void;
  /** Nothing comes through what is open now; what is opened next works. */
  silence(): void;
  thaw(): void;
  /** Ends every connection, as a router that restarts. */
  cut(): void;
  /** Nothing is behind it any more: who is connected is cut off, whoever connects is let in and shown out. */
  detach(): void;
  attach(): void;
  /** How many have connected. */
  readonly accepted: number;
  stop(): Promise<void>;
};

/** `next` says where each connection leads, where that is not always the target. */
export async function startProxy(target: string, next = () => target): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  /** Those that lead to the server. */
  const answering = new Set<Socket>();
  let deaf = false;
  let detached = false;
  let accepted = 0;

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
    silence() {
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      deaf = false;
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
