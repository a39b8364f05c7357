// One request to a service that may be down, frozen or without its database.
export type Answered = {
  readonly status: number;
  readonly headers: Headers;
  // Each test checks the type of what it reads.
  readonly json: ReturnType<typeof JSON.parse>;
};

export type Sender = { readonly url: string; readonly key: string };

const ANSWER_MS_MAX = 20_000;

/** @throws where no answer came: then the outcome of the request is unknown */
export async function call(
  { url, key }: Sender,
  path: string,
  body?: unknown,
  withinMs = ANSWER_MS_MAX,
): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(withinMs),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}

/** 0 where no answer came. */
export async function statusOf(sender: Sender, path: string, body?: unknown): Promise<number> {
  try {
    return (await call(sender, path, body)).status;
  } catch {
    return 0;
  }
}
