import type { ServiceOptions } from '../../src/service/options.ts';
import { freePort } from './free-port.ts';

/** The address of a node that is yet to start. Nodes with another secret do not reach it. */
export async function newPlace(
  secret = 'what only the nodes of a test know',
): Promise<NonNullable<ServiceOptions['node']>> {
  const address = `127.0.0.1:${await freePort()}`;
  return { address, listen: address, secret };
}
