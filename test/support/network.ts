import { randomInt } from 'node:crypto';

/**
 * A client network that no other test uses: all tests share one Redis, also with parallel runs and
 * those of the last minute.
 */
export function newNetwork(): (host: number) => string {
  const network = [randomInt(1, 224), randomInt(256), randomInt(256)].join('.');
  return (host) => `${network}.${host}`;
}
