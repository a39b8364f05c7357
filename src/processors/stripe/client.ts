import Stripe from 'stripe';

/** Below the deadline of `guarded.ts`, so that a late answer is known to be late here first. */
const TIMEOUT_MS = 7000;

/**
 * A client of one key, on the API version that the package is made for. It repeats no call by
 * itself: whether one may be repeated is known to who calls. `apiUrl` is another address than
 * Stripe's.
 */
export function stripeClient({
  key,
  apiUrl,
  timeoutMs = TIMEOUT_MS,
}: {
  readonly key: string;
  readonly apiUrl: URL | null;
  readonly timeoutMs?: number;
}): Stripe {
  return new Stripe(key, {
    maxNetworkRetries: 0,
    httpClient: Stripe.createFetchHttpClient(fetchOnce as typeof fetch),
    timeout: timeoutMs,
    telemetry: false,
    ...(apiUrl === null ? {} : addressOf(apiUrl)),
  });
}

/**
 * The package repeats a call whose connection was closed, which may have been executed, unless the
 * error does not say so.
 */
async function fetchOnce(...call: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...call);
  } catch (cause) {
    throw new Error('Stripe has not answered', { cause });
  }
}

function addressOf({ protocol, hostname, port }: URL) {
  const scheme = protocol === 'http:' ? 'http' : 'https';
  const standard = scheme === 'http' ? '80' : '443';
  return { protocol: scheme, host: hostname, port: port === '' ? standard : port } as const;
}
