// Requests as bytes, one buffer for each shape. The customer's number and the idempotency key are
// digits of a fixed width, and a payment's or product's id is a UUID; they are overwritten in place
// before each send.
//
// Holds: a key is used once in a database: the run, then a counter, then the position within the
// call.
import type { LoadPlan } from './plan.ts';
import { CUSTOMER_DIGITS, EVENTS_PER_CALL, FEATURE_KEY, REFUND, customerName } from './workload.ts';

const COUNTER_DIGITS = 8;
// Bytes that occur nowhere else in a request mark the digits.
const CUSTOMER_MARK = '~';
const COUNTER_MARK = '#';
const ID_MARK = '^';
const ID_LENGTH = 36;
const CUSTOMER = customerName(0).replace(/\d+$/, CUSTOMER_MARK.repeat(CUSTOMER_DIGITS));
const COUNTER = COUNTER_MARK.repeat(COUNTER_DIGITS);
const ID = ID_MARK.repeat(ID_LENGTH);
const DIGIT_0 = 48;

/** The bytes of the next request. They are valid until the next call. */
export type NextRequest = () => Uint8Array;

export function requestsOf(plan: LoadPlan): NextRequest {
  switch (plan.shape) {
    case 'check':
      return check(plan);
    case 'track':
      return track(plan);
    case 'ingest':
      return ingest(plan);
    case 'mixed':
      return alternate(check(plan), track(plan));
    case 'refund':
      return requests(plan, `/payments/${ID}/refund`, { amount: REFUND });
    case 'checkout':
      return checkout(plan);
    default:
      throw new Error('not a shape', { cause: plan.shape satisfies never });
  }
}

function check(plan: LoadPlan): NextRequest {
  return requests(plan, '/check', { feature_key: FEATURE_KEY, external_customer_id: CUSTOMER });
}

function track(plan: LoadPlan): NextRequest {
  return requests(plan, '/track', {
    feature_key: FEATURE_KEY,
    external_customer_id: CUSTOMER,
    value: 1,
    idempotency_key: `bench-${plan.run}-${COUNTER}`,
  });
}

function ingest(plan: LoadPlan): NextRequest {
  return requests(plan, '/events/ingest', {
    events: Array.from({ length: EVENTS_PER_CALL }, (_, place) => ({
      name: FEATURE_KEY,
      external_customer_id: CUSTOMER,
      value: 1,
      external_id: `bench-${plan.run}-${COUNTER}-${String(place).padStart(3, '0')}`,
    })),
  });
}

function checkout(plan: LoadPlan): NextRequest {
  return requests(plan, '/checkouts', {
    product_id: ID,
    customer_email: `buyer-${plan.run}-${COUNTER}@example.com`,
    success_url: 'https://shop.example.com/thanks',
  });
}

function alternate(first: NextRequest, second: NextRequest): NextRequest {
  let turn = 0;
  return () => ((turn ^= 1) === 1 ? first() : second());
}

function requests(plan: LoadPlan, path: string, content: object): NextRequest {
  const body = JSON.stringify(content);
  const bytes = new TextEncoder().encode(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${plan.ports[0]}\r\nAuthorization: ${plan.authorization}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const customerEnds = endsOf(bytes, CUSTOMER_MARK, CUSTOMER_DIGITS);
  const counterEnds = endsOf(bytes, COUNTER_MARK, COUNTER_DIGITS);
  const idEnds = endsOf(bytes, ID_MARK, ID_LENGTH);
  const ids = plan.ids.map((id) => Buffer.from(id, 'latin1'));
  const random = randomSource();
  const { customers } = plan;
  const randomCustomer =
    typeof customers === 'number'
      ? () => random() % customers
      : () => customers[random() % customers.length] ?? 0;
  let counter = 0;
  return () => {
    for (const end of customerEnds) {
      write(bytes, end, { digits: CUSTOMER_DIGITS, number: randomCustomer() });
    }
    for (const end of idEnds) {
      const id = ids[random() % ids.length];
      if (id !== undefined) bytes.set(id, end - ID_LENGTH);
    }
    counter += 1;
    for (const end of counterEnds) write(bytes, end, { digits: COUNTER_DIGITS, number: counter });
    return bytes;
  };
}

/** The end of each run of markers. */
function endsOf(bytes: Uint8Array, mark: string, length: number): Uint32Array {
  const ends: number[] = [];
  let at = bytes.indexOf(mark.charCodeAt(0));
  while (at !== -1) {
    ends.push(at + length);
    at = bytes.indexOf(mark.charCodeAt(0), at + length);
  }
  return Uint32Array.from(ends);
}

function write(bytes: Uint8Array, end: number, value: { digits: number; number: number }): void {
  let rest = value.number;
  for (let at = end - 1; at >= end - value.digits; at -= 1) {
    const next = Math.trunc(rest / 10);
    bytes[at] = DIGIT_0 + rest - next * 10;
    rest = next;
  }
}

/** xorshift32: fast, and the same sequence in every run. */
function randomSource(): () => number {
  let state = 0x9e37_79b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
