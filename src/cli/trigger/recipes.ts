// How each type of event is made to happen. All of it happens to a customer of its own.
import type { EventType } from '../../client/types.ts';
import type { Sandbox } from './sandbox.ts';

/** It may name the object of the event: a payment that fails has no customer yet. */
type Recipe = (sandbox: Sandbox) => Promise<{ readonly id: string } | void>;

const onCustomer = ({ customer }: Sandbox) => ({
  objectType: 'customer' as const,
  objectId: customer.id,
  name: 'trigger',
});

/** What is not here would change the organisation, or its clock. */
export const RECIPES: Readonly<Partial<Record<EventType, Recipe>>> = {
  'payment.succeeded': (sandbox) => sandbox.buy('once', 'good'),
  'payment.failed': (sandbox) => sandbox.buy('once', 'declined'),
  'payment.errored': (sandbox) => sandbox.buy('once', 'error'),
  'payment.refunded': async (sandbox) => {
    const payment = await sandbox.buy('once', 'good');
    await sandbox.client.payments.refund(payment.id);
  },
  'payment.refund_failed': async (sandbox) => {
    const payment = await sandbox.buy('once', 'refundFailsLater');
    await sandbox.client.payments.refund(payment.id);
  },
  'payment.disputed': (sandbox) => sandbox.buy('once', 'disputed'),
  'invoice.created': (sandbox) => sandbox.buy('once', 'good'),
  'invoice.updated': async (sandbox) => {
    const payment = await sandbox.buy('once', 'good');
    await sandbox.client.payments.refund(payment.id);
  },
  'subscription.created': (sandbox) => sandbox.subscribe('monthly'),
  'subscription.updated': async (sandbox) => {
    const { id } = await sandbox.subscribe('monthly');
    await sandbox.client.subscriptions.pause(id);
  },
  'subscription.canceled': async (sandbox) => {
    const { id } = await sandbox.subscribe('monthly');
    await sandbox.client.subscriptions.cancel(id);
  },
  'subscription.expired': async (sandbox) => {
    const { id } = await sandbox.subscribe('monthly');
    await sandbox.client.subscriptions.cancel(id, { mode: 'immediate' });
  },
  'subscription.trial_ended': async (sandbox) => {
    const { id } = await sandbox.subscribe('trial');
    await sandbox.client.subscriptions.endTrial(id);
  },
  'subscription.overdue_changed': (sandbox) => sandbox.subscribeUnpaid(),
  'customer.created': () => Promise.resolve(),
  'customer.updated': (sandbox) =>
    sandbox.client.customers.update(sandbox.customer.id, { name: 'Triggered' }),
  'tag.created': (sandbox) => sandbox.client.tags.create(onCustomer(sandbox)),
  'tag.deleted': async (sandbox) => {
    const { id } = await sandbox.client.tags.create(onCustomer(sandbox));
    await sandbox.client.tags.del(id);
  },
  'custom_field.created': (sandbox) =>
    sandbox.client.customFields.create({ ...onCustomer(sandbox), value: '1' }),
  'custom_field.deleted': async (sandbox) => {
    const made = await sandbox.client.customFields.create({ ...onCustomer(sandbox), value: '1' });
    await sandbox.client.customFields.del(made.id);
  },
  'entitlement.granted': (sandbox) => sandbox.grant(1),
  'entitlement.exhausted': async (sandbox) => {
    await sandbox.grant(1);
    await sandbox.use(1);
  },
};
