// Tags and custom fields side by side: apart from the value they follow the same rules.
import { ids } from '../../../src/platform/ids.ts';
import type { EventEnvelope } from '../../../src/records/events.ts';
import type { Reply, TestServer } from '../../support/server.ts';
import { issue } from '../invoices/issuing.ts';

export type Resource = {
  readonly path: '/tags' | '/custom-fields';
  readonly kind: 'tag' | 'custom_field';
  /** The fields of a body besides the name. */
  readonly extra: Readonly<Record<string, string>>;
};

export const RESOURCES: readonly [path: string, resource: Resource][] = [
  ['/tags', { path: '/tags', kind: 'tag', extra: {} }],
  ['/custom-fields', { path: '/custom-fields', kind: 'custom_field', extra: { value: '4711' } }],
];

export type ObjectRef = { readonly object_type: string; readonly object_id: string };

export async function aCustomer(server: TestServer, key?: string): Promise<ObjectRef> {
  const call = { body: {}, ...(key !== undefined && { key }) };
  const { json } = await server.call('POST', '/customers', call);
  return { object_type: 'customer', object_id: json.id };
}

/** Of a customer, or of none. */
export async function anInvoice(
  server: TestServer,
  customerId: string | null = null,
): Promise<ObjectRef> {
  const scope = { organisationId: server.organisation.id, mode: 'test' } as const;
  const { id } = await issue(server.sql, scope, { customerId, paymentId: null });
  return { object_type: 'invoice', object_id: id };
}

/** Of a customer. */
export async function aSubscription(server: TestServer, customerId: string): Promise<ObjectRef> {
  const prices = [{ currency: 'USD', amount: '1.00', type: 'recurring', interval: 'month' }];
  const product = await server.call('POST', '/products', { body: { name: 'Plan', prices } });
  const body = { customer_id: customerId, product_id: product.json.id };
  const { json } = await server.call('POST', '/subscriptions', { body });
  return { object_type: 'subscription', object_id: json.id };
}

export const nothing = (object_type: string): ObjectRef => ({
  object_type,
  object_id: ids.next(),
});

export function add(
  server: TestServer,
  { path, extra }: Resource,
  body: object,
  call: { readonly key?: string; readonly headers?: Record<string, string> } = {},
): Promise<Reply> {
  return server.call('POST', path, { body: { name: 'vip', ...extra, ...body }, ...call });
}

/** In order. */
export async function told(server: TestServer, objectId: string): Promise<EventEnvelope[]> {
  const { json } = await server.call('GET', `/events?object_id=${objectId}`);
  return json.data.toReversed();
}
