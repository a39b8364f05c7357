import { createServer, type Server } from 'node:net';
import { ServiceFailure } from '../failure.ts';

/** A port, and the variable that sets it. */
export type Port = {
  readonly port: number;
  readonly setBy: 'PORT' | 'METRICS_PORT' | 'NODE_LISTEN';
};

/** Listens on a port; a port that is taken is one line for the operator. @throws ServiceFailure */
export function listenOn<T>(port: Port, listen: () => T): T {
  try {
    return listen();
  } catch (error) {
    throw cannotListen(port, error);
  }
}

function cannotListen({ port, setBy }: Port, error: unknown): ServiceFailure {
  const what = `cannot listen on port ${port}: ${String(error)}`;
  return new ServiceFailure(`${what}; ${setBy}= sets another one`, { cause: error });
}

/**
 * Checks a port and releases it. @throws ServiceFailure where it is taken, also by a process that
 * shares it
 */
export async function claimPort(port: Port, host: string): Promise<void> {
  try {
    await unbind(await bind({ port: port.port, host }));
  } catch (error) {
    throw cannotListen(port, error);
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
