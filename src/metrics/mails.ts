// Mails that this process tried to send. Those that are due anywhere are in database.ts.
import { Counter, type Registry } from 'prom-client';

const RESULTS = ['sent', 'refused', 'deferred', 'given_up'] as const;

export function mailObserver(
  registry: Registry,
): (result: (typeof RESULTS)[number], count: number) => void {
  const attempts = new Counter({
    name: 'tollhouse_mail_attempts_total',
    help: 'Mails to buyers by what became of an attempt; given_up: of a mail, after a day.',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of RESULTS) attempts.inc({ result }, 0);
  return (result, count) => attempts.inc({ result }, count);
}
