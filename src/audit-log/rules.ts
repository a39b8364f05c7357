// What is written to the audit log: the one table.
//
// Who reads it: the edge, once for each route.
// Holds: an operation that is not listed here is logged, whoever calls it. Reads are told by their
// names (`getMeter`, `previewTrialEnd`); a test compares them with the methods of all routes.
// Does not: log what an application does for its customers all day with a key (ROUTINE). It changes
// neither what is sold, nor who may come in, nor where money goes; the events tell of it, and a row
// for each would bury the others. A user who does the same is logged.

const READ = /^(?:get|list|download|preview|print|stream)[A-Z]/;

const ROUTINE: ReadonlySet<string> = new Set([
  'checkEntitlement',
  'checkEntitlements',
  'trackUsage',
  'trackUsages',
  'ingestEvents',
  'createCustomer',
  'putCustomer',
  'updateCustomer',
  'createCheckout',
  'expireCheckout',
  'createPortalToken',
  'createTag',
  'deleteTag',
  'createCustomField',
  'deleteCustomField',
]);

export type Rule = {
  /** What it acts on. */
  readonly object: string;
  /**
   * Whose id it is: of the answer, or of the path where that names something else. `whole_path`: all
   * that the path names, for what has no id of its own.
   */
  readonly idOf: 'answer' | 'path' | 'whole_path' | 'customer';
  /** The operation that reads the same object, with the same parameters. */
  readonly before: string | null;
  /** Whether it concerns test and live mode alike. */
  readonly isOfBothModes: boolean;
  /** Whether calls with a key are logged, too. */
  readonly isForKeys: boolean;
};

export type PortalRule = Rule & {
  /** What it acts on: the customer itself, what the path names of it, or a subscription that the body names. */
  readonly names: 'customer' | 'feature' | 'subscription';
  /** What the row calls it. */
  readonly as: string;
};

type Exception = Partial<Pick<Rule, 'object' | 'idOf' | 'before' | 'isOfBothModes'>>;

const SUBSCRIPTION = { before: 'getSubscription', object: 'subscription' } as const;
const INVOICE = { before: 'getInvoice' } as const;
const PRODUCT = { before: 'getProduct' } as const;
const ENDPOINT = { before: 'getWebhookEndpoint', object: 'webhook_endpoint' } as const;
const PARTNER_ENDPOINT = {
  before: 'getPartnerWebhookEndpoint',
  object: 'webhook_endpoint',
} as const;
const USAGE = { object: 'customer', idOf: 'customer' } as const;

/** What does not follow from the name. */
const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  putMeter: { before: 'getMeter' },
  updateMeter: { before: 'getMeter' },
  deleteMeter: { before: 'getMeter' },
  updateCustomer: { before: 'getCustomer' },
  putSpendCap: { before: 'getSpendCap', idOf: 'path' },
  deleteSpendCap: { before: 'getSpendCap', idOf: 'path' },
  deleteAlert: { before: 'getAlert' },
  putAutoTopup: { before: 'getAutoTopup', idOf: 'whole_path' },
  deleteAutoTopup: { before: 'getAutoTopup', idOf: 'whole_path' },
  checkEntitlement: USAGE,
  checkEntitlements: { object: 'usage' },
  trackUsage: USAGE,
  trackUsages: { object: 'usage' },
  ingestEvents: { object: 'usage' },
  updateProduct: PRODUCT,
  archiveProduct: PRODUCT,
  publishProduct: PRODUCT,
  attachFeature: { object: 'entitlement' },
  detachFeature: { object: 'entitlement' },
  expireCheckout: { before: 'getCheckout' },
  refundPayment: { idOf: 'path' },
  changeSubscription: SUBSCRIPTION,
  cancelSubscription: SUBSCRIPTION,
  uncancelSubscription: SUBSCRIPTION,
  pauseSubscription: SUBSCRIPTION,
  resumeSubscription: SUBSCRIPTION,
  endTrial: SUBSCRIPTION,
  finalizeInvoice: INVOICE,
  payInvoice: INVOICE,
  voidInvoice: INVOICE,
  updateWebhookEndpoint: ENDPOINT,
  deleteWebhookEndpoint: ENDPOINT,
  rotateWebhookEndpointSecret: { object: 'webhook_endpoint', idOf: 'path' },
  sendSampleEvent: { object: 'webhook_endpoint', idOf: 'path' },
  replayEvents: { object: 'webhook_endpoint', idOf: 'path' },
  retryDelivery: { before: 'getDelivery' },
  createPartnerWebhookEndpoint: { object: 'webhook_endpoint' },
  updatePartnerWebhookEndpoint: PARTNER_ENDPOINT,
  deletePartnerWebhookEndpoint: PARTNER_ENDPOINT,
  rotatePartnerWebhookEndpointSecret: { object: 'webhook_endpoint', idOf: 'path' },
  updateOrganization: { before: 'getOrganization', isOfBothModes: true },
  putLogo: { before: 'getLogo' },
  deleteLogo: { before: 'getLogo' },
  connectProcessor: { before: 'getProcessor' },
  disconnectProcessor: { before: 'getProcessor' },
  rotateApiKey: { idOf: 'path' },
  updateMember: { before: 'getMember', isOfBothModes: true },
  removeMember: { before: 'getMember', isOfBothModes: true },
  createInvitation: { isOfBothModes: true },
  revokeInvitation: { isOfBothModes: true },
  updateSecurity: { before: 'getSecurity', isOfBothModes: true },
  moveTestClock: { before: 'getTestClock' },
};

/** The reads that `before` names. */
export const READS_BEFORE: ReadonlySet<string> = new Set(
  Object.values(EXCEPTIONS).flatMap(({ before }) => before ?? []),
);

/** null for a read, which is not logged. */
export function ruleOf(operationId: string): Rule | null {
  if (READ.test(operationId)) return null;
  const { object, idOf, before, isOfBothModes }: Exception = EXCEPTIONS[operationId] ?? {};
  return {
    object: object ?? objectOf(operationId),
    idOf: idOf ?? 'answer',
    before: before ?? null,
    isOfBothModes: isOfBothModes === true,
    isForKeys: !ROUTINE.has(operationId),
  };
}

/** What customers do in the portal. Two lead to a saved method: the form, and the way back from a bank. */
const IN_PORTAL = /InPortal$/;
const SAVES_METHOD: ReadonlySet<string> = new Set([
  'replacePaymentMethod',
  'showPaymentMethodForm',
]);

/** The same, of a page or a form of the portal. */
export function portalRuleOf(operationId: string): PortalRule | null {
  if (READ.test(operationId)) return null;
  if (SAVES_METHOD.has(operationId)) {
    const rule = { object: 'customer', idOf: 'path', before: null } as const;
    return { ...SAME, ...rule, names: 'customer', as: 'replacePaymentMethod' };
  }
  if (operationId === 'switchAutoTopupInPortal') {
    const rule = { object: 'auto_topup', idOf: 'whole_path', before: 'getAutoTopup' } as const;
    return { ...SAME, ...rule, names: 'feature', as: operationId };
  }
  if (!IN_PORTAL.test(operationId)) return null;
  return { ...SAME, ...SUBSCRIPTION, idOf: 'path', names: 'subscription', as: operationId };
}

const SAME = { isOfBothModes: false, isForKeys: true } as const;

/** `archiveUsagePrice`: usage_price. */
function objectOf(operationId: string): string {
  return operationId
    .replace(/^[a-z]+(?=[A-Z])/, '')
    .replaceAll(/[A-Z]/g, (letter, at: number) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
}
