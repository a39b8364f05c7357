import { createServer, type Server } from 'node:net';
import { ServiceFailure } from '../failure.ts';

/** Listens on a port; a port that is taken is one line for the operator. @throws ServiceFailure */
export function listenOn<T>(port: number, listen: () => T): T {
  try {
    return listen();
  } catch (error) {
    throw new ServiceFailure(`cannot listen on port ${port}: ${String(error)}`, { cause: error });
  }
}

/**
 * Checks a port and releases it. @throws ServiceFailure where it is taken, also by a process that
 * shares it
 */
export async function claimPort(port: number, host: string): Promise<void> {
  try {
    await unbind(await bind({ port, host }));
  } catch (error) {
    throw new ServiceFailure(`cannot listen on port ${port}: ${String(error)}`, { cause: error });
  }
}

export function bind(where: { readonly port: number; readonly host: string }): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const server = createServer();
  server.once('error', reject);
  server.listen(where, () => resolve(server));
  return promise;
}

export function unbind(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}
