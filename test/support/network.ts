import { randomInt } from 'node:crypto';

/**
 * A network of clients that nobody else is: all tests share one Redis, with those that run beside them and those that ran a minute ago.
 */
export function newNetwork(): (host: number) => string {
  const network = [randomInt(1, 224), randomInt(256), randomInt(256)].join('.');
  return (host) => `${network}.${host}`;
}
