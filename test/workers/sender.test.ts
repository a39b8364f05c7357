import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { clock, timers } from '../../src/platform/clock.ts';
import type { Resolve } from '../../src/platform/net/public-url.ts';
import { Exchanger } from '../../workers/exchange.ts';
import { openSender, type Sender } from '../../workers/sender.ts';
import { certificateFor } from './support/certificates.ts';
import { answer, type Behaviour, forever, Receiver } from './support/receiver.ts';

const nobody: Resolve = () => Promise.reject(new Error('asked'));
const BODY = '{"name":"Zoë","amount":"12.50"}';
/** Reserved, so that nothing can answer there; public by every rule. */
const PUBLIC_6 = '2d00::1';

const receivers: Receiver[] = [];
const senders: Sender[] = [];
const warnings: Error[] = [];
const warn = (warning: Error): void => void warnings.push(warning);

/** Of a receiver that takes 4.5 s: it is asked at once, and answers beside the other tests. */
let lateAnswer: ReturnType<Sender['send']>;
let late: Receiver;
const lateSender = openSender({ resolve: nobody, clock, timers });

beforeAll(async () => {
  process.on('warning', warn);
  late = await Receiver.open((socket) => {
    setTimeout(() => socket.write(`${OK}content-length: 2\r\n\r\nok`), 4500);
  });
  lateAnswer = lateSender.send(sending(late.port, 6000));
});
afterEach(() => {
  for (const sender of senders.splice(0)) sender.close();
  for (const receiver of receivers.splice(0)) receiver.close();
});
afterAll(() => {
  lateSender.close();
  late.close();
  process.off('warning', warn);
  expect(warnings).toEqual([]);
});

async function receive(...args: Parameters<typeof Receiver.open>): Promise<Receiver> {
  const receiver = await Receiver.open(...args);
  receivers.push(receiver);
  return receiver;
}

function newSender(resolve: Resolve = nobody): Sender {
  const sender = openSender({ resolve, clock, timers });
  senders.push(sender);
  return sender;
}

function sending(port: number, deadlineMs = 2000) {
  const url = `http://127.0.0.1:${port}/hook?a=b`;
  return { url, headers: { 'webhook-id': 'e1' }, body: BODY, deadlineMs, allowLoopback: true };
}

test("a delivery's request is the body as it is, to the path and host of the url", async () => {
  const receiver = await receive(answer('200 OK'));
  await newSender().send(sending(receiver.port));
  const [head, body] = receiver.received[0]!.split('\r\n\r\n');
  const lines = head!.split('\r\n').map((line) => line.toLowerCase());
  expect(lines[0]).toBe('post /hook?a=b http/1.1');
  expect(lines.slice(1).sort()).toEqual([
    'connection: keep-alive',
    `content-length: ${Buffer.byteLength(BODY)}`,
    'content-type: application/json',
    `host: 127.0.0.1:${receiver.port}`,
    'user-agent: tollhouse-webhooks',
    'webhook-id: e1',
  ]);
  expect(Buffer.from(body!, 'latin1').toString()).toBe(BODY);
});

// prettier-ignore
test.each([
  // answer                      headers                      status, Retry-After
  [ '200 OK',                    [],                          200, null ],
  [ '204 No Content',            [],                          204, null ],
  [ '410 Gone',                  [],                          410, null ],
  [ '429 Too Many Requests',     ['retry-after: 120'],        429, '120' ],
  [ '503 x',                     ['Retry-After: Thu, 01 Jan 2026 00:10:00 GMT'], 503, 'Thu, 01 Jan 2026 00:10:00 GMT' ],
  [ '999 x',                     [],                          999, null ],
])('a receiver that answers %s %p is read as %d, Retry-After %p', async (status, headers, statusCode, retryAfter) => {
  const receiver = await receive(answer(status, { headers: headers as string[] }));
  const sent = await newSender().send(sending(receiver.port));
  const durationMs = expect.any(Number);
  expect(sent).toEqual({ kind: 'answered', statusCode, retryAfter, head: '', address: '127.0.0.1', durationMs });
  expect(Number.isInteger(sent.durationMs)).toBe(true);
});

// prettier-ignore
test.each([
  [ 'short text',          'thank you',                    'thank you' ],
  [ 'the first 1024 bytes', 'x'.repeat(5000),              'x'.repeat(1024) ],
  [ 'a character in two',  `${'x'.repeat(1023)}é`,         'x'.repeat(1023) ],
  [ 'a NUL',               'a\0b',                         'a\uFFFDb' ],
  [ 'no UTF-8',            Buffer.from([0x61, 0xff, 0xc3]), 'a\uFFFD' ],
])('the head of an answer with %s can be stored by PostgreSQL', async (_what, body, head) => {
  const receiver = await receive(answer('200 OK', { body }));
  expect(await newSender().send(sending(receiver.port))).toMatchObject({ head });
});

