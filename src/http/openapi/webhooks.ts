// The webhooks that we send, as OpenAPI 3.1 describes them: one for each type of event.
import { EVENT_TYPES, type EventType } from '../../records/events.ts';
import { type Components, type JsonSchema, pascal } from './components.ts';
import { EVENT_CATALOGUE } from '../wire/payloads/catalogue.ts';
import { EVENT_ENVELOPES, sampleEnvelope } from '../wire/payloads/envelopes.ts';

export type Webhook = {
  readonly post: {
    readonly operationId: string;
    readonly summary: string;
    readonly description: string;
    readonly tags: readonly string[];
    /** None of ours: what is sent is signed. */
    readonly security: readonly never[];
    readonly parameters: readonly WebhookHeader[];
    readonly requestBody: {
      readonly required: true;
      readonly content: {
        readonly 'application/json': { readonly schema: JsonSchema; readonly example: unknown };
      };
    };
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
  };
};

type WebhookHeader = {
  readonly name: string;
  readonly in: 'header';
  readonly required: boolean;
  readonly deprecated?: true;
  readonly description: string;
  readonly schema: { readonly type: 'string' };
};

const HEADERS: readonly Omit<WebhookHeader, 'in' | 'schema'>[] = [
  {
    name: 'webhook-id',
    required: true,
    description:
      'The id of the event. An event may come more than once: use this to detect duplicates.',
  },
  {
    name: 'webhook-timestamp',
    required: true,
    description: 'Unix seconds of this attempt. Refuse it if it is more than five minutes off.',
  },
  {
    name: 'webhook-signature',
    required: true,
    description:
      'Entries `v1,<base64>`, separated by spaces: HMAC-SHA256 of ' +
      '`{webhook-id}.{webhook-timestamp}.{body}`. Accept if any of them matches. One uses the ' +
      'decoded secret, as Standard Webhooks libraries do, one the text after `whsec_`; for 24 ' +
      'hours after a rotation the old secret also signs.',
  },
  {
    name: 'X-Service-Signature',
    required: false,
    deprecated: true,
    description:
      '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `{t}.{body}`. Removed in release 0.2.',
  },
  {
    name: 'X-Service-Timestamp',
    required: false,
    deprecated: true,
    description: 'Unix seconds. Removed in release 0.2.',
  },
];

const PARAMETERS: readonly WebhookHeader[] = HEADERS.map((header) => ({
  ...header,
  in: 'header',
  schema: { type: 'string' },
}));

const RESPONSES = {
  '2XX': { description: 'Accepted. Any other answer is retried for up to 24 hours.' },
  '410': { description: 'The endpoint is disabled.' },
  '429': { description: 'Try later: `Retry-After` is honoured.' },
};

export function webhooks(components: Components): Readonly<Record<EventType, Webhook>> {
  const described = EVENT_TYPES.map((type) => [type, webhookOf(type, components)] as const);
  return Object.fromEntries(described) as Record<EventType, Webhook>;
}

function webhookOf(type: EventType, components: Components): Webhook {
  const schema = components.of(EVENT_ENVELOPES[type].schema);
  return {
    post: {
      operationId: `receive${pascal(type)}`,
      summary: type,
      description: EVENT_CATALOGUE[type].meaning,
      tags: ['Webhooks'],
      security: [],
      parameters: PARAMETERS,
      requestBody: {
        required: true,
        content: {
          'application/json': { schema, example: sampleEnvelope(type) },
        },
      },
      responses: RESPONSES,
    },
  };
}
