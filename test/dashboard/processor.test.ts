// The page of the processor, over the fake of Stripe.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Bank, openBank } from '../http/organization/connected.ts';
import { memberOf } from './member.ts';

let bank: Bank;
beforeAll(async () => {
  bank = await openBank();
});
afterAll(() => bank.stop());

test('an owner connects a processor, replaces its key and disconnects it; the key is nowhere', async () => {
  const member = await memberOf(bank.server);
  const { testKey, id } = bank.fake.newAccount();
  const path = '/settings/processor';
  for (const submit of ['Connect', 'Replace key']) {
    expect(await member.read(path)).toContain(submit);
    const { text } = await member.act(path, { secret_key: testKey });
    expect(text).toContain(id);
    expect(text).toContain(testKey.slice(-4));
    expect(text).not.toContain(testKey);
  }
  const { text } = await member.act(`${path}/disconnect`);
  expect(text).toContain('No account is connected');
  expect(bank.server.logged.join('')).not.toContain(testKey);
});