test.each([301, 302, 303, 307, 308])('a redirect with %d is not followed', async (statusCode) => {
  const canary = await receive(answer('200 OK'));
  const location = `location: http://127.0.0.1:${canary.port}/`;
  const receiver = await receive(answer(`${statusCode} x`, { headers: [location] }));
  expect(await newSender().send(sending(receiver.port))).toMatchObject({
    kind: 'answered',
    statusCode,
  });
  expect(canary.connects).toBe(0);
});

/** The end of a connection is not noticed while nobody reads it. */
const readsLate: Behaviour = (socket) => {
  socket.pause();
  setTimeout(() => socket.resume(), 600);
};
const OK = 'HTTP/1.1 200 OK\r\n';
const reset: Behaviour = (socket) => void socket.resetAndDestroy();
const say =
  (text: string, then: 'end' | 'reset' | 'stay' = 'stay'): Behaviour =>
  (socket) => {
    socket.write(text, () => {
      if (then === 'end') socket.end();
      if (then === 'reset') socket.resetAndDestroy();
    });
  };

// prettier-ignore
const HOSTILE: [what: string, behaviour: Behaviour, outcome: string][] = [
  [ 'says nothing',                       () => {},                                               'timeout' ],
  [ 'reads nothing',                      readsLate,                                              'timeout' ],
  [ 'never ends its status line',          forever('HTTP/1.1 2', '0', { everyMs: 20 }),            'protocol' ],
  [ 'trickles its headers',               forever(OK, 'x-a: b\r\n', { everyMs: 20 }),             'timeout' ],
  [ 'trickles its body',                  forever(`${OK}content-length: 9999\r\n\r\n`, 'x', { everyMs: 20 }), '200' ],
  [ 'says 500 and trickles',              forever('HTTP/1.1 500 x\r\n\r\n', 'x', { everyMs: 20 }), '500' ],
  [ 'never ends its body',                forever(`${OK}\r\n`, Buffer.alloc(65_536, 'x')),        '200' ],
  [ 'never ends its chunks',              forever(`${OK}transfer-encoding: chunked\r\n\r\n`, `1000\r\n${'x'.repeat(4096)}\r\n`), '200' ],
  [ 'never ends the extension of a chunk', forever(`${OK}transfer-encoding: chunked\r\n\r\n1;`, 'x'.repeat(4096)), '200' ],
  [ 'promises more than it sends',        say(`${OK}content-length: 99\r\n\r\nok`, 'end'),        '200' ],
  [ 'sends more than it promised',        say(`${OK}content-length: 2\r\n\r\nok and more`),       '200' ],
  [ 'resets',                             reset,                                                  'reset' ],
  [ 'resets within its headers',          say(`${OK}content-`, 'reset'),                          'reset' ],
  [ 'hangs up',                           say('', 'end'),                                         'reset' ],
  [ 'hangs up within its headers',        say(`${OK}content-`, 'end'),                            'reset' ],
  [ 'resets within its body',             say(`${OK}content-length: 99\r\n\r\nok`, 'reset'),      '200' ],
  [ 'speaks no HTTP',                     say('220 mail.example ESMTP\r\n'),                      'protocol' ],
  [ 'speaks HTTP/2',                      say('\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64'),          'protocol' ],
  [ 'speaks TLS',                         say('\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'),        'protocol' ],
  [ 'has 1 MB of headers',                say(`${OK}${`x-a: ${'b'.repeat(1000)}\r\n`.repeat(1000)}\r\n`), 'too_large_headers' ],
  [ 'never ends a header',                forever(`${OK}x-a: `, 'x'.repeat(4096)),                'too_large_headers' ],
  [ 'announces an answer for ever',       forever('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)), 'protocol' ],
  [ 'announces an answer slowly',         forever('', 'HTTP/1.1 103 Early Hints\r\n\r\n', { everyMs: 100 }), 'timeout' ],
  [ 'wants another protocol',             say('HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'), 'reset' ],
  [ 'has two lengths',                    say(`${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nokk`), 'protocol' ],
];

test.each(HOSTILE)(
  'a receiver that %s has its attempt ended in time, and its connection too',
  async (_what, behaviour, outcome) => {
    const receiver = await receive(behaviour);
    const sender = newSender();
    const sent = await sender.send({ ...sending(receiver.port, 400), body: 'x'.repeat(300_000) });
    expect(sent.kind === 'answered' ? String(sent.statusCode) : sent.error).toBe(outcome);
    expect(sent.address).toBe('127.0.0.1');
    expect(sent.durationMs).toBeLessThan(1400);
    await receiver.idle();
    expect(receiver.connects).toBe(1);
  },
);

test('answers of 8 MB, without an end, and of 64 MB behind 64 kB are read to a bound', async () => {
  await using flood = spawnScript(new URL('support/flood.ts', import.meta.url));
  const ports = await flood.said();
  // In a process of its own: the peak of memory is the sender's alone.
  await using sends = spawnScript(
    new URL('support/flooded.ts', import.meta.url),
    JSON.stringify(ports),
  );
  const { answers, grownBy } = (await sends.said()) as {
    answers: string[];
    grownBy: { once: number; again: number };
  };
  expect(answers).toEqual(Array.from({ length: 600 }, () => 'answered 200'));
  // All that it gets would be some gigabytes.
  expect(grownBy.once).toBeLessThan(100e6);
  expect(grownBy.again).toBeLessThan(50e6);
}, 60_000);

/** Runs a process of its own; returns its first line of output, as JSON. */
function spawnScript(script: URL, ...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, script.pathname, ...args], { stdout: 'pipe' });
  return {
    said: async (): Promise<unknown> => {
      const { value } = await child.stdout.getReader().read();
      return JSON.parse(Buffer.from(value!).toString());
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await child.exited;
    },
  };
}

