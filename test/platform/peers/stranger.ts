// Speaks the protocol by hand, to send what no node would.
import { serialize } from 'bun:jsc';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { FORMAT } from '../../../src/platform/peers/frame.ts';
import { newNonce, Prover } from '../../../src/platform/peers/proof.ts';
import { SECRET } from './fixture.ts';

export const encoded = (frame: unknown): Uint8Array =>
  Buffer.from(serialize(frame, { binaryType: 'nodebuffer' }));

/** The headers of an upgrade. */
export type Upgrade = Record<string, string>;

/** The nonce of the side that dialled `to`. */
export function upgradeOf(to: string, options: { secret?: string; format?: string } = {}): Upgrade {
  const { secret = SECRET, format = FORMAT } = options;
  const nonce = newNonce();
  return {
    'x-node': 'stranger:1',
    'x-node-to': to,
    'x-node-format': format,
    'x-node-nonce': nonce,
    'x-node-proof': new Prover(secret).prove('upgrade', ['stranger:1', to, format, nonce]),
  };
}

export class Stranger {
  readonly #socket: WebSocket;
  readonly #unread: unknown[] = [];
  #arrived: () => void = () => undefined;
  readonly closed: Promise<number>;

  constructor(address: string, headers: Upgrade) {
    this.#socket = new WebSocket(`ws://${address}/peer`, { headers, perMessageDeflate: false });
    this.#socket.binaryType = 'nodebuffer';
    this.#socket.addEventListener('message', ({ data }) => {
      this.#unread.push(data);
      this.#arrived();
    });
    this.closed = new Promise((resolve) => {
      this.#socket.addEventListener('close', ({ code }) => resolve(code));
    });
  }

  async read(): Promise<unknown> {
    while (this.#unread.length === 0) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.#unread.shift();
  }

  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  get unread(): number {
    return this.#unread.length;
  }
}

/** What both sides know of a connection, once the answering side has sent its nonce. */
export function saidOf(upgrade: Upgrade, nonce: string): readonly string[] {
  return [upgrade['x-node']!, upgrade['x-node-to']!, upgrade['x-node-nonce']!, nonce];
}

/** A stranger that has the secret and has proved it. */
export async function admitted(address: string): Promise<Stranger> {
  const upgrade = upgradeOf(address);
  const stranger = new Stranger(address, upgrade);
  const [nonce] = String(await stranger.read()).split(' ');
  stranger.send(new Prover(SECRET).prove('asker', saidOf(upgrade, nonce!)));
  return stranger;
}

/** A server that answers an upgrade, and then sends only this. */
export function impostor(says: (upgrade: Upgrade) => readonly (string | Uint8Array)[]) {
  const upgrades: Upgrade[] = [];
  const server = Bun.serve<Upgrade>({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, own) {
      const ofNode = [...request.headers].filter(([name]) => name.startsWith('x-node'));
      const upgrade = Object.fromEntries(ofNode);
      upgrades.push(upgrade);
      return own.upgrade(request, { data: upgrade })
        ? undefined
        : new Response(null, { status: 404 });
    },
    websocket: {
      open(socket) {
        for (const message of says(socket.data)) socket.send(message);
      },
      message: () => undefined,
    },
  });
  return { address: `127.0.0.1:${server.port}`, upgrades, stop: () => server.stop(true) };
}

/**
 * Without the secret, at an address of its own: a man in the middle that passes the caller's proof
 * to the node at `target`, and then speaks in the caller's place.
 */
export async function relay(target: string, frame: Uint8Array) {
  const { hostname, port } = new URL(`http://${target}`);
  const { promise: spoken, resolve: speak } = Promise.withResolvers<void>();
  const server = createServer((asker) => {
    const node = connect(Number(port), hostname);
    let isSpoken = false;
    asker.on('data', (chunk) => {
      if (isSpoken) return;
      node.write(chunk);
      isSpoken = !chunk.toString('latin1').startsWith('GET ');
      if (!isSpoken) return;
      node.write(masked(frame));
      speak();
    });
    node.on('data', (chunk) => asker.write(chunk));
    for (const [from, to] of [
      [asker, node],
      [node, asker],
    ] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** When it has spoken in the caller's place. */
    spoken,
    async stop() {
      server.close();
      await once(server, 'close');
    },
  };
}

/** A client frame of less than 126 bytes of a WebSocket; its mask is zero. */
function masked(frame: Uint8Array): Buffer {
  const head = [0x82, 0x80 | frame.length, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(head), frame]);
}
