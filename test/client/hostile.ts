// A server that answers as a test says, in turn: for faults of the network that the service itself
// cannot be brought to.
import { createServer, type Socket } from 'node:net';

/** The bytes of an answer; `reset` breaks the connection off, `silence` never answers. */
export type Answer = `HTTP/1.1 ${string}` | 'reset' | 'silence';

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly requestId: string | null;
};

export type Hostile = AsyncDisposable & {
  readonly url: string;
  readonly received: Received[];
};

export function http(status: number, body: string, headers: Record<string, string> = {}): Answer {
  const lines = Object.entries({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} x\r\n${lines.join('')}\r\n${body}`;
}

export const refusal = (status: number, type: string, headers: Record<string, string> = {}) =>
  http(status, JSON.stringify({ error: { type, message: type } }), headers);

/** Answers in turn; the last one from then on. */
export async function startHostile(answers: readonly Answer[]): Promise<Hostile> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      const [method = '', path = ''] = text.split(' ');
      const key = /idempotency-key: (.*)\r/i.exec(text)?.[1] ?? null;
      const requestId = /x-request-id: (.*)\r/i.exec(text)?.[1] ?? null;
      received.push({ method, path, key, requestId });
      text = '';
      const answer = answers[Math.min(received.length, answers.length) - 1]!;
      if (answer === 'reset') socket.resetAndDestroy();
      else if (answer !== 'silence') socket.end(answer, 'latin1');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