test('300 receivers that hang delay no other, and each ends at its own deadline', async () => {
  const hanging = await receive(() => {});
  const healthy = await receive(answer('200 OK'));
  const sender = newSender();
  const stuck = Array.from({ length: 300 }, () => sender.send(sending(hanging.port, 2500)));
  await sender.send(sending(healthy.port));
  const others = await Promise.all(
    Array.from({ length: 50 }, () => sender.send(sending(healthy.port))),
  );
  expect(others.every(({ kind }) => kind === 'answered')).toBe(true);
  expect(stuck.every((promise) => Bun.peek.status(promise) === 'pending')).toBe(true);
  for (const sent of await Promise.all(stuck)) {
    expect(sent).toMatchObject({ kind: 'failed', error: 'timeout' });
    expect(sent.durationMs).toBeLessThan(3500);
  }
  await hanging.idle();
});

test('a connection to a receiver is used for one delivery after the other', async () => {
  const receiver = await receive(answer('200 OK', { body: 'x'.repeat(10_000) }));
  const sender = newSender();
  for (let count = 0; count < 50; count += 1) await sender.send(sending(receiver.port));
  expect(receiver.connects).toBe(1);
  const closedAt = performance.now();
  sender.close();
  await receiver.idle();
  expect(performance.now() - closedAt).toBeLessThan(2000);
});

test('a connection that the receiver closed meanwhile is no failure of the delivery', async () => {
  // It ignores the second request of a connection, like a server that closes while the request is
  // in flight.
  const receiver = await receive((socket) => {
    socket.write(`${OK}content-length: 0\r\n\r\n`);
    socket.once('data', () => socket.resetAndDestroy());
  });
  const sender = newSender();
  const send = () => sender.send(sending(receiver.port));
  await Promise.all([send(), send(), send()]);
  expect(receiver.connects).toBe(3);
  expect(await send()).toMatchObject({ kind: 'answered' });
  expect(receiver.connects).toBe(4);
});

test('a 1xx answer is not taken as the final one', async () => {
  const receiver = await receive(
    say(`HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\nok`),
  );
  expect(await newSender().send(sending(receiver.port))).toMatchObject({
    statusCode: 200,
    head: 'ok',
  });
});

test('a delivery whose connection is reset is sent again once, and no more', async () => {
  let requests = 0;
  const receiver = await receive((socket) => {
    requests += 1;
    if (requests > 1) {
      socket.resetAndDestroy();
      return;
    }
    socket.write(`${OK}content-length: 0\r\n\r\n`);
    socket.once('data', () => socket.resetAndDestroy());
  });
  const sender = newSender();
  await sender.send(sending(receiver.port));
  expect(await sender.send(sending(receiver.port))).toMatchObject({
    kind: 'failed',
    error: 'reset',
  });
  expect(receiver.connects).toBe(2);
});

