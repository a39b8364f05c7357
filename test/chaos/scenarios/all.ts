// Every scenario by name. Each returns what it found wrong, one line each.
import { earlyAnswer } from './early-answer.ts';
import { lateFlush } from './late-flush.ts';
import {
  lostAfterCommit,
  lostAfterLeanCommit,
  lostAndArrivesLate,
  lostBeforeArrival,
  lostWithOpenTransaction,
  lostWithOpenTransactionElsewhere,
} from './lost-connection.ts';
import { lostCharge } from './lost-charge.ts';
import { lostReserve } from './lost-reserve.ts';
import { processorAway } from './processor-away.ts';
import { soldUsage } from './sold-usage.ts';
import { staleDatabase } from './stale-database.ts';

export const SCENARIOS = {
  'the connection is lost after the commit of a first flush': lostAfterCommit,
  'the connection is lost after the commit': lostAfterLeanCommit,
  'the connection is lost before the flush arrives': lostBeforeArrival,
  'the connection is lost and the flush arrives late': lostAndArrivesLate,
  'the connection is lost while the transaction is open': lostWithOpenTransaction,
  'the same, on another backend than the seat was taken with': lostWithOpenTransactionElsewhere,
  'a flush arrives after another node has taken the seat': lateFlush,
  'a flush takes long': earlyAnswer,
  'the database is behind the node': staleDatabase,
  'the connection is lost before a refund is reserved': lostReserve,
  'the processor fails on refunds for a while': processorAway,
  'the answer to a charge is lost': lostCharge,
  'the connection is lost while usage is billed': soldUsage,
} satisfies Record<string, () => Promise<string[]>>;

export type ScenarioName = keyof typeof SCENARIOS;
