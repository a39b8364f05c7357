// The refusals of the subscription routes: one call for each code that the document names.
import { lockOf } from '../../src/http/idempotency/idempotency.ts';
import { Club } from '../http/subscriptions/subscribing.ts';
import type { Shop } from '../payments/shop.ts';
import type { Call, Reply } from '../support/server.ts';
import { bodiless, keyless, type Refusals, withKey } from './refusing.ts';

const ACTIONS = [
  'change',
  'cancel',
  'uncancel',
  'unschedule',
  'pause',
  'resume',
  'end-trial',
] as const;
type Action = (typeof ACTIONS)[number];

const PREVIEWED = ['change', 'cancel', 'resume', 'end-trial'] as const;

const QUANTITY = { quantity: 2 };

const routeOf = (action: Action): string => `post /subscriptions/{id}/${action}`;
const previewOf = (action: Action): string => `${routeOf(action)}/preview`;

export const SUBSCRIPTION_ROUTES = [
  'get /subscriptions',
  'get /subscriptions/{id}',
  'get /subscriptions/{id}/upcoming-invoice',
  'post /subscriptions',
  ...ACTIONS.map(routeOf),
  ...PREVIEWED.map(previewOf),
];

/** The names under which the routes execute a key. */
const CREATE = 'POST /subscriptions';
const operationOf = (action: Action): string => `POST /subscriptions/{id}/${action}`;

type Setting = {
  readonly club: Club;
  /** Active; its card is declined from now on. */
  readonly active: string;
  /** Ended. */
  readonly ended: string;
  /** Paused for longer than it was paid for. */
  readonly paused: string;
  /** Refusals to retry later, by operation: another node is executing the key, for long. */
  readonly busy: ReadonlyMap<string, Promise<Reply>>;
};

export async function subscriptionRefusals(shop: Shop): Promise<Record<string, Refusals>> {
  const setting = await prepare(new Club(shop));
  const { server } = shop;
  const closed = (method: string, path: string) =>
    keyless(
      () => server,
      method,
      () => path,
    );
  const { active, busy, ended } = setting;
  const post = (call: Call) => server.call('POST', '/subscriptions', call);
  const unknown = { customer_id: active, product_id: active };
  const actions = ACTIONS.map((action) => [routeOf(action), refusalsOf(setting, action)]);
  const previews = PREVIEWED.map((action) => [
    previewOf(action),
    refusalsOfPreview(setting, action),
  ]);
  return {
    'get /subscriptions': {
      ...closed('GET', '/subscriptions'),
      invalid_request: () => server.call('GET', '/subscriptions?status=x'),
    },
    'get /subscriptions/{id}': {
      ...closed('GET', `/subscriptions/${active}`),
      not_found: () => server.call('GET', '/subscriptions/x'),
    },
    'get /subscriptions/{id}/upcoming-invoice': {
      ...closed('GET', `/subscriptions/${active}/upcoming-invoice`),
      not_found: () => server.call('GET', '/subscriptions/x/upcoming-invoice'),
      invalid_state: () => server.call('GET', `/subscriptions/${ended}/upcoming-invoice`),
    },
    'post /subscriptions': {
      async conflict() {
        const plan = await setting.club.plan({ amount: '0' });
        const body = { customer_id: await setting.club.customer(), product_id: plan.productId };
        for (let n = 0; n < 4; n += 1) await post({ body });
        return post({ body });
      },
      ...closed('POST', '/subscriptions'),
      ...bodiless(post),
      not_found: () => post({ body: unknown }),
      idempotency_in_progress: () => busy.get(CREATE)!,
      idempotency_key_reused: async () => {
        const { data } = await shop.read('/subscriptions?limit=1');
        const [{ customer_id, product_id }] = data;
        const body = { customer_id, product_id };
        await post(withKey('start', body));
        return post(withKey('start', { ...body, ...QUANTITY }));
      },
    },
    ...(Object.fromEntries([...actions, ...previews]) as Record<string, Refusals>),
  };
}

