import { afterEach, expect, test } from 'bun:test';
import { clock } from '../../src/platform/clock.ts';
import { openNames } from '../../src/platform/net/dns.ts';
import { vetUrl } from '../../src/platform/net/public-url.ts';
import { NameServer, type Zone } from './support/name-server.ts';

const PUBLIC = '93.184.215.14';
const PUBLIC_6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

const servers: NameServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function openZone(zone: Zone) {
  const server = await NameServer.open(zone);
  servers.push(server);
  return { server, resolve: openNames({ clock, servers: [server.address] }) };
}

// prettier-ignore
test.each([
  // what a name has                        what it resolves to
  [ { a: [PUBLIC], aaaa: [PUBLIC_6] },      [PUBLIC, PUBLIC_6] ],
  [ { a: [PUBLIC, '1.1.1.1'] },             [PUBLIC, '1.1.1.1'] ],
  [ { aaaa: [PUBLIC_6] },                   [PUBLIC_6] ],
  [ {},                                     [] ],
])('a name with the records %p resolves to %p', async (found: { a?: string[]; aaaa?: string[] }, addresses) => {
  const { resolve } = await openZone((_name, type) => (type === 'A' ? found.a : found.aaaa) ?? []);
  expect([...(await resolve('hooks.example'))].sort()).toEqual([...addresses].sort());
});

test('a name that cannot be queried has no address', async () => {
  const { resolve } = await openZone(() => [PUBLIC]);
  for (const name of ['a..b', `${'a'.repeat(64)}.example`]) expect(await resolve(name)).toEqual([]);
});

test('a name that is public first and loopback next is refused the next time', async () => {
  const answers = [PUBLIC, '127.0.0.1'];
  const { resolve } = await openZone((_name, type) => (type === 'A' ? answers.splice(0, 1) : []));
  const vet = () => vetUrl('https://flip.example/', { loopback: false, resolve });
  expect(await vet()).toMatchObject({ kind: 'public', addresses: [PUBLIC] });
  expect(await vet()).toMatchObject({ kind: 'refused' });
  expect(answers).toEqual([]);
});

test('names whose DNS servers are silent do not delay the others', async () => {
  const { server, resolve } = await openZone((name, type) => {
    if (name.startsWith('silent')) return null;
    return type === 'A' ? [PUBLIC] : [];
  });
  const silent = Array.from({ length: 100 }, (_, index) => resolve(`silent${index}.example`));
  const startedAt = performance.now();
  expect(await resolve('hooks.example')).toEqual([PUBLIC]);
  expect(performance.now() - startedAt).toBeLessThan(1000);
  expect(server.asked.length).toBeGreaterThan(100);
  expect(silent.map((promise) => Bun.peek.status(promise))).not.toContain('fulfilled');
});

test('a DNS answer is cached for its TTL, for a minute at most', async () => {
  let now = 0;
  const server = await NameServer.open((_name, type) => (type === 'A' ? [PUBLIC] : [PUBLIC_6]), {
    ttlSeconds: 86_400,
  });
  servers.push(server);
  const monotonic = (): number => now;
  const resolve = openNames({ clock: { ...clock, monotonic }, servers: [server.address] });
  for (const [at, asked] of [
    [0, 2],
    [60_000, 2],
    [60_001, 4],
    [120_001, 4],
    [120_002, 6],
  ] as const) {
    now = at;
    expect(await resolve('hooks.example')).toEqual([PUBLIC, PUBLIC_6]);
    expect(server.asked).toHaveLength(asked);
  }
});
