// Speaks the protocol by hand, to say what no node would.
import { serialize } from 'bun:jsc';
import { FORMAT } from '../../../src/platform/peers/frame.ts';
import { newNonce, Prover } from '../../../src/platform/peers/proof.ts';
import { SECRET } from './fixture.ts';

export const encoded = (frame: unknown): Uint8Array =>
  Buffer.from(serialize(frame, { binaryType: 'nodebuffer' }));

/** The headers of an upgrade. */
export type Upgrade = Record<string, string>;

export function upgradeOf(options: { secret?: string; format?: string } = {}): Upgrade {
  const { secret = SECRET, format = FORMAT } = options;
  const nonce = newNonce();
  return {
    'x-node': 'stranger:1',
    'x-node-format': format,
    'x-node-nonce': nonce,
    'x-node-proof': new Prover(secret).prove('upgrade', ['stranger:1', format, nonce]),
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

/** A stranger that holds the secret, and has proven it. */
export async function admitted(address: string): Promise<Stranger> {
  const upgrade = upgradeOf();
  const stranger = new Stranger(address, upgrade);
  const [nonce] = String(await stranger.read()).split(' ');
  const said = [upgrade['x-node']!, upgrade['x-node-nonce']!, nonce!];
  stranger.send(new Prover(SECRET).prove('asker', said));
  return stranger;
}

/** A server that answers an upgrade, and then says only this. */
export function impostor(says: (upgrade: Headers) => readonly (string | Uint8Array)[]) {
  const upgrades: Upgrade[] = [];
  const server = Bun.serve<Headers>({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, own) {
      const ofNode = [...request.headers].filter(([name]) => name.startsWith('x-node'));
      upgrades.push(Object.fromEntries(ofNode));
      return own.upgrade(request, { data: request.headers })
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
