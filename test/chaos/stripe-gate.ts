// A proxy before the fake of Stripe: a call is held before Stripe has it or before its answer leaves,
// and Stripe is silent for one account.
import type { Server } from 'bun';

/** `before`: Stripe has not got the call. `after`: it has executed it. */
export type When = 'before' | 'after';

export type Held = {
  /** The call and its answer go on. */
  pass(): void;
  /** What is held is lost. */
  drop(): void;
};

export type StripeGate = {
  /** For STRIPE_API_URL. */
  readonly url: string;
  /** Resolves when the next such call is held. */
  hold(call: {
    readonly method: string;
    readonly path: RegExp;
    readonly when: When;
  }): Promise<Held>;
  /** Whether the calls with this key are never answered. What was held then is lost. */
  silence(key: string, isSilent: boolean): void;
  stop(): Promise<void>;
};

type Armed = Parameters<StripeGate['hold']>[0] & { readonly held: (held: Held) => void };

/** As of a proxy whose server has gone. */
const lost = (): Response => new Response(null, { status: 502 });

export function openStripeGate(target: string): StripeGate {
  const armed: Armed[] = [];
  const silent = new Map<string, PromiseWithResolvers<void>>();

  const take = (method: string, path: string): Armed | undefined => {
    const index = armed.findIndex((one) => one.method === method && one.path.test(path));
    return index < 0 ? undefined : armed.splice(index, 1)[0];
  };

  async function answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const [, key = ''] = (request.headers.get('authorization') ?? '').split(' ');
    const body = request.method === 'GET' ? null : await request.arrayBuffer();
    const muted = silent.get(key);
    if (muted !== undefined) {
      await muted.promise;
      return lost();
    }
    const url = `${target}${pathname}${search}`;
    const forward = () => send(request, { url, body, here }).catch(lost);
    const point = take(request.method, pathname);
    if (point === undefined) return forward();
    const done = point.when === 'after' ? await forward() : null;
    const passes = await new Promise<boolean>((resolve) => {
      point.held({ pass: () => resolve(true), drop: () => resolve(false) });
    });
    if (!passes) return lost();
    return done ?? forward();
  }

  /** The pages of Stripe are here, too. */
  const here = (text: string): string => text.replaceAll(target, `http://127.0.0.1:${server.port}`);
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: answer,
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    hold: (call) =>
      new Promise((held) => {
        armed.push({ ...call, held });
      }),
    silence(key, isSilent) {
      if (isSilent) silent.set(key, Promise.withResolvers<void>());
      else {
        silent.get(key)?.resolve();
        silent.delete(key);
      }
    },
    stop: () => server.stop(true),
  };
}

async function send(
  { method, headers }: Request,
  {
    url,
    body,
    here,
  }: {
    readonly url: string;
    readonly body: ArrayBuffer | null;
    readonly here: (text: string) => string;
  },
): Promise<Response> {
  const sent = new Headers(headers);
  sent.delete('host');
  const reply = await fetch(url, { method, headers: sent, ...(body !== null && { body }) });
  const kept = new Headers(reply.headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name);
  return new Response(here(await reply.text()), { status: reply.status, headers: kept });
}
