import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** What a receiver does with a connection once its first bytes are there. */
export type Behaviour = (socket: Socket) => void;

export type Certificate = { readonly key: string; readonly cert: string };

/** A receiver that behaves as badly as a test wants. */
export class Receiver {
  connects = 0;
  readonly open = new Set<Socket>();
  /** All received text, one entry for each connection. */
  readonly received: string[] = [];
  /** Bytes written on connections that are closed by now. */
  bytesWritten = 0;
  readonly #server: Server;
  #idle = Promise.withResolvers<void>();

  private constructor(behaviour: Behaviour, certificate: Certificate | undefined) {
    const serve = (socket: Socket): void => {
      const index = this.received.push('') - 1;
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => (this.received[index] += chunk.toString('latin1')));
      socket.once('data', () => behaviour(socket));
    };
    this.#server =
      certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve);
    this.#server.on('tlsClientError', () => {});
    this.#server.on('connection', (socket: Socket) => this.#watch(socket));
  }

  static async open(
    behaviour: Behaviour,
    { certificate, host = '127.0.0.1' }: { certificate?: Certificate; host?: string } = {},
  ): Promise<Receiver> {
    const receiver = new Receiver(behaviour, certificate);
    await new Promise<void>((resolve) => {
      receiver.#server.listen(0, host, () => resolve());
    });
    return receiver;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('it does not listen');
    return address.port;
  }

  /** Resolves once no connection is open. */
  async idle(): Promise<void> {
    if (this.open.size > 0) await this.#idle.promise;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.open) socket.destroy();
  }

  #watch(socket: Socket): void {
    this.connects += 1;
    this.open.add(socket);
    socket.on('close', () => {
      this.bytesWritten += socket.bytesWritten;
      this.open.delete(socket);
      if (this.open.size > 0) return;
      this.#idle.resolve();
      this.#idle = Promise.withResolvers();
    });
  }
}

export function answer(
  status: string,
  { headers = [], body = '' }: { headers?: string[]; body?: string | Buffer } = {},
): Behaviour {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const head = Buffer.from([`HTTP/1.1 ${status}`, ...headers, length, '', ''].join('\r\n'));
  const bytes = Buffer.concat([head, Buffer.from(body)]);
  return (socket) => {
    socket.write(bytes);
    // For further requests on a kept connection: each of them is one chunk here.
    socket.on('data', () => socket.write(bytes));
  };
}

/**
 * Writes `first`, and then `piece` again and again: every few milliseconds, or as fast as it is
 * read.
 */
export function forever(
  first: string,
  piece: string | Buffer,
  { everyMs }: { everyMs?: number } = {},
): Behaviour {
  return (socket) => {
    socket.write(first);
    if (everyMs !== undefined) {
      const timer = setInterval(() => socket.write(piece), everyMs);
      socket.on('close', () => clearInterval(timer));
      return;
    }
    const pour = (): void => {
      while (socket.writable && socket.write(piece));
    };
    socket.on('drain', pour);
    pour();
  };
}
