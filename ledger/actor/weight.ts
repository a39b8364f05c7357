import type { CustomerAlerts } from '../metering/alert.ts';
import type { Customer, MeterState } from '../metering/meter.ts';
import type { PaymentState } from '../payments/payment.ts';
import type { Subscription } from '../subscriptions/subscription.ts';

/**
 * What actors take of the heap, reckoned: measured with JavaScriptCore's own figures
 * (`test/store/weight.long.test.ts` does it again) and rounded up. A process takes more than its
 * heap, so what is bounded by it is the part that a tenant can make grow.
 */
const ACTOR = 1000;
/** With the answer to the last check. */
const HOLDING = 1700;
const GRANT = 750;
const PERIOD = 350;
const SPAN = 600;
const RESERVATION = 1000;
const TOP_UP = 1200;
const SUBSCRIPTION = 1700;
const BILLED_USAGE = 700;
const OPEN_INVOICE = 700;
const ALLOWANCE = 700;
const ALERT = 250;
const FIRED = 150;
const PAYMENT = 2500;
const REFUND = 700;
const DISPUTE = 900;
const MARK = 240;
const PAIR = 160;
/** Of a Map from a bigint to a boolean. */
export const MEMBER = 90;

export function bytesOfCustomer({ externalId, email }: Customer): number {
  return ACTOR + textBytes(externalId) + textBytes(email);
}

export function bytesOfState(state: MeterState): number {
  const { grants, ended, others, marks, spans, reservations, fired, topUp } = state;
  const late = marks.length * MARK + ended.length * GRANT;
  const kept =
    late + others.length * PERIOD + spans.length * SPAN + reservations.length * RESERVATION;
  const told = fired.length * FIRED + (topUp === null ? 0 : TOP_UP);
  return HOLDING + grants.length * GRANT + kept + told;
}

export function bytesOfAlerts(alerts: CustomerAlerts): number {
  let bytes = 0;
  for (const ofMeter of alerts.values()) bytes += PAIR + ofMeter.length * ALERT;
  return bytes;
}

export function bytesOfSubscription({ signup, open, waiting, usage }: Subscription): number {
  const allowances = waiting?.kind === 'change' ? waiting.allowances.length : 0;
  return (
    SUBSCRIPTION +
    open.length * OPEN_INVOICE +
    usage.length * BILLED_USAGE +
    allowances * ALLOWANCE +
    textBytes(signup.clientReferenceId) +
    bytesOfMetadata(signup.metadata)
  );
}

export function bytesOfPayment({ payment, refunds, disputes }: PaymentState): number {
  const open = refunds.size * REFUND + disputes.size * DISPUTE;
  return PAYMENT + open + bytesOfMetadata(payment.roundTrip.metadata);
}

function bytesOfMetadata(metadata: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const key in metadata) bytes += PAIR + textBytes(key) + textBytes(metadata[key] ?? '');
  return bytes;
}

function textBytes(text: string | null): number {
  return text === null ? 0 : 2 * text.length;
}
