// The fake as a program: its address and keys are printed, and a line makes something happen there.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { stripeClient } from '../../../src/processors/stripe/client.ts';
import { LINE } from './shop.ts';

test('the fake Stripe prints what to start with, and does what is typed', async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), '0'], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  try {
    const decoder = new TextDecoder();
    const printed = child.stdout[Symbol.asyncIterator]();
    let said = '';
    const says = async (words: RegExp): Promise<string> => {
      for (;;) {
        const found = words.exec(said)?.[1];
        if (found !== undefined) return found;
        const { value, done } = await printed.next();
        if (done === true) throw new Error(`it ended: ${said}`);
        said += decoder.decode(value, { stream: true });
      }
    };
    const type = async (line: string): Promise<void> => {
      await child.stdin.write(`${line}\n`);
      await child.stdin.flush();
    };
    const apiUrl = new URL(await says(/STRIPE_API_URL=(http\S+)\n/));
    const key = await says(/(sk_live_\w+)\n/);
    await says(/(Type one of: dispute .*)\n/);
    const stripe = stripeClient({ key, apiUrl });
    const { url } = await stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [LINE(2450, 'eur')],
      success_url: 'https://shop.example/back',
    });
    const body = new URLSearchParams({ number: '4242424242424242', expiry: '12/34', cvc: '123' });
    const paid = await fetch(url!, { method: 'POST', body, redirect: 'manual' });
    expect(paid.headers.get('location')).toBe('https://shop.example/back');
    const { data } = await stripe.paymentIntents.list();
    await type(`dispute ${data[0]!.id}`);
    const dispute = await says(/\n(du_\w+)\n/);
    await type(`lost ${dispute}`);
    await says(/(done)\n/);
    expect(await stripe.disputes.retrieve(dispute)).toMatchObject({ status: 'lost', amount: 2450 });
    await type('nonsense');
    await says(/(unknown: nonsense)\n/);
  } finally {
    child.kill();
    await child.exited;
  }
});
