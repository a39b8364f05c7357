import type { ServiceOptions } from '../../src/service.ts';
import { freePort } from './free-port.ts';

/** Where the other nodes of a test reach one that is yet to start. Those with another secret do not. */
export async function newPlace(
  secret = 'what only the nodes of a test know',
): Promise<NonNullable<ServiceOptions['node']>> {
  const address = `127.0.0.1:${await freePort()}`;
  return { address, listen: address, secret };
}
