// Webhooks: signed as Stripe signs, sent again while the receiver fails, and held where a test
// wants.
import type Stripe from 'stripe';
import type { Books } from './books.ts';
import type { Endpoint } from './types.ts';

export type Sent = {
  readonly event: Stripe.EventBase;
  readonly url: string;
  /** null: the receiver could not be reached. */
  readonly status: number | null;
};

export type Forged = {
  readonly event?: Partial<Stripe.EventBase>;
  /** The text that is sent; the event's by default. */
  readonly body?: string;
  /** What it is signed with; a made up secret by default. */
  readonly secret?: string;
  /** How old the signature is. */
  readonly ageMs?: number;
  /** The whole header; null: none. */
  readonly signature?: string | null;
};

export type Webhooks = {
  /** `off`: what happens is not told. `hold`: it is told when released. */
  mode: 'on' | 'off' | 'hold';
  /** Sends what is held, one after the other; `twice`: each of it two times. */
  release(order?: 'reverse' | 'shuffle' | 'twice'): Promise<void>;
  sent(): readonly Sent[];
  /** What is held. */
  held(): readonly Stripe.EventBase[];
  /** Waits until nothing is on its way; a failed one that waits for its next try is not. */
  idle(): Promise<void>;
  forge(url: string, forged?: Forged): Promise<Response>;
};

type Delivery = {
  readonly event: Stripe.EventBase;
  readonly endpoint: Endpoint;
  readonly secret: string;
};

/** Stripe's are hours apart; these are not, so that a test can wait for them. */
const RETRY_AFTER_MS = [250, 1000, 4000, 15_000];
const ANSWER_WITHIN_MS = 10_000;

export type WebhookSender = Webhooks & {
  tell(books: Books, event: Stripe.EventBase): void;
  close(): void;
};

export function openWebhooks(): WebhookSender {
  const sent: Sent[] = [];
  let held: Delivery[] = [];
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const underway = new Set<Promise<void>>();
  let isClosed = false;

  function start(delivery: Delivery, tries = 0): Promise<void> {
    const running = deliver(delivery, tries).finally(() => underway.delete(running));
    underway.add(running);
    return running;
  }

  /** Where nobody waits for it: `deliver` takes each failure for an answer. */
  function startAlone(delivery: Delivery, tries = 0): void {
    start(delivery, tries).catch((error: unknown) => {
      console.error('the fake of Stripe failed', error);
    });
  }

  async function deliver(delivery: Delivery, tries: number): Promise<void> {
    const { event, endpoint, secret } = delivery;
    const body = JSON.stringify(event, null, 2);
    const status = await post(endpoint.url, body, await signature(body, secret, Date.now()));
    sent.push({ event, url: endpoint.url, status });
    const isTaken = status !== null && status >= 200 && status < 300;
    const wait = RETRY_AFTER_MS[tries];
    if (isTaken || wait === undefined || isClosed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      startAlone(delivery, tries + 1);
    }, wait);
    timers.add(timer);
  }

  const webhooks: WebhookSender = {
    mode: 'on',
    tell(books, event) {
      if (webhooks.mode === 'off' || isClosed) return;
      for (const endpoint of books.endpoints.values()) {
        if (!wants(endpoint, event)) continue;
        const delivery = { event, endpoint, secret: books.secrets.get(endpoint.id) ?? '' };
        if (webhooks.mode === 'hold') held.push(delivery);
        else startAlone(delivery);
      }
    },
    async release(order) {
      const released = inOrder(held, order);
      held = [];
      for (const delivery of released) await start(delivery);
    },
    sent: () => sent,
    held: () => held.map(({ event }) => event),
    async idle() {
      while (underway.size > 0) await Promise.all(underway);
    },
    async forge(url, forged = {}) {
      const body = forged.body ?? JSON.stringify({ ...blankEvent(), ...forged.event });
      const secret = forged.secret ?? 'whsec_forged';
      const signed = await signature(body, secret, Date.now() - (forged.ageMs ?? 0));
      const header = forged.signature === undefined ? signed : forged.signature;
      return fetch(url, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          ...(header === null ? {} : { 'stripe-signature': header }),
        },
      });
    },
    close() {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
  return webhooks;
}

function wants(endpoint: Endpoint, event: Stripe.EventBase): boolean {
  return (
    endpoint.status === 'enabled' &&
    endpoint.enabled_events.some((type) => type === '*' || type === event.type)
  );
}

function inOrder(held: readonly Delivery[], order?: 'reverse' | 'shuffle' | 'twice'): Delivery[] {
  if (order === 'reverse') return [...held].reverse();
  if (order === 'twice') return held.flatMap((one) => [one, one]);
  if (order !== 'shuffle') return [...held];
  const keyed = held.map((one) => ({ one, at: Math.random() }));
  return keyed.sort((a, b) => a.at - b.at).map(({ one }) => one);
}

async function post(url: string, body: string, signed: string): Promise<number | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': signed,
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      },
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

/** The header of Stripe: the time, and the HMAC of the time and the body. */
async function signature(body: string, secret: string, nowMs: number): Promise<string> {
  const t = Math.floor(nowMs / 1000);
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey(
    'raw',
    text.encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const mac = await crypto.subtle.sign('HMAC', key, text.encode(`${t}.${body}`));
  return `t=${t},v1=${Buffer.from(mac).toString('hex')}`;
}

function blankEvent(): Stripe.EventBase {
  return {
    id: 'evt_forged',
    object: 'event',
    api_version: null,
    created: Math.floor(Date.now() / 1000),
    data: { object: {} },
    livemode: false,
    pending_webhooks: 1,
    request: null,
    type: 'payment_intent.succeeded',
  };
}
