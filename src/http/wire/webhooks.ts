import { type Static, Type } from '@sinclair/typebox';
import { NAMED_EVENTS } from '../../../ledger/event.ts';
import { must } from '../../../ledger/kernel/assert.ts';
import type { Ids } from '../../../ledger/ports.ts';
import { PUBLIC_URL_LENGTH_MAX } from '../../platform/net/public-url.ts';
import {
  type AttemptRecord,
  DELIVERY_STATUSES,
  type DeliveryRecord,
  type ReplayRange,
} from '../../records/deliveries.ts';
import { EVENT_TYPES, type EventType, type NewEvent } from '../../records/events.ts';
import type {
  EndpointPatch,
  EndpointRecord,
  Subscription,
} from '../../records/webhook-endpoints.ts';
import type { Issue } from '../edge/errors.ts';
import { PAGE } from '../list.ts';
import { AskedFor } from '../edge/lenient.ts';
import { rule, ruled } from '../edge/validate.ts';
import { EventType as EventTypeName } from './events.ts';
import { accountOf, EVENT_CATALOGUE, sampleData } from './payloads/catalogue.ts';
import { timeOf } from './usage.ts';
import { Body, Mode, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

const Url = Type.String({
  maxLength: PUBLIC_URL_LENGTH_MAX,
  description:
    'An https URL of a public host. With a test key `http://localhost` too, if the service ' +
    'allows it.',
});

const SUBSCRIBABLE: readonly string[] = ['*', ...EVENT_TYPES];

export const SubscribedType = oneOf(SUBSCRIBABLE);

/** A list of types, each once, or `*` alone. */
const SUBSCRIPTION = rule('Subscription', subscriptionIssues);

function subscriptionIssues(value: unknown): Issue[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > SUBSCRIBABLE.length) {
    return [{ path: [], message: SUBSCRIPTION_ERROR }];
  }
  const types: readonly unknown[] = value;
  const issues: Issue[] = types.flatMap((type, index) =>
    typeof type === 'string' && SUBSCRIBABLE.includes(type)
      ? []
      : [{ path: [String(index)], message: 'must be a type of event, or *' }],
  );
  if (issues.length > 0) return issues;
  if (new Set(types).size < types.length) return [{ path: [], message: SUBSCRIPTION_ERROR }];
  const star = types.length > 1 ? types.indexOf('*') : -1;
  return star === -1 ? [] : [{ path: [String(star)], message: 'must stand alone' }];
}

const SUBSCRIPTION_ERROR = 'must be a list of one or more types of event, each once, or ["*"]';

const SubscriptionList = (byDefault: string) =>
  AskedFor(
    ruled<Subscription>(SUBSCRIPTION, {
      type: 'array',
      items: SubscribedType,
      minItems: 1,
      maxItems: SUBSCRIBABLE.length,
      uniqueItems: true,
      description: `\`["*"]\` for all types. ${byDefault}`,
    }),
  );

const EventTypes = SubscriptionList(`Omitted: every type but ${NAMED_EVENTS.join(', ')}.`);
const PartnerEventTypes = SubscriptionList('Omitted: payment.refunded and payment.refund_failed.');

const Description = Type.String({ maxLength: 500 });

export const EndpointStatus = oneOf(['enabled', 'disabled']);

const Secret = Type.String({
  description: 'Signs every delivery: `whsec_` and base64. Shown only once.',
});

const HOOK = 'https://shop.example.com/webhooks';

export const EndpointCreate = Body(
  {
    url: Url,
    event_types: Type.Optional(EventTypes),
    description: Type.Optional(Description),
    status: Type.Optional(EndpointStatus),
  },
  { url: HOOK, event_types: ['payment.succeeded', 'subscription.expired'] },
);

export const EndpointChange = Body(
  {
    url: Type.Optional(Url),
    event_types: Type.Optional(EventTypes),
    description: Type.Optional(Nullable(Description)),
    status: Type.Optional(EndpointStatus),
  },
  { status: 'disabled' },
);

