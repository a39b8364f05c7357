// The commands, in the order in which the help shows them.
import { balance } from './commands/balance.ts';
import { check } from './commands/check.ts';
import { completion } from './commands/completion.ts';
import { createCustomer, getCustomer, listCustomers } from './commands/customers.ts';
import { tailEvents } from './commands/events-tail.ts';
import { ingest } from './commands/ingest.ts';
import { listen } from './commands/listen.ts';
import {
  commitReservation,
  createReservation,
  extendReservation,
  getReservation,
  releaseReservation,
} from './commands/reservations.ts';
import { track } from './commands/track.ts';
import { trigger } from './commands/trigger.ts';
import type { Table } from './parse.ts';

export const COMMANDS: Table = {
  listen,
  trigger,
  'events tail': tailEvents,
  check,
  track,
  ingest,
  balance,
  'reservations create': createReservation,
  'reservations get': getReservation,
  'reservations commit': commitReservation,
  'reservations release': releaseReservation,
  'reservations extend': extendReservation,
  'customers list': listCustomers,
  'customers get': getCustomer,
  'customers create': createCustomer,
  completion: completion(() => COMMANDS),
};
