import { connect } from 'node:net';

/**
 * Sends bytes as they are, and returns the statuses that came back: so many, or fewer where the
 * connection was ended.
 */
export function sendRaw(url: string, sent: Buffer, most = 1): Promise<string[]> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const statuses: string[] = [];
  let tail = '';
  const socket = connect(Number(port), hostname, () => socket.write(sent));
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    const got = tail + text;
    for (const [, status] of got.matchAll(/HTTP\/1\.1 (\d{3})/g)) statuses.push(status!);
    // Too short for one that is counted already.
    tail = got.slice(-11);
    if (statuses.length >= most) socket.destroy();
  });
  // A connection that is ended while it sends is reset.
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(statuses));
  return promise;
}
