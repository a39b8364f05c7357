// Sends to receivers whose answers are too large, a hundred times to each at once, in two rounds,
// and prints how much the peak of memory grew.
import { clock, timers } from '../../../src/platform/clock.ts';
import { openSender } from '../../../workers/sender.ts';

const ports = JSON.parse(process.argv[2] ?? '') as number[];
const sender = openSender({ resolve: () => Promise.reject(new Error('asked')), clock, timers });
const send = async (port: number): Promise<string> => {
  const sent = await sender.send({
    url: `http://127.0.0.1:${port}/hook`,
    headers: {},
    body: '{}',
    deadlineMs: 10_000,
    allowLoopback: true,
  });
  return sent.kind === 'answered' ? `${sent.kind} ${sent.statusCode}` : sent.error;
};
const peakBytes = (): number => process.resourceUsage().maxRSS * 1024;

const sendToAll = (): Promise<string[]> =>
  Promise.all(ports.flatMap((port) => Array.from({ length: 100 }, () => send(port))));

// What every sender needs is loaded before the count.
await Promise.all(ports.map(send));
const before = peakBytes();
const first = await sendToAll();
const once = peakBytes();
// Memory of the first round is reused by the allocator; if not, it is a leak.
const second = await sendToAll();
const grownBy = { once: once - before, again: peakBytes() - once };
console.log(JSON.stringify({ answers: [...first, ...second], grownBy }));
sender.close();
