// Deliveries as the service signs them, and as Standard Webhooks does: accepted only as they are.
import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookVerificationError } from '../../src/client/index.ts';
import { newSigningSecret, SECRET_BYTES } from '../../src/platform/crypto/signing-secret.ts';
import { signatureHeaders } from '../../workers/sign.ts';

const AT = 1_614_265_330_000;
const ID = '0198c0de-0000-7000-8000-000000000001';
const BODY = JSON.stringify({ id: ID, type: 'payment.succeeded', data: { customerName: 'Zoë' } });
const newSecret = () => newSigningSecret(randomBytes(SECRET_BYTES));
const SECRET = newSecret();
const SIGNED = signatureHeaders({
  id: ID,
  body: BODY,
  at: AT,
  secret: SECRET,
  previous: null,
  legacy: true,
});

const verify = (of: { body?: string; headers?: object; secret?: string; now?: number } = {}) =>
  verifyWebhook(of.body ?? BODY, (of.headers ?? SIGNED) as never, of.secret ?? SECRET, {
    now: of.now ?? AT,
  });

const entries = SIGNED['webhook-signature']!.split(' ');

test('verifyWebhook answers the event of a delivery of the service', async () => {
  expect(await verify()).toEqual(JSON.parse(BODY));
  expect(await verify({ headers: new Headers(SIGNED) })).toEqual(JSON.parse(BODY));
  const { 'webhook-id': _id, ...rest } = SIGNED;
  expect(await verify({ headers: { ...rest, 'Webhook-Id': ID } })).toEqual(JSON.parse(BODY));
  const bytes = new TextEncoder().encode(BODY);
  expect(await verifyWebhook(bytes, SIGNED, SECRET, { now: AT })).toEqual(JSON.parse(BODY));
});

// prettier-ignore
test.each([
  ['the decoded key',     entries[0]!],
  ['the literal key',     entries[1]!],
  ['another one before',  `v1,AAAA v2,x ${entries[1]!}`],
])('verifyWebhook needs one valid signature: %s', async (_, signature) => {
  const headers = { ...SIGNED, 'webhook-signature': signature };
  expect(await verify({ headers })).toMatchObject({ id: ID });
});

test('verifyWebhook accepts the replaced secret during a rotation', async () => {
  const signed = signatureHeaders({
    id: ID,
    body: BODY,
    at: AT,
    secret: newSecret(),
    previous: SECRET,
    legacy: false,
  });
  expect(await verify({ headers: signed })).toMatchObject({ id: ID });
});

test('verifyWebhook accepts what Standard Webhooks signs', async () => {
  const signature = new Webhook(SECRET).sign(ID, new Date(AT), BODY);
  const headers = {
    'webhook-id': ID,
    'webhook-timestamp': String(AT / 1000),
    'webhook-signature': signature,
  };
  expect(await verify({ headers })).toMatchObject({ id: ID });
});

// prettier-ignore
test.each([
  ['another body',           { body: `${BODY} ` }],
  ['another secret',         { secret: newSecret() }],
  ['too old',                { now: AT + 301_000 }],
  ['too early',              { now: AT - 301_000 }],
  ['another id',             { headers: { ...SIGNED, 'webhook-id': 'x' } }],
  ['another time',           { headers: { ...SIGNED, 'webhook-timestamp': String(AT / 1000 + 1) } }],
  ['no time',                { headers: { ...SIGNED, 'webhook-timestamp': 'soon' } }],
  ['no signature',           { headers: { ...SIGNED, 'webhook-signature': undefined } }],
  ['an empty signature',     { headers: { ...SIGNED, 'webhook-signature': 'v1,' } }],
  ['no base64',              { headers: { ...SIGNED, 'webhook-signature': 'v1,%%%' } }],
  ['another version',        { headers: { ...SIGNED, 'webhook-signature': entries[0]!.replace('v1', 'v2') } }],
])('verifyWebhook refuses %s', async (_, change) => {
  const error = await verify(change).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WebhookVerificationError);
});

test('verifyWebhook accepts a timestamp within the tolerance', async () => {
  expect(await verify({ now: AT + 299_000 })).toMatchObject({ id: ID });
});