function refusalsOf({ club, ...ids }: Setting, action: Action): Refusals {
  const { server } = club.shop;
  const at = (id: string): string => `/subscriptions/${id}/${action}`;
  const given = action === 'change' ? QUANTITY : undefined;
  const send = (id: string, call: Call = given === undefined ? {} : { body: given }) =>
    server.call('POST', at(id), call);
  const declined = { change: ids.active, resume: ids.paused }[action as string];
  return {
    ...keyless(
      () => server,
      'POST',
      () => at(ids.active),
    ),
    ...bodiless((call) => send(ids.active, call)),
    not_found: () => send('x'),
    // What has ended is canceled.
    ...(action !== 'cancel' && { invalid_state: () => send(ids.ended) }),
    ...(declined !== undefined && { payment_failed: () => send(declined) }),
    idempotency_in_progress: () => ids.busy.get(operationOf(action))!,
    idempotency_key_reused: (): Promise<Reply> =>
      send(ids.ended, withKey('act', given)).then(() => send(ids.paused, withKey('act', given))),
  };
}

/** As the action, but that nothing is charged and no key is kept. */
function refusalsOfPreview(setting: Setting, action: Action): Refusals {
  const { server } = setting.club.shop;
  const at = (id: string): string => `/subscriptions/${id}/${action}/preview`;
  const body = action === 'change' ? QUANTITY : undefined;
  const send = (id: string, call: Call = body === undefined ? {} : { body }) =>
    server.call('POST', at(id), call);
  return {
    ...keyless(
      () => server,
      'POST',
      () => at(setting.active),
    ),
    ...bodiless((call) => send(setting.active, call)),
    not_found: () => send('x'),
    ...(action !== 'cancel' && { invalid_state: () => send(setting.ended) }),
  };
}

async function prepare(club: Club): Promise<Setting> {
  const plan = await club.plan();
  const { id: active } = await club.signUp(plan, 'renewalFails');
  const { id: ended } = await club.signUp(plan);
  await club.act(ended, 'cancel', { mode: 'immediate' });
  const { id: paused } = await club.signUp(await club.plan({ interval: 'day' }), 'renewalFails');
  await club.act(paused, 'pause');
  await club.advance('P2D');
  return { club, active, ended, paused, busy: whileBusy(club.shop, active) };
}

/**
 * A call of each operation under a key that another session is executing: all at once, as each
 * waits for seconds.
 */
function whileBusy({ server }: Shop, id: string): ReadonlyMap<string, Promise<Reply>> {
  const unknown = { customer_id: id, product_id: id };
  const calls = [
    { operation: CREATE, path: '/subscriptions', body: unknown },
    ...ACTIONS.map((action) => ({
      operation: operationOf(action),
      path: `/subscriptions/${id}/${action}`,
      body: action === 'change' ? QUANTITY : undefined,
    })),
  ];
  const scope = { organisationId: server.organisation.id, mode: 'test' } as const;
  const replies = new Map<string, PromiseWithResolvers<Reply>>(
    calls.map(({ operation }) => [operation, Promise.withResolvers()]),
  );
  const hold = async (): Promise<void> => {
    // A session without a transaction: the database ends a transaction that is idle for this long.
    const session = await server.sql.reserve();
    const locks = calls.map(({ operation }) => String(lockOf({ ...scope, operation }, 'busy')));
    await session`select pg_advisory_lock(key) from unnest(${locks}::bigint[]) key`;
    const answered = calls.map(async ({ operation, path, body }) =>
      replies.get(operation)!.resolve(await server.call('POST', path, withKey('busy', body))),
    );
    await Promise.all(answered);
    await session`select pg_advisory_unlock_all()`;
    session.release();
  };
  void hold().catch((error: unknown) => {
    for (const { reject } of replies.values()) reject(error);
  });
  return new Map([...replies].map(([operation, { promise }]) => [operation, promise]));
}
