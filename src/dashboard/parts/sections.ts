// The sections of the dashboard, in the order of its navigation.
import type { OperationId } from '../../client/operations.ts';

type Section = {
  readonly label: string;
  /** Below the place's base. */
  readonly path: string;
  /** Who may not call one of these does not see it. */
  readonly needs: readonly OperationId[];
  readonly isTestOnly?: true;
};

const TABLE = {
  home: { label: 'Home', path: '', needs: ['getOrganization'] },
  customers: { label: 'Customers', path: '/customers', needs: ['listCustomers'] },
  why: { label: 'Why', path: '/why', needs: ['listDecisions'] },
  products: { label: 'Catalogue', path: '/products', needs: ['listProducts'] },
  checkouts: { label: 'Checkouts', path: '/checkouts', needs: ['listCheckouts'] },
  payments: { label: 'Payments', path: '/payments', needs: ['listPayments'] },
  subscriptions: { label: 'Subscriptions', path: '/subscriptions', needs: ['listSubscriptions'] },
  invoices: { label: 'Invoices', path: '/invoices', needs: ['listInvoices'] },
  events: { label: 'Events', path: '/events', needs: ['listEvents'] },
  webhooks: { label: 'Webhooks', path: '/webhooks', needs: ['listWebhookEndpoints'] },
  keys: { label: 'API keys', path: '/keys', needs: ['listApiKeys'] },
  auditLog: { label: 'Audit log', path: '/audit-log', needs: ['listAuditLog'] },
  settings: { label: 'Settings', path: '/settings', needs: ['getOrganization'] },
  testClock: {
    label: 'Test clock',
    path: '/test-clock',
    needs: ['getTestClock'],
    isTestOnly: true,
  },
} as const satisfies Readonly<Record<string, Section>>;

export type SectionName = keyof typeof TABLE;

export const SECTIONS: Readonly<Record<SectionName, Section>> = TABLE;
