// Takes an event to a receiver, as a webhook. One that fails is tried again a few times; the next
// one waits, so that the receiver hears of events in their order.
import { reasonOf } from '../client/reason.ts';
import type { Pause } from './command.ts';
import { webhookHeaders } from './webhook.ts';

/** As the service's own deliveries. */
const DEADLINE_MS = 10_000;
/** Before the second, third and fourth attempt. */
const WAITS_MS = [500, 1000, 2000] as const;

export type Delivery = {
  readonly isDelivered: boolean;
  readonly attempts: number;
  /** Of the last attempt; null without an answer. */
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
};

type Attempt = Omit<Delivery, 'attempts'>;

export async function forward(
  event: { readonly id: string },
  to: {
    readonly url: URL;
    readonly secret: string;
    /** Before another attempt. */
    readonly onFailure: (failed: Attempt, waitMs: number) => Promise<void>;
    readonly pause: Pause;
    readonly signal: AbortSignal;
  },
): Promise<Delivery> {
  // The same bytes at each attempt, as the service does it.
  const body = JSON.stringify(event);
  for (let attempts = 1; ; attempts += 1) {
    const made = await attempt(event.id, body, to);
    const wait = WAITS_MS[attempts - 1];
    if (made.isDelivered || wait === undefined || to.signal.aborted) return { ...made, attempts };
    await to.onFailure(made, wait);
    await to.pause(wait, to.signal);
    if (to.signal.aborted) return { ...made, attempts };
  }
}

async function attempt(
  id: string,
  body: string,
  {
    url,
    secret,
    signal,
  }: { readonly url: URL; readonly secret: string; readonly signal: AbortSignal },
): Promise<Attempt> {
  const began = performance.now();
  const durationMs = () => Math.round(performance.now() - began);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Tollhouse-Webhooks',
        ...webhookHeaders({ id, body, at: Date.now(), secret }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    });
    // The answer's text is nobody's, but the connection is free only behind it.
    await response.body?.cancel();
    const { ok: isDelivered, status: statusCode } = response;
    return { isDelivered, statusCode, error: null, durationMs: durationMs() };
  } catch (error) {
    return {
      isDelivered: false,
      statusCode: null,
      error: failureOf(error),
      durationMs: durationMs(),
    };
  }
}

/** Why the receiver gave no answer. */
function failureOf(error: unknown): string {
  const isSilent = error instanceof Error && error.name === 'TimeoutError';
  return isSilent ? `no answer in ${DEADLINE_MS / 1000} s` : reasonOf(error);
}
