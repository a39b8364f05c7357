// What `listen` sends is what the service sends.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { isSecret, newSecret, webhookHeaders } from '../../src/cli/webhook.ts';
import { LEGACY_HEADERS, signatureHeaders } from '../../workers/sign.ts';
import { holds, seeded } from '../ledger/property.ts';

const secret = fc
  .uint8Array({ minLength: 24, maxLength: 24 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
const sent = fc.record({ id: fc.uuid(), body: fc.string(), at: fc.nat(4e12), secret });

test(seeded('a webhook forwarded by the command line has the headers of the service'), () => {
  const property = fc.property(sent, (given) => {
    const service = signatureHeaders({ ...given, previous: null, legacy: LEGACY_HEADERS });
    expect(webhookHeaders(given)).toEqual(service);
  });
  holds(property, 300);
});

test('a new webhook secret of the command line is one that a library reads', () => {
  const made = newSecret();
  expect(isSecret(made)).toBeTrue();
  expect(newSecret()).not.toBe(made);
  const body = '{"a":1}';
  const headers = webhookHeaders({ id: 'x', body, at: Date.now(), secret: made });
  expect(new Webhook(made).verify(body, headers)).toEqual({ a: 1 });
});

test.each(['', 'whsec_', 'whsec_%%%%%%%%%%%%%%%%%%%%%%%%', 'C2FVsBQIhrscChlQIMV+b5sSYspob7oD'])(
  'the command line takes the text %s for no webhook secret',
  (text) => {
    expect(isSecret(text)).toBeFalse();
  },
);
