// `tollhouse reservations create|get|commit|release|extend`: units held for work whose cost comes
// later.
import type { Reservation } from '../../client/types.ts';
import { toWire } from '../../client/wire-names.ts';
import { type Cli, command, EXIT, type ExitCode } from '../command.ts';
import { number } from '../format.ts';
import { countOf, quantityOf } from '../values.ts';

const ID = { name: 'ID', about: 'the id of the reservation' } as const;
const SECONDS_MAX = 86_400;
const DENIED = 'Exits with 3 where the balance does not have as much.';

export const createReservation = command({
  about: 'Hold units of a feature for a customer',
  args: [{ name: 'FEATURE', about: 'the slug of the meter' }],
  options: {
    customer: { value: 'ID', about: 'the external id of the customer', isRequired: true },
    amount: { value: 'N', about: 'how much of it', isRequired: true },
    'expires-in': { value: 'SECONDS', about: 'after which it is free again (default: 300)' },
    key: { value: 'KEY', about: 'a key under which it is held once, however often it is sent' },
  },
  notes: [DENIED],
  run: (cli, { options, args: [featureKey = ''] }) =>
    shown(cli, async () => {
      const { customer: externalCustomerId, key: idempotencyKey } = options;
      const amount = quantityOf('--amount', options.amount);
      const expiresIn = countOf('--expires-in', options['expires-in'], SECONDS_MAX);
      return cli.client().reservations.create({
        featureKey,
        externalCustomerId,
        amount,
        ...(expiresIn !== undefined && { expiresIn }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
    }),
});

export const getReservation = command({
  about: 'Show a reservation, and what is left of its feature',
  args: [ID],
  options: {},
  run: (cli, { args: [id = ''] }) => shown(cli, () => cli.client().reservations.retrieve(id)),
});

export const commitReservation = command({
  about: 'Record what the work came to; the rest is free again',
  args: [ID],
  options: { value: { value: 'N', about: 'how much was used', isRequired: true } },
  run: (cli, { options, args: [id = ''] }) =>
    shown(cli, async () => {
      const value = quantityOf('--value', options.value);
      return cli.client().reservations.commit(id, { value });
    }),
});

export const releaseReservation = command({
  about: 'Let go of what is held',
  args: [ID],
  options: {},
  run: (cli, { args: [id = ''] }) => shown(cli, () => cli.client().reservations.release(id)),
});

export const extendReservation = command({
  about: 'Hold more, or for longer',
  args: [ID],
  options: {
    amount: { value: 'N', about: 'the new whole' },
    'expires-in': { value: 'SECONDS', about: 'from now' },
  },
  notes: [DENIED],
  run: (cli, { options, args: [id = ''] }) =>
    shown(cli, async () => {
      const amount = quantityOf('--amount', options.amount);
      const expiresIn = countOf('--expires-in', options['expires-in'], SECONDS_MAX);
      return cli.client().reservations.extend(id, {
        ...(amount !== undefined && { amount }),
        ...(expiresIn !== undefined && { expiresIn }),
      });
    }),
});

const COLOURS = { open: 'yellow', committed: 'green', released: 'dim', expired: 'red' } as const;

async function shown(cli: Cli, ask: () => Promise<Reservation>): Promise<ExitCode> {
  const { out, isJson } = cli;
  const reservation = await ask();
  const { id, status, late, amount, committed, remaining, expiresAt } = reservation;
  const what =
    status === 'committed'
      ? `${number(committed)} of ${number(amount)}${late ? ', late' : ''}`
      : number(amount);
  const until = status === 'open' ? `  until ${expiresAt}` : '';
  const left = remaining === null ? 'unlimited' : `${number(remaining)} left`;
  await out.line(
    isJson
      ? JSON.stringify(toWire(reservation))
      : `${id}  ${out.paint(COLOURS[status], status)}  ${what}  ${left}${until}`,
  );
  return EXIT.ok;
}