const endpointFields = {
  id: Uuid,
  url: Url,
  event_types: EventTypes,
  description: Nullable(Description),
  status: EndpointStatus,
  disabled_reason: Type.Union([Type.Literal('gone'), Type.Literal('failing'), Type.Null()], {
    description:
      '`gone`: it answered 410. `failing`: all deliveries of a day failed. null: disabled by ' +
      'hand, or enabled.',
  }),
  failing_since: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Endpoint = Type.Object(endpointFields);
export const EndpointWithSecret = Type.Object({ ...endpointFields, secret: Secret });

export const PartnerEndpointCreate = Body(
  {
    url: Url,
    event_types: Type.Optional(PartnerEventTypes),
  },
  { url: HOOK, event_types: ['*'] },
);

export const PartnerEndpointChange = Body(
  {
    url: Type.Optional(Url),
    event_types: Type.Optional(PartnerEventTypes),
    status: Type.Optional(EndpointStatus),
  },
  { status: 'disabled' },
);

const partnerFields = {
  id: Uuid,
  group_id: Uuid,
  url: Url,
  event_types: PartnerEventTypes,
  environment: Mode,
  status: EndpointStatus,
  created_at: Timestamp,
};

export const PartnerEndpoint = Type.Object(partnerFields);
export const PartnerEndpointWithSecret = Type.Object({ ...partnerFields, secret: Secret });

export const RotatedSecret = Type.Object({
  secret: Secret,
  previous_secret_until: Type.String({
    format: 'date-time',
    description: 'Until then deliveries are also signed with the old secret.',
  }),
});

export const SampleRequest = Body(
  { type: Type.Optional(EventTypeName) },
  { type: 'payment.succeeded' },
);

export const ReplayRequest = Body(
  {
    since: Type.String({ format: 'date-time', description: 'From then on. ISO 8601 with a zone.' }),
    until: Type.String({ format: 'date-time', description: 'Before then.' }),
    types: Type.Optional(
      SubscriptionList('Omitted: what the endpoint subscribes to. It may name what it does not.'),
    ),
    dry_run: Type.Optional(AskedFor(Type.Boolean({ description: 'Only count; send nothing.' }))),
  },
  { since: '2026-11-01T00:00:00.000Z', until: '2026-11-02T00:00:00.000Z', dry_run: true },
);

export const Replayed = Type.Object({
  count: Type.Integer({ description: 'The number of deliveries that are sent.' }),
});

export const DeliveryStatus = oneOf(DELIVERY_STATUSES, {
  description: '`held` while the endpoint is disabled; `exhausted` when all attempts failed.',
});

export const DeliveryAttempt = Type.Object({
  at: Timestamp,
  status_code: Nullable(Type.Integer()),
  error: Nullable(Type.String({ description: 'Why the attempt failed.' })),
  duration_ms: Type.Integer(),
  response_head: Nullable(Type.String({ description: 'The first bytes of the response.' })),
});

export const Delivery = Type.Object({
  id: Uuid,
  event_id: Uuid,
  event_type: EventTypeName,
  endpoint_id: Uuid,
  status: DeliveryStatus,
  attempts: Type.Array(DeliveryAttempt),
  next_attempt_at: Nullable(Timestamp),
});

export const DeliveryQuery = Body({
  ...PAGE,
  status: Type.Optional(DeliveryStatus),
  event_type: Type.Optional(EventTypeName),
});

export function toEndpointPatch(
  body: Static<typeof EndpointChange> | Static<typeof PartnerEndpointChange>,
): EndpointPatch {
  const { url, event_types: eventTypes, status } = body;
  return {
    url,
    eventTypes,
    status,
    ...('description' in body && { description: body.description }),
  };
}

/** A sample event of this type, about a new object: no other event's sequence is affected. */
export function sampleOf(
  type: EventType,
  { ids, now }: { readonly ids: Ids; readonly now: number },
): NewEvent {
  const [objectType] = EVENT_CATALOGUE[type].about;
  const objectId = ids.next();
  return {
    id: ids.next(),
    type,
    objectType,
    objectId,
    accountId: accountOf(type, objectId),
    sequence: 1n,
    at: new Date(now),
    data: { ...sampleData(type, objectId), test: true },
  };
}

/** The range of a replay, or its issues. `subscribed`: the types where the body names none. */
export function toReplayRange(
  { since, until, types }: Static<typeof ReplayRequest>,
  subscribed: Subscription,
): ReplayRange | Issue[] {
  const [from, to] = [timeOf(since), timeOf(until)];
  const issues: Issue[] = [];
  const message = 'must be an ISO 8601 time with a zone';
  if (from === null) issues.push({ path: ['since'], message });
  if (to === null) issues.push({ path: ['until'], message });
  if (from !== null && to !== null && to <= from) {
    issues.push({ path: ['until'], message: 'must be after since' });
  }
  if (from === null || to === null || issues.length > 0) return issues;
  return { since: new Date(from), until: new Date(to), types: namesOf(types ?? subscribed) };
}

function namesOf(subscription: Subscription): readonly EventType[] {
  return EVENT_TYPES.filter((type) => subscription.includes(type) || subscription.includes('*'));
}

export function fromEndpoint(endpoint: EndpointRecord): Static<typeof Endpoint> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    event_types: [...endpoint.eventTypes],
    description: endpoint.description,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

export function fromPartnerEndpoint(endpoint: EndpointRecord): Static<typeof PartnerEndpoint> {
  return {
    id: endpoint.id,
    group_id: must(endpoint.groupId, 'an endpoint of a group'),
    url: endpoint.url,
    event_types: [...endpoint.eventTypes],
    environment: endpoint.mode,
    status: endpoint.status,
    created_at: endpoint.createdAt.toISOString(),
  };
}

export function fromDelivery(delivery: DeliveryRecord): Static<typeof Delivery> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    endpoint_id: delivery.endpointId,
    status: delivery.status,
    attempts: delivery.attempts.map(fromAttempt),
    next_attempt_at: delivery.nextAt?.toISOString() ?? null,
  };
}

function fromAttempt(attempt: AttemptRecord) {
  return {
    at: attempt.at.toISOString(),
    status_code: attempt.statusCode,
    error: attempt.error,
    duration_ms: attempt.durationMs,
    response_head: attempt.responseHead,
  };
}
