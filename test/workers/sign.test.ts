import { expect, setSystemTime, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { newSigningSecret } from '../../src/platform/crypto/signing-secret.ts';
import { LEGACY_HEADERS, signatureHeaders } from '../../workers/sign.ts';

const AT = 1_614_265_330_000;
const BODY = '{"test": 2432232314}';
// The vector of the Standard Webhooks libraries.
const VECTOR = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: BODY,
  at: AT,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  previous: null,
  legacy: true,
};
const OLD = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

type Signed = Record<string, string>;
type Reader = (signed: Signed, options: { body: string; secret: string }) => boolean;

const READERS: [name: string, accepts: Reader][] = [
  [
    'standardwebhooks',
    (s, { body, secret }) => passes(() => new StandardWebhook(secret).verify(body, s)),
  ],
  ['svix', (s, { body, secret }) => passes(() => new SvixWebhook(secret).verify(body, s))],
  ['a reader of the contract', readsContract],
  ['openssl, over the text after whsec_', readsWithOpenssl],
];

test('the signature matches the public vector: decoded key first, literal key second', () => {
  expect(signatureHeaders(VECTOR)).toEqual({
    'webhook-id': VECTOR.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature':
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,ELhqG0Ku1gwOc1f4jyKdp3SFGFLAOdJ9bvpWLciCakI=',
    'X-Service-Signature':
      't=1614265330,v1=fa563f291d632f1bb64880fd7c283362344fb0672729918bb67642d71edeae63',
    'X-Service-Timestamp': '1614265330',
  });
});

test.each(READERS)(
  'the library %s accepts the signature, and refuses another body, secret or id',
  (_name, accepts) => {
    const { secret } = VECTOR;
    const body = '{"name":"Zoë","amount":"12.50"}';
    at(AT, () => {
      const signed = signatureHeaders({ ...VECTOR, body });
      expect(accepts(signed, { body, secret })).toBe(true);
      expect(accepts(signed, { body: `${body} `, secret })).toBe(false);
      expect(accepts(signed, { body, secret: OLD })).toBe(false);
      expect(accepts({ ...signed, 'webhook-id': 'msg_other' }, { body, secret })).toBe(false);
    });
  },
);

test.each(READERS)(
  'during a secret rotation %s accepts with the new and with the old secret',
  (_name, accepts) => {
    at(AT, () => {
      const signed = signatureHeaders({ ...VECTOR, previous: OLD });
      expect(accepts(signed, { body: BODY, secret: VECTOR.secret })).toBe(true);
      expect(accepts(signed, { body: BODY, secret: OLD })).toBe(true);
      expect(accepts(signatureHeaders(VECTOR), { body: BODY, secret: OLD })).toBe(false);
    });
  },
);

test('during a secret rotation the signatures are: new decoded, new literal, old decoded, old literal', () => {
  const both = entries(signatureHeaders({ ...VECTOR, previous: OLD }));
  const old = entries(signatureHeaders({ ...VECTOR, secret: OLD }));
  expect(both).toEqual([...entries(signatureHeaders(VECTOR)), ...old]);
  expect(new Set(both).size).toBe(4);
});

// prettier-ignore
test.each([
  // seconds after the signature, accepted
  [   0, true ],
  [ 299, true ],
  [ 301, false],
  [-299, true ],
  [-301, false],
])('libraries that check a signature %d s later accept it: %p', (seconds, accepted) => {
  const signed = signatureHeaders(VECTOR);
  const message = { body: BODY, secret: VECTOR.secret };
  at(AT + seconds * 1000, () => {
    for (const [, accepts] of READERS.slice(0, 2)) expect(accepts(signed, message)).toBe(accepted);
  });
});

test('a retry six hours later has its own timestamp, and its signature is accepted then', () => {
  const later = AT + 6 * 3_600_000 + 999;
  const signed = signatureHeaders({ ...VECTOR, at: later });
  expect(signed['webhook-id']).toBe(VECTOR.id);
  expect(signed['webhook-timestamp']).toBe('1614286930');
  at(later, () => {
    for (const [, accepts] of READERS)
      expect(accepts(signed, { body: BODY, secret: VECTOR.secret })).toBe(true);
  });
});

test('the legacy signature header signs timestamp and body with the new secret alone', () => {
  const signed = signatureHeaders({ ...VECTOR, previous: OLD });
  const timestamp = signed['X-Service-Timestamp'];
  expect(timestamp).toBe(signed['webhook-timestamp']);
  const mac = createHmac('sha256', VECTOR.secret.slice(6)).update(`${timestamp}.${BODY}`);
  expect(signed['X-Service-Signature']).toBe(`t=${timestamp},v1=${mac.digest('hex')}`);
});

test('without the legacy switch both legacy signature headers are gone and nothing else is', () => {
  const { 'X-Service-Signature': _, 'X-Service-Timestamp': __, ...rest } = signatureHeaders(VECTOR);
  expect(signatureHeaders({ ...VECTOR, legacy: false })).toEqual(rest);
  expect(Object.keys(rest)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
});

test('the switch of the legacy signature is on until release 0.2', async () => {
  const { version } = (await Bun.file('package.json').json()) as { version: string };
  expect(LEGACY_HEADERS).toBe(version.startsWith('0.1.'));
});

test('a new webhook secret is 24 bytes in base64 without padding, and any reader takes it', () => {
  const secret = newSigningSecret(randomBytes(24));
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(() => newSigningSecret(randomBytes(23))).toThrow(RangeError);
  at(AT, () => {
    const signed = signatureHeaders({ ...VECTOR, secret });
    for (const [, accepts] of READERS) expect(accepts(signed, { body: BODY, secret })).toBe(true);
  });
});

/** As the contract says it, and no more. */
function readsContract(
  signed: Signed,
  { body, secret }: { body: string; secret: string },
): boolean {
  const mac = createHmac('sha256', secret.replace(/^whsec_/, ''))
    .update(`${signed['webhook-id']}.${signed['webhook-timestamp']}.${body}`)
    .digest();
  return entries(signed).some((entry) => {
    const given = Buffer.from(entry.replace(/^v1,/, ''), 'base64');
    return entry.startsWith('v1,') && given.length === mac.length && timingSafeEqual(given, mac);
  });
}

function readsWithOpenssl(
  signed: Signed,
  { body, secret }: { body: string; secret: string },
): boolean {
  const { stdout } = spawnSync(
    'openssl',
    ['dgst', '-sha256', '-hmac', secret.slice(6), '-binary'],
    {
      input: `${signed['webhook-id']}.${signed['webhook-timestamp']}.${body}`,
    },
  );
  return entries(signed).includes(`v1,${stdout.toString('base64')}`);
}

function entries(signed: Signed): string[] {
  return signed['webhook-signature']!.split(' ');
}

function at(ms: number, run: () => void): void {
  setSystemTime(new Date(ms));
  try {
    run();
  } finally {
    setSystemTime();
  }
}

function passes(verify: () => unknown): boolean {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
}
