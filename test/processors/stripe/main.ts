// The fake as a program, to try things by hand: `bun test/processors/stripe/main.ts [PORT]`. Prints
// its address and the keys of an account; a line on stdin makes something happen there.
import { createInterface } from 'node:readline';
import { openStripeFake, type StripeFake } from './fake.ts';

const PORT = 12_111;
const DAY_MS = 86_400_000;

const COMMANDS: Readonly<Record<string, (fake: StripeFake, words: readonly string[]) => unknown>> =
  {
    'dispute INTENT': (fake, [intent = '']) => fake.dispute(intent),
    'won DISPUTE': (fake, [dispute = '']) => {
      fake.closeDispute(dispute, 'won');
    },
    'lost DISPUTE': (fake, [dispute = '']) => {
      fake.closeDispute(dispute, 'lost');
    },
    settle: (fake) => {
      fake.settle();
    },
    'days NUMBER': (fake, [days]) => {
      fake.advance(Number(days) * DAY_MS);
      return new Date(fake.now()).toISOString();
    },
    'payout MODE': (fake, [mode]) => fake.payOut(account.id, mode === 'live' ? 'live' : 'test'),
    away: (fake) => {
      fake.away(true);
    },
    back: (fake) => {
      fake.away(false);
    },
    'intents MODE': (fake, [mode]) =>
      fake
        .books(account.id, mode === 'live' ? 'live' : 'test')
        .intents.map(({ id, status, amount, currency }) => ({ id, status, amount, currency })),
  };

const fake = await openStripeFake({ port: Number(process.argv[2] ?? PORT) });
const account = fake.newAccount();
console.log(`STRIPE_API_URL=${fake.url}
${account.testKey}
${account.liveKey}
Type one of: ${Object.keys(COMMANDS).join(', ')}`);

for await (const line of createInterface({ input: process.stdin })) {
  const [name = '', ...words] = line.trim().split(/\s+/);
  const command = Object.entries(COMMANDS).find(([usage]) => usage.split(' ')[0] === name)?.[1];
  if (name === '') continue;
  try {
    console.log(command === undefined ? `unknown: ${name}` : (command(fake, words) ?? 'done'));
  } catch (error) {
    console.log(String(error));
  }
}
