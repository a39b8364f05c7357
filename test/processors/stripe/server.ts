// The HTTP server. It can end a connection without an answer, as a lost one ends.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Incoming = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
};

export type Outgoing = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const BODY_MAX = 1_000_000;

/** `answer`: null ends the connection. `port`: 0 for any. */
export async function serve(
  answer: (request: Incoming) => Promise<Outgoing | null>,
  port = 0,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    reply(answer, request, response).catch(tellFault);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve();
    });
  });
  const { port: actual } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${actual}`, close: () => close(server) };
}

async function reply(
  answer: (request: Incoming) => Promise<Outgoing | null>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const made = await answer({
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.search.slice(1),
      header: (name) => {
        const value = request.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
      body: await bodyOf(request),
    });
    if (made === null) {
      request.socket.destroy();
      return;
    }
    // A client may repeat a request by itself where a kept connection ends. On a new one it does
    // not, so each request here is one that the caller knows of.
    response.writeHead(made.status, { ...made.headers, connection: 'close' });
    response.end(made.body);
  } catch (error) {
    tellFault(error);
    response.writeHead(599);
    response.end(String(error));
  }
}

/** A fault of the fake itself, which no test may take for Stripe's. */
function tellFault(error: unknown): void {
  console.error('the fake of Stripe failed', error);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk);
    size += part.length;
    if (size > BODY_MAX) throw new Error('the body is too large');
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeAllConnections();
  await closed;
}