test('an answer may take longer than an idle connection is kept', async () => {
  expect(await lateAnswer).toMatchObject({ kind: 'answered', head: 'ok' });
}, 60_000);

test('a delivery to localhost tries both of its addresses', async () => {
  for (const host of ['127.0.0.1', '::1']) {
    const receiver = await receive(answer('200 OK'), { host });
    const sent = await newSender().send({
      ...sending(0),
      url: `http://localhost:${receiver.port}/`,
    });
    expect(sent).toMatchObject({ kind: 'answered', address: host });
  }
});

test('a delivery without a listener fails with a refused connection', async () => {
  const receiver = await receive(answer('200 OK'));
  const { port } = receiver;
  receiver.close();
  expect(await newSender().send(sending(port))).toMatchObject({
    error: 'connect',
    address: '127.0.0.1',
  });
});

// prettier-ignore
test.each([
  // what the name resolves to           error
  [ async () => [],                      'dns' ],
  [ () => new Promise<never>(() => {}),  'dns' ],
  [ async () => ['127.0.0.1'],           'refused_address' ],
  [ async () => [PUBLIC_6, '127.0.0.1'], 'refused_address' ],
])('a delivery to %p is %s, and nothing is connected to', async (resolve: Resolve, error) => {
  const canary = await receive(answer('200 OK'));
  const url = `https://hooks.example:${canary.port}/`;
  const sent = await newSender(resolve).send({ ...sending(0, 300), url });
  expect(sent).toMatchObject({ kind: 'failed', error, address: null });
  expect(sent.durationMs).toBeLessThan(1300);
  expect(canary.connects).toBe(0);
});

test('a delivery to this machine is refused where loopback is not allowed', async () => {
  const canary = await receive(answer('200 OK'));
  const sent = await newSender().send({ ...sending(canary.port), allowLoopback: false });
  expect(sent).toMatchObject({ kind: 'failed', error: 'refused_address', address: null });
  expect(canary.connects).toBe(0);
});

test('a name that is public when checked and loopback afterwards is resolved once', async () => {
  const canary = await receive(answer('200 OK'));
  let asked = 0;
  const sender = newSender(async () => [(asked += 1) === 1 ? PUBLIC_6 : '127.0.0.1']);
  const rebinding = { ...sending(0, 200), url: `https://rebind.example:${canary.port}/` };
  const first = await sender.send(rebinding);
  expect(first).toMatchObject({ kind: 'failed', address: PUBLIC_6 });
  expect(asked).toBe(1);
  expect(await sender.send(rebinding)).toMatchObject({ error: 'refused_address' });
  expect(canary.connects).toBe(0);
});

// Names that no name server knows: a client that asked one would not reach the receiver.
test('a delivery connects to the checked address, with the host of the url, and its certificate alone', async () => {
  const certificate = certificateFor('hooks.example');
  const stranger = certificateFor('hooks.example');
  const before = getCACertificates();
  setDefaultCACertificates([...before, certificate.cert]);
  const exchanger = new Exchanger(timers);
  try {
    const trusted = await receive(answer('200 OK'), { certificate });
    const untrusted = await receive(answer('200 OK'), { certificate: stranger });
    const plain = await receive(say('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const silent = await receive(() => {});
    // prettier-ignore
    const table = [
      [ 'https://hooks.example', trusted,   '200' ],
      [ 'https://other.example', trusted,   'tls' ],
      [ 'https://127.0.0.1',     trusted,   'tls' ],
      [ 'https://hooks.example', untrusted, 'tls' ],
      [ 'https://hooks.example', plain,     'tls' ],
      [ 'https://hooks.example', silent,    'timeout' ],
      [ 'http://hooks.example',  plain,     '400' ],
      [ 'https://hooks.example', trusted,   '200' ],
    ] as const;
    for (const [origin, receiver, outcome] of table) {
      const url = new URL(`${origin}:${receiver.port}/hook`);
      const post = { url, address: '127.0.0.1', headers: {}, body: BODY, deadlineMs: 400 };
      const exchanged = await exchanger.post(post);
      expect(exchanged.kind === 'answered' ? String(exchanged.statusCode) : exchanged.error).toBe(
        outcome,
      );
    }
    expect(trusted.received.filter((text) => text !== '')).toHaveLength(1);
    expect(trusted.received.join('')).toMatch(
      new RegExp(`host: hooks.example:${trusted.port}\r\n`, 'i'),
    );
    expect(untrusted.received.join('')).toBe('');
  } finally {
    exchanger.close();
    setDefaultCACertificates(before);
  }
});
