import { createSocket, type Socket } from 'node:dgram';

const TYPE_A = 1;

/** The addresses of a name; null: no answer, ever. */
export type Zone = (name: string, type: 'A' | 'AAAA') => readonly string[] | null;

/**
 * A real name server on this machine. Its answers must not be cached, unless it gives a time to
 * live.
 */
export class NameServer {
  readonly asked: string[] = [];
  readonly #socket: Socket = createSocket('udp4');
  readonly #zone: Zone;

  readonly #ttlSeconds: number;

  private constructor(zone: Zone, ttlSeconds: number) {
    this.#zone = zone;
    this.#ttlSeconds = ttlSeconds;
  }

  static async open(zone: Zone, { ttlSeconds = 0 } = {}): Promise<NameServer> {
    const server = new NameServer(zone, ttlSeconds);
    const socket = server.#socket;
    socket.on('message', (query, from) => {
      const answer = server.#answer(query);
      if (answer !== null) socket.send(answer, from.port, from.address);
    });
    await new Promise<void>((resolve) => {
      socket.bind(0, '127.0.0.1', () => resolve());
    });
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }

  /** RFC 1035: header, the question repeated, answers that point back to its name. */
  #answer(query: Buffer): Buffer | null {
    const labels: string[] = [];
    let end = 12;
    for (let length = query[end]!; length > 0; length = query[end]!) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const type = query.readUInt16BE(end + 1);
    const name = labels.join('.');
    this.asked.push(name);
    const records = this.#zone(name, type === TYPE_A ? 'A' : 'AAAA');
    if (records === null) return null;
    const header = Buffer.alloc(12);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const answers = records.map((address) => {
      const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : sixteen(address);
      const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
      head.writeUInt32BE(this.#ttlSeconds, 6);
      return Buffer.concat([head, data]);
    });
    return Buffer.concat([header, query.subarray(12, end + 5), ...answers]);
  }
}

/** An address in its full form. */
function sixteen(address: string): Buffer {
  return Buffer.from(
    address
      .split(':')
      .map((part) => part.padStart(4, '0'))
      .join(''),
    'hex',
  );
}
