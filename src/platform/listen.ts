import { ServiceFailure } from './failure.ts';

/** What listens on a port; a port that cannot be had is one line. @throws ServiceFailure */
export function listenOn<T>(port: number, listen: () => T): T {
  try {
    return listen();
  } catch (error) {
    throw new ServiceFailure(`cannot listen on port ${port}: ${String(error)}`, { cause: error });
  }
}
